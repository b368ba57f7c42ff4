"""What kind of message came, and what is wrong with those that are none."""

from __future__ import annotations

from typing import Any

import pytest

from claude_actors.mcp import jsonrpc

REQUEST = {"jsonrpc": "2.0", "id": "c7a2:0", "method": "ping"}


@pytest.mark.parametrize("message_id", ["c7a2:0", "", 0, -1, 2**60])
def test_a_request_keeps_its_id_as_it_came(message_id: str | int) -> None:
    assert jsonrpc.classify({**REQUEST, "id": message_id}) == jsonrpc.Request(message_id, "ping", {})


@pytest.mark.parametrize("message_id", [None, True, 1.5, [], {}])
def test_an_id_that_is_neither_string_nor_integer_is_refused_and_sent_back(message_id: object) -> None:
    found = jsonrpc.classify({**REQUEST, "id": message_id})
    assert isinstance(found, jsonrpc.Invalid)
    assert found.reply["error"]["code"] == jsonrpc.INVALID_REQUEST
    assert found.reply["id"] == message_id


def test_a_message_without_id_is_a_notification() -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert jsonrpc.classify(message) == jsonrpc.Notification("notifications/initialized", {})


@pytest.mark.parametrize("body", [{"result": {}}, {"error": {"code": 1, "message": "m"}}])
def test_a_reply_of_the_peer_is_a_response(body: dict[str, Any]) -> None:
    message = {"jsonrpc": "2.0", "id": 1, **body}
    assert jsonrpc.classify(message) == jsonrpc.Response(message)


@pytest.mark.parametrize(
    ("message", "code", "said"),
    [
        ([REQUEST], jsonrpc.INVALID_REQUEST, "batches"),
        ("ping", jsonrpc.INVALID_REQUEST, "object"),
        (None, jsonrpc.INVALID_REQUEST, "object"),
        ({"id": 1, "method": "ping"}, jsonrpc.INVALID_REQUEST, '"jsonrpc": "2.0"'),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, jsonrpc.INVALID_REQUEST, '"jsonrpc": "2.0"'),
        ({"jsonrpc": "2.0", "id": 1}, jsonrpc.INVALID_REQUEST, "method"),
        ({"jsonrpc": "2.0", "id": 1, "method": 3}, jsonrpc.INVALID_REQUEST, "method"),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, jsonrpc.INVALID_PARAMS, "params"),
    ],
)
def test_what_is_no_json_rpc_is_refused_in_words(message: object, code: int, said: str) -> None:
    found = jsonrpc.classify(message)
    assert isinstance(found, jsonrpc.Invalid)
    assert found.reply["error"]["code"] == code
    assert said in found.reply["error"]["message"]
