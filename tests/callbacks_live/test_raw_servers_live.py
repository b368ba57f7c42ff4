"""A raw handler as an MCP server in a live session: messages and replies pass through untouched."""

from __future__ import annotations

import threading
from typing import Any

from support.leaks import wait_until
from support.live_session import live

from claude_actors import (
    Allow,
)
from claude_actors.mcp.jsonrpc import INTERNAL_ERROR
from claude_actors.testing import CallMcp, UseTool, reply, script

PERMIT: dict[str, Any] = {"can_use_tool": lambda request, ctx: Allow()}


class Raw:
    """A server as a plain function, which sees every message as it came."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def __call__(self, message: dict[str, Any]) -> dict[str, Any] | None:
        self.messages.append(message)
        results: dict[str, Any] = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "raw"}},
            "tools/list": {"tools": [{"name": "x", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "raw answer"}], "brand_new": 1},
        }
        if "id" not in message:
            return None
        return {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]], "beside": [1]}


def test_a_raw_handler_gets_messages_and_gives_replies_untouched() -> None:
    raw = Raw()
    step = CallMcp("raw", "tools/call", {"name": "x", "deep": {"a": [None]}}, label="call")
    use = reply(step, UseTool("mcp__raw__x", {"b": 1}))
    with live(script(use, "done"), mcp_servers={"raw": raw}, **PERMIT) as stage:
        assert stage.ask().result == "done"
        assert stage.told()[1] == "raw answer"
        answer = stage.answer("call")["mcp_response"]
    assert [message["method"] for message in raw.messages[:3]] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
    ]
    called = next(message for message in raw.messages if message.get("params", {}).get("deep"))
    assert called["params"] == {"name": "x", "deep": {"a": [None]}}
    assert (answer["id"], answer["beside"], answer["result"]["brand_new"]) == (called["id"], [1], 1)


def test_an_async_raw_handler_runs_on_the_loop() -> None:
    raw, threads = Raw(), []

    async def handler(message: dict[str, Any]) -> dict[str, Any] | None:
        threads.append(threading.current_thread().name)
        return raw(message)

    with live(script(reply(UseTool("mcp__raw__x", {})), "done"), mcp_servers={"raw": handler}, **PERMIT) as stage:
        stage.ask()
        assert stage.told()[1] == "raw answer"
    assert set(threads) == {"claude-actors-loop"}


def test_a_raw_handler_that_raises_or_says_nothing_fails_that_message_alone() -> None:
    raw = Raw()

    def handler(message: dict[str, Any]) -> dict[str, Any] | None:
        if message["method"] == "raise":
            raise LookupError("lost")
        return None if message["method"] == "silence" else raw(message)

    steps = (CallMcp("raw", "raise", label="raised"), CallMcp("raw", "silence", label="silent"))
    with live(script(reply(*steps, "done")), mcp_servers={"raw": handler}) as stage:
        assert stage.ask().result == "done"
        for label in ("raised", "silent"):
            assert stage.answer(label)["mcp_response"]["error"]["code"] == INTERNAL_ERROR
        assert wait_until(lambda: stage.session.snapshot().counters.callbacks_crashed == 1)
