"""Which host a server gets, raw handlers, and the exact answers on the wire."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from support.mcp_peer import Peer

from claude_actors.callbacks.context import CallbackContext
from claude_actors.errors import InvalidOptions
from claude_actors.mcp.host import (
    McpHost,
    Outcome,
    RawHost,
    host_for,
    is_in_process,
    mcp_answer,
    mcp_fallback,
    tool_use_id_of,
)
from claude_actors.mcp.server import ToolServer
from claude_actors.mcp.tool_host import ToolServerHost

REQUEST = {"jsonrpc": "2.0", "id": "c:1", "method": "anything", "params": {"odd": [1, None]}}
NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/initialized"}
REPLY = {"jsonrpc": "2.0", "id": "c:1", "result": {"more": {"than": "we know"}}}


def test_a_raw_handler_gets_the_message_and_gives_the_reply_untouched(peer_of: Callable[[object], Peer]) -> None:
    seen: list[dict[str, Any]] = []

    def handler(message: dict[str, Any]) -> dict[str, Any]:
        seen.append(message)
        return REPLY

    peer = peer_of(handler)
    assert peer.send(REQUEST) is REPLY
    assert seen[0] is REQUEST
    assert not peer.host.is_async(REQUEST)


def test_an_async_raw_handler_belongs_on_the_event_loop(peer_of: Callable[[object], Peer]) -> None:
    async def handler(message: dict[str, Any]) -> dict[str, Any] | None:
        return REPLY if "id" in message else None

    peer = peer_of(handler)
    assert peer.host.is_async(REQUEST)
    assert peer.send(REQUEST) is REPLY
    assert peer.send(NOTIFICATION) is None


def test_an_object_with_an_async_call_is_an_async_handler() -> None:
    class Handler:
        async def __call__(self, message: dict[str, Any]) -> None: ...

    assert host_for("s", Handler()).is_async(REQUEST)


def test_the_exception_of_a_raw_handler_goes_to_whoever_runs_it() -> None:
    def handler(message: dict[str, Any]) -> dict[str, Any]:
        raise LookupError("mine")

    host = host_for("s", handler)
    with pytest.raises(LookupError, match="mine"):
        host.handle(REQUEST, CallbackContext())
    host.cancelled("control-1")
    assert host.close() is None


class OwnHost:
    def handle(self, message: dict[str, Any], ctx: CallbackContext) -> Outcome:
        return REPLY

    def is_async(self, message: dict[str, Any]) -> bool:
        return False

    def cancelled(self, request_id: str) -> None: ...
    def close(self) -> None: ...


def test_every_kind_of_server_gets_its_host() -> None:
    own: McpHost = OwnHost()
    assert host_for("s", own) is own
    assert isinstance(host_for("s", ToolServer("s")), ToolServerHost)
    assert isinstance(host_for("s", lambda message: None), RawHost)
    assert isinstance(host_for("s", {"type": "sdk", "name": "s", "instance": ToolServer("s")}), ToolServerHost)


@pytest.mark.parametrize("server", [3, "npx server", None, {"command": "npx"}, ToolServer, OwnHost, object()])
def test_what_is_no_server_is_refused_by_name(server: object) -> None:
    with pytest.raises(InvalidOptions, match=r"mcp_servers\['mine'\]"):
        host_for("mine", server)


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (ToolServer("s"), True),
        (lambda message: None, True),
        ({"type": "sdk", "instance": ToolServer("s")}, True),
        ({"command": "npx"}, False),
        ({"type": "http", "url": "http://127.0.0.1"}, False),
    ],
)
def test_configurations_are_told_from_servers_in_this_process(server: object, expected: bool) -> None:
    assert is_in_process(server) is expected


def test_a_reply_is_wrapped() -> None:
    assert mcp_answer(REQUEST, REPLY) == {"mcp_response": REPLY}


@pytest.mark.parametrize("message", [NOTIFICATION, {"jsonrpc": "2.0", "id": 1, "result": {}}])
def test_what_needs_no_reply_is_answered_with_an_empty_result(message: dict[str, Any]) -> None:
    assert mcp_answer(message, None) == {"mcp_response": {"jsonrpc": "2.0", "result": {}}}


@pytest.mark.parametrize(("reply", "said"), [(None, "no reply"), ("text", "no object"), ([], "no object")])
def test_a_request_without_a_usable_reply_fails_instead_of_hanging(reply: object, said: str) -> None:
    error = mcp_answer(REQUEST, reply)["mcp_response"]["error"]
    assert error["code"] == -32603
    assert said in error["message"]


@pytest.mark.parametrize(
    ("message", "message_id"), [(REQUEST, "c:1"), ({"id": 7}, 7), (NOTIFICATION, None), ("junk", None), (None, None)]
)
def test_the_fallback_is_an_internal_error_with_the_id_as_it_came(message: object, message_id: object) -> None:
    assert mcp_fallback(message, "timed out") == {
        "mcp_response": {"jsonrpc": "2.0", "id": message_id, "error": {"code": -32603, "message": "timed out"}}
    }


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"params": {"_meta": {"claudecode/toolUseId": "toolu_1"}}}, "toolu_1"),
        ({"params": {"_meta": {"claudecode/toolUseId": 3}}}, None),
        ({"params": {"_meta": None}}, None),
        ({"params": None}, None),
        ([], None),
    ],
)
def test_the_tool_use_of_a_call_is_found(message: object, expected: str | None) -> None:
    assert tool_use_id_of(message) == expected


def test_the_mcp_package_is_imported_only_for_its_own_servers() -> None:
    code = (
        "import sys; from claude_actors.mcp.host import host_for; from claude_actors.mcp.server import ToolServer;"
        "host_for('s', ToolServer('s')); host_for('s', print);"
        "assert not {'mcp', 'anyio', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
