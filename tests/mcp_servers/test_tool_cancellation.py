"""A cancelled call: a coroutine really ends, a thread is told, and the request is ended without its result."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from typing import Any

import pytest
from support.mcp_peer import Loop, Peer

from claude_actors.callbacks.context import CallbackContext
from claude_actors.mcp.host import host_for, settled
from claude_actors.mcp.jsonrpc import REQUEST_CANCELLED
from claude_actors.mcp.server import ToolServer

CALL = {"jsonrpc": "2.0", "id": "c:1", "method": "tools/call", "params": {"name": "tool"}}


class Stuck:
    """An async and a sync tool that never end by themselves."""

    def __init__(self, server: ToolServer) -> None:
        self.started, self.ended = threading.Event(), threading.Event()
        self.server = server

    def register_async(self) -> None:
        async def tool() -> str:
            self.started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.ended.set()
                raise
            return "unreachable"

        self.server.tool(tool)

    def register_sync(self) -> None:
        def tool(ctx: CallbackContext) -> str:
            self.started.set()
            assert ctx.wait_cancelled(30)
            self.ended.set()
            return f"too late: {ctx.cancel_reason}"

        self.server.tool(tool)


@pytest.fixture
def stuck(server: ToolServer) -> Stuck:
    return Stuck(server)


def in_thread(peer: Peer, ctx: CallbackContext) -> concurrent.futures.Future[Any]:
    """Run a sync call in a thread, as a task does."""
    done: concurrent.futures.Future[Any] = concurrent.futures.Future()
    threading.Thread(target=lambda: done.set_result(peer.host.handle(CALL, ctx))).start()
    return done


def cancel_by_notification(peer: Peer, ctx: CallbackContext) -> None:
    peer.notify("notifications/cancelled", {"requestId": "c:1", "reason": "interrupted"})


def cancel_by_control_request(peer: Peer, ctx: CallbackContext) -> None:
    peer.host.cancelled(ctx.request_id)


def cancel_by_closing(peer: Peer, ctx: CallbackContext) -> None:
    peer.host.close()


WAYS = [cancel_by_notification, cancel_by_control_request, cancel_by_closing]


@pytest.mark.parametrize("cancel", WAYS)
def test_a_cancelled_coroutine_is_ended(async_peer: Peer, stuck: Stuck, cancel: Any) -> None:
    stuck.register_async()
    ctx = CallbackContext(request_id="control-9")
    reply = async_peer.start(CALL, ctx)
    assert stuck.started.wait(30)
    cancel(async_peer, ctx)
    assert reply.result(30) == {
        "jsonrpc": "2.0", "id": "c:1", "error": {"code": REQUEST_CANCELLED, "message": "Request cancelled"}
    }  # fmt: skip
    assert stuck.ended.is_set()
    assert ctx.cancelled


@pytest.mark.parametrize("cancel", WAYS)
def test_a_cancelled_thread_is_told_and_its_result_is_not_sent(peer: Peer, stuck: Stuck, cancel: Any) -> None:
    stuck.register_sync()
    ctx = CallbackContext(request_id="control-9")
    reply = in_thread(peer, ctx)
    assert stuck.started.wait(30)
    cancel(peer, ctx)
    assert reply.result(30)["error"]["code"] == REQUEST_CANCELLED
    assert stuck.ended.is_set()


def test_the_runner_that_gives_up_on_a_coroutine_ends_the_tool(async_peer: Peer, stuck: Stuck) -> None:
    stuck.register_async()
    reply = async_peer.start(CALL)
    assert stuck.started.wait(30)
    reply.cancel()
    assert stuck.ended.wait(30)


def test_a_call_cancelled_before_it_began_on_the_loop_never_runs(
    server: ToolServer, async_peer: Peer, loop: Loop
) -> None:
    ran: list[str] = []

    @server.tool
    async def tool() -> None:
        ran.append("ran")

    outcome = async_peer.host.handle(CALL, CallbackContext())
    cancel_by_notification(async_peer, CallbackContext())
    reply = loop.run(settled(outcome))
    assert reply["error"]["code"] == REQUEST_CANCELLED
    assert ran == []


def test_a_tool_that_insists_may_finish_but_its_result_is_not_sent(server: ToolServer, async_peer: Peer) -> None:
    started = threading.Event()

    @server.tool
    async def tool() -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "I insist"
        return "unreachable"

    reply = async_peer.start(CALL)
    assert started.wait(30)
    cancel_by_notification(async_peer, CallbackContext())
    cancel_by_notification(async_peer, CallbackContext())
    assert reply.result(30)["error"]["code"] == REQUEST_CANCELLED


def test_another_sessions_cancellation_changes_nothing(server: ToolServer, async_peer: Peer, loop: Loop) -> None:
    go = asyncio.Event()
    started = threading.Event()

    @server.tool
    async def tool() -> str:
        started.set()
        await go.wait()
        return "mine"

    @server.tool
    async def release() -> None:
        go.set()

    reply = async_peer.start(CALL)
    assert started.wait(30)
    other = host_for("local", server)
    other.handle(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "c:1"}}, CallbackContext()
    )
    other.cancelled("control-1")
    other.close()
    async_peer.call("release")
    assert reply.result(30)["result"]["content"][0]["text"] == "mine"


@pytest.mark.parametrize("params", [{}, {"requestId": "c:2"}, {"requestId": ["c:1"]}, {"requestId": None}])
def test_cancelling_what_does_not_run_changes_nothing(server: ToolServer, peer: Peer, params: dict[str, Any]) -> None:
    server.tool(name="tool")(lambda: "done")
    peer.notify("notifications/cancelled", params)
    peer.host.cancelled("control-1")
    assert peer.text("tool") == "done"


def test_a_call_whose_loop_is_gone_can_still_be_cancelled(server: ToolServer) -> None:
    async def tool() -> None:
        await asyncio.Event().wait()

    server.tool(tool)
    host = host_for("local", server)
    ctx = CallbackContext()

    async def begin() -> asyncio.Future[Any]:
        task = asyncio.ensure_future(settled(host.handle(CALL, ctx)))
        await asyncio.sleep(0)
        return task

    gone = asyncio.new_event_loop()
    task = gone.run_until_complete(begin())
    keep = list(asyncio.all_tasks(gone))
    gone.close()
    host.close()
    assert ctx.cancelled
    for left in (task, *keep):
        left._log_destroy_pending = False  # type: ignore[attr-defined]
