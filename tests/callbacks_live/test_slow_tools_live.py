"""Tools that take too long, or are not wanted any more, in a live session: told, bounded, never in the way."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from support.leaks import wait_until
from support.live_session import DEADLINE, live

from claude_actors import (
    Allow,
    CallbackCancelled,
    CallbackContext,
    CallbackRefused,
    CallbackTimedOut,
    ToolServer,
)
from claude_actors.mcp.jsonrpc import INTERNAL_ERROR
from claude_actors.testing import AwaitAnswers, CallMcp, CancelRequest, UseTool, WaitFor, reply, script

PERMIT: dict[str, Any] = {"can_use_tool": lambda request, ctx: Allow()}


def call(tool: str, arguments: dict[str, Any], label: str = "call", **more: Any) -> CallMcp:
    return CallMcp("shop", "tools/call", {"name": tool, "arguments": arguments}, label=label, **more)


class Slow:
    """A server whose tools wait until they are told that nobody wants them."""

    def __init__(self) -> None:
        self.started, self.ended = threading.Event(), threading.Event()
        self.server = ToolServer("shop")
        self.server.tool(self.think)
        self.server.tool(self.ponder)

    def think(self, ctx: CallbackContext) -> str:
        self.started.set()
        ctx.wait_cancelled(DEADLINE)
        self.ended.set()
        return "too late"

    async def ponder(self) -> str:
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        return "never"


@pytest.mark.parametrize("tool", ["think", "ponder"])
def test_an_interrupt_cancels_the_running_tool(tool: str) -> None:
    slow = Slow()
    use = reply(UseTool(f"mcp__shop__{tool}", {}))
    with live(script(use, "never said", "later"), mcp_servers={"shop": slow.server}, **PERMIT) as stage:
        turn = stage.session.send("go")
        assert slow.started.wait(DEADLINE)
        stage.session.interrupt()
        assert slow.ended.wait(DEADLINE)
        assert turn.result(DEADLINE).is_error
        assert stage.next_event(CallbackCancelled).kind == "mcp"


@pytest.mark.parametrize("tool", ["think", "ponder"])
def test_a_cancelled_request_is_told_to_the_tool_and_gets_no_answer(tool: str) -> None:
    slow = Slow()
    steps = (call(tool, {}, "gone", wait=False), WaitFor("called"), CancelRequest("gone"))
    with live(script(reply(*steps, "done")), mcp_servers={"shop": slow.server}) as stage:
        turn = stage.session.send("go")
        assert slow.started.wait(DEADLINE)
        stage.fake.gates.open("called")
        assert slow.ended.wait(DEADLINE)
        turn.result(DEADLINE)
        assert stage.responses("gone") == []


@pytest.mark.parametrize("tool", ["think", "ponder"])
def test_a_tool_that_overruns_fails_alone_and_is_cancelled(tool: str) -> None:
    slow = Slow()
    with live(
        script(reply(call(tool, {}, "slow"), "done")), mcp_servers={"shop": slow.server}, mcp_timeout=0.05
    ) as stage:
        assert stage.ask().result == "done"
        assert stage.answer("slow")["mcp_response"]["error"]["code"] == INTERNAL_ERROR
        assert stage.next_event(CallbackTimedOut).kind == "mcp"
    # On a slow machine the time may be over before a coroutine has begun.
    assert wait_until(lambda: slow.started.is_set() == slow.ended.is_set())


def test_tools_count_among_the_pending_callbacks_and_are_refused_beyond_their_limit() -> None:
    slow = Slow()
    calls = [call("ponder", {}, str(number), wait=False) for number in range(3)]
    waits = (AwaitAnswers("2"), WaitFor("end"))
    options: dict[str, Any] = {"mcp_servers": {"shop": slow.server}, "max_pending_callbacks": 2}
    with live(script(reply(*calls, *waits, "done")), **options) as stage:
        stage.session.send("go")
        stage.fake.gates.wait_reached("end")
        assert stage.next_event(CallbackRefused).kind == "mcp"
        assert stage.answer("2")["mcp_response"]["error"]["code"] == INTERNAL_ERROR
        assert stage.responses("0") == stage.responses("1") == []
        stage.fake.gates.open("end")
    assert wait_until(lambda: slow.started.is_set() == slow.ended.is_set())


def test_the_end_of_the_session_cancels_running_tools() -> None:
    slow = Slow()
    with live(script(reply(UseTool("mcp__shop__ponder", {}))), mcp_servers={"shop": slow.server}, **PERMIT) as stage:
        stage.session.send("go")
        assert slow.started.wait(DEADLINE)
    assert slow.ended.wait(DEADLINE)
