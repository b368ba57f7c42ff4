"""Which reply a request gets, what is recorded of it, and how the server ends."""

from __future__ import annotations

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from claude_actors.testing.messages_api import MessagesAPI
from claude_actors.testing.script import WaitFor, reply, script


def said(answer: Any) -> str:
    return "".join(event["delta"].get("text", "") for event in answer.events if event["type"] == "content_block_delta")


def test_replies_are_used_in_order(client_of: Any) -> None:
    with MessagesAPI(script("one", "two")) as api:
        assert [said(client_of(api).ask()) for _ in range(2)] == ["one", "two"]


def test_a_reply_with_a_condition_waits_for_its_request(client_of: Any) -> None:
    with MessagesAPI(script(reply("sunny", when="weather", times=None), "something else")) as api:
        client = client_of(api)
        texts = ["hello", "the weather?", "weather again?"]
        assert [said(client.ask(text)) for text in texts] == ["something else", "sunny", "sunny"]


def test_reminders_beside_the_prompt_do_not_match_a_condition(client_of: Any) -> None:
    content = [
        {"type": "text", "text": "<system-reminder>weather</system-reminder>"},
        {"type": "text", "text": "hello"},
    ]
    messages = [{"role": "user", "content": content}, {"role": "system", "content": "weather"}]
    with MessagesAPI(script(reply("sunny", when="weather"), "plain")) as api:
        assert said(client_of(api).ask(messages=messages)) == "plain"
        assert api.requests[0].last_user_text == "hello"


def test_a_request_beyond_the_script_is_refused_and_recorded(client_of: Any) -> None:
    with MessagesAPI(script("one")) as api:
        client_of(api).ask()
        answer = client_of(api).ask("more")
        assert answer.status == 400
        assert "no reply left" in answer.json["error"]["message"]
        assert [request.last_user_text for request in api.unscripted_requests] == ["more"]
        assert len(api.requests) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"max_tokens": 1, "stream": False, "tools": []},
        {"tools": [], "output_config": {"format": {"type": "json_schema"}}},
    ],
)
def test_the_calls_that_the_cli_makes_for_itself_use_up_no_reply(client_of: Any, fields: dict[str, Any]) -> None:
    with MessagesAPI(script("one")) as api:
        assert client_of(api).ask(**fields).status == 200
        assert said(client_of(api).ask()) == "one"
        assert [request.kind for request in (*api.side_requests, *api.requests)] == ["side", "scripted"]


def test_a_recorded_request_shows_tools_and_tool_results(client_of: Any) -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "out", "is_error": False}
    with MessagesAPI(script("one")) as api:
        client_of(api).ask(messages=[{"role": "user", "content": [result]}])
        request = api.wait_for_request()
    assert request.tool_names == ("Bash",)
    assert request.tool_result("t1") == result
    assert request.tool_result("t2") is None
    assert request.last_user_text == "out"


def test_waiting_for_a_request_that_never_comes_times_out() -> None:
    with MessagesAPI(script("one")) as api, pytest.raises(TimeoutError, match="0 of 1"):
        api.wait_for_request(timeout=0.01)


def test_a_gate_that_nobody_reaches_times_out() -> None:
    with MessagesAPI(script("one")) as api, pytest.raises(TimeoutError, match="nobody"):
        api.gates.wait_reached("gate", timeout=0.01)


def test_the_small_paths_are_answered(client_of: Any) -> None:
    with MessagesAPI(script()) as api:
        client = client_of(api)
        assert client.request("HEAD", "/api/hello").status == 200
        assert client.request("GET", "/anything").json == {}
        assert client.request("POST", "/v1/messages/count_tokens?beta=true", {}).json["input_tokens"] >= 1
        assert client.request("POST", "/v1/nothing", {}).status == 404
        assert client.request("POST", "/v1/messages", b"{").status == 400
        assert api.requests == ()


def test_one_connection_serves_several_requests(client_of: Any) -> None:
    body = json.dumps({"stream": True, "messages": []})
    with MessagesAPI(script("one", "two")) as api, client_of(api).connect() as connection:
        for word in (b"one", b"two"):
            connection.request("POST", "/v1/messages", body)
            assert word in connection.getresponse().read()


def test_many_clients_at_once_get_each_reply_exactly_once(client_of: Any) -> None:
    words = [f"reply {number}" for number in range(40)]
    with MessagesAPI(script(*words)) as api, ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: said(client_of(api).ask()), words))
    assert sorted(answers) == sorted(words)


def test_the_address_is_known_only_while_it_serves() -> None:
    with pytest.raises(RuntimeError, match="with block"):
        _ = MessagesAPI(script()).url


def test_the_end_frees_the_port_and_every_thread_even_with_connections_open() -> None:
    before = set(threading.enumerate())
    with MessagesAPI(script(WaitFor("never"))) as api:
        address = ("127.0.0.1", urlsplit(api.url).port)
        idle, waiting = socket.create_connection(address, 30), socket.create_connection(address, 30)
        waiting.sendall(b"POST /v1/messages HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}")
        api.gates.wait_reached("never")
    with idle, waiting:
        assert set(threading.enumerate()) == before
        assert idle.recv(1) == b""
        assert waiting.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, 30)
