"""What a script's replies become on the wire of the Messages API."""

from __future__ import annotations

import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from claude_actors.testing.faults import AnswerControl, Die, Flood
from claude_actors.testing.messages_api import MessagesAPI
from claude_actors.testing.script import (
    ApiError,
    BrokenStream,
    RawBlock,
    Say,
    Script,
    Think,
    UseTool,
    WaitFor,
    reply,
    script,
)


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def test_a_streamed_reply_carries_its_blocks_in_order_between_start_and_stop(client_of: Any) -> None:
    steps = reply(Think("hm", signature="sig"), Say("hello", chunks=2), UseTool("Bash", {"command": "ls"}, id="t1"))
    with MessagesAPI(script(steps)) as api:
        events = client_of(api).ask().events
    starts = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert kinds(events)[0] == "message_start"
    assert kinds(events)[-2:] == ["message_delta", "message_stop"]
    assert [start["type"] for start in starts] == ["thinking", "text", "tool_use"]
    assert deltas[:2] == [{"type": "thinking_delta", "thinking": "hm"}, {"type": "signature_delta", "signature": "sig"}]
    assert [delta["text"] for delta in deltas[2:4]] == ["hel", "lo"]
    assert json.loads(deltas[4]["partial_json"]) == {"command": "ls"}
    assert events[-2]["delta"]["stop_reason"] == "tool_use"


def test_every_block_is_opened_filled_and_closed_under_its_own_index(client_of: Any) -> None:
    with MessagesAPI(script(reply("one", "two"))) as api:
        events = client_of(api).ask().events
    indexes = [(event["type"], event["index"]) for event in events if "index" in event]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert indexes == [(kind, index) for index in (0, 1) for kind in block]


def test_a_reply_that_is_not_streamed_is_one_whole_message(client_of: Any) -> None:
    with MessagesAPI(script(reply("hello", UseTool("Bash"), output_tokens=7))) as api:
        message = client_of(api).ask(stream=False).json
    assert [block["type"] for block in message["content"]] == ["text", "tool_use"]
    assert message["model"] == "a-model"
    assert message["stop_reason"] == "tool_use"
    assert message["usage"]["output_tokens"] == 7


def test_tools_without_an_id_get_different_ones(client_of: Any) -> None:
    with MessagesAPI(script(reply(UseTool("Bash"), UseTool("Bash")))) as api:
        content = client_of(api).ask(stream=False).json["content"]
    assert content[0]["id"] != content[1]["id"]


def test_a_raw_block_comes_as_it_is(client_of: Any) -> None:
    block = {"type": "redacted_thinking", "data": "abc"}
    with MessagesAPI(script(reply(RawBlock(block)))) as api:
        events = client_of(api).ask().events
    assert events[1]["content_block"] == block
    assert kinds(events)[2] == "content_block_stop"


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "authentication_error"), (429, "rate_limit_error"), (500, "api_error"), (529, "overloaded_error")],
)
def test_an_api_error_has_the_status_and_the_body_of_the_real_one(client_of: Any, status: int, kind: str) -> None:
    with MessagesAPI(script(ApiError(status, message="no", retry_after=1.5))) as api:
        answer = client_of(api).ask()
    assert answer.status == status
    assert answer.headers["retry-after"] == "1.5"
    assert answer.json == {"type": "error", "error": {"type": kind, "message": "no"}}


def test_a_broken_stream_ends_in_the_middle_of_the_body(client_of: Any) -> None:
    with MessagesAPI(script(reply("half", BrokenStream()))) as api, pytest.raises(http.client.IncompleteRead) as caught:
        client_of(api).ask()
    assert b"half" in caught.value.partial
    assert b"message_stop" not in caught.value.partial


def test_a_stream_stands_still_at_a_gate_until_it_is_opened(client_of: Any) -> None:
    with MessagesAPI(script(Say("hello", chunks=2, wait_for="gate"))) as api, client_of(api).connect() as connection:
        connection.request("POST", "/v1/messages", json.dumps({"stream": True, "messages": []}))
        answer = connection.getresponse()
        api.gates.wait_reached("gate")
        before = b"".join(iter(answer.readline, b"event: content_block_delta\n"))
        assert b"message_start" in before
        assert b"hel" in answer.readline()
        api.open("gate")
        assert b"lo" in answer.read()


def test_a_gate_may_stand_before_an_error(client_of: Any) -> None:
    with MessagesAPI(script(reply(WaitFor("gate"), ApiError(500)))) as api, ThreadPoolExecutor() as pool:
        asked = pool.submit(client_of(api).ask)
        api.gates.wait_reached("gate")
        assert not asked.done()
        api.open("gate")
        assert asked.result(timeout=30).status == 500


def test_headers_for_all_answers_are_sent_with_streams_and_errors(client_of: Any) -> None:
    with MessagesAPI(script("one", ApiError(429)), headers={"anthropic-limit": "x"}) as api:
        answers = [client_of(api).ask(), client_of(api).ask()]
    assert [answer.headers["anthropic-limit"] for answer in answers] == ["x", "x"]


@pytest.mark.parametrize(
    "given",
    [
        script(reply(Flood(1))),
        script(reply("a", after_turn=(Die(),))),
        script("a", on_eof=(Die(),)),
        script("a", controls=(AnswerControl("interrupt", how="never"),)),
        script(reply("a", ApiError(500))),
    ],
)
def test_a_script_that_the_api_cannot_play_is_refused(given: Script) -> None:
    with pytest.raises(ValueError, match=r"fake CLI only|before every block"):
        MessagesAPI(given)
