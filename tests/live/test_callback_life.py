"""What a callback may do and is told: fallbacks, lateness, cancelling, sessions of its own, and where it runs."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from support.bad_callbacks import OPEN, World
from support.live import DEADLINE, running

from claude_actors import (
    Allow,
    CallbackAbandoned,
    CallbackContext,
    Deny,
    Hooks,
    SessionStopped,
    ToolServer,
    start_session,
)
from claude_actors.actors.here import HERE
from claude_actors.testing.memory_cli import MemoryCLI


def test_a_permission_callback_that_fails_denies_and_a_server_that_fails_says_so_in_its_protocol() -> None:
    world, cli = World(), MemoryCLI()

    def permission(request: Any, ctx: CallbackContext) -> Allow:
        raise LookupError("a bug of mine")

    def handler(message: dict[str, Any]) -> dict[str, Any]:
        sys.exit(3)

    with running(cli, can_use_tool=permission, mcp_servers={"raw": handler}):
        answer = cli.answered(cli.ask_permission())["response"]
        assert answer["behavior"] == "deny"
        error = cli.answered(cli.call_mcp("raw", "tools/list"))["response"]["mcp_response"]
        assert (error["id"], error["error"]["code"]) == ("1:0", -32603)
        world.release.set()


def test_a_gate_that_fails_in_any_way_answers_no() -> None:
    hooks, cli, world = Hooks(), MemoryCLI(), World()

    @hooks.pre_tool_use(on_failure="block")
    def crashes(event: Any, ctx: CallbackContext) -> None:
        raise LookupError("a bug of mine")

    @hooks.pre_tool_use(on_failure="block", timeout=0.05)
    def hangs(event: Any, ctx: CallbackContext) -> None:
        world.wait()

    with running(cli, hooks=hooks):
        for callback in ("hook_0", "hook_1"):
            answer = cli.answered(cli.call_hook(callback))["response"]
            assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
        world.release.set()


def test_a_callback_that_is_too_late_is_told_so_and_its_answer_is_counted_and_never_sent() -> None:
    hooks, cli = Hooks(), MemoryCLI()
    told: list[str | None] = []

    @hooks.pre_tool_use(timeout=0.05)
    def waits(event: Any, ctx: CallbackContext) -> Deny:
        assert ctx.wait_cancelled(DEADLINE)
        told.append(ctx.cancel_reason)
        return Deny("too late")

    with running(cli, hooks=hooks) as session:
        request = cli.call_hook()
        assert cli.answered(request)["response"] == OPEN
        while not session.snapshot().counters.late_answers:
            threading.Event().wait(0.001)
    assert told == ["timed_out"]
    assert len(cli.answers(request)) == 1


def test_a_timeout_really_cancels_a_coroutine() -> None:
    hooks, cli = Hooks(), MemoryCLI()
    cancelled = threading.Event()

    @hooks.pre_tool_use(timeout=0.05)
    async def waits(event: Any, ctx: CallbackContext) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with running(cli, hooks=hooks) as session:
        assert cli.answered(cli.call_hook())["response"] == OPEN
        assert cancelled.wait(DEADLINE)
        while session.snapshot().abandoned_callbacks:
            threading.Event().wait(0.001)
    # It was cancelled, so nothing of it is abandoned.
    assert not any(isinstance(event, CallbackAbandoned) for event in session.events())


@pytest.mark.parametrize("stop", ["sync", "async"])
def test_a_callback_may_start_a_session_of_its_own_and_stop_the_one_it_serves(stop: str) -> None:
    hooks, cli, inner = Hooks(), MemoryCLI(), MemoryCLI()
    finals: list[object] = []

    def nested(ctx: CallbackContext) -> None:
        with running(inner) as session:
            finals.append(session.state)
        finals.append(session.final_event)
        finals.append(ctx.session.stop())

    if stop == "sync":
        hooks.pre_tool_use()(lambda event, ctx: nested(ctx))
    else:

        @hooks.pre_tool_use()
        async def blocking(event: Any, ctx: CallbackContext) -> None:
            nested(ctx)

    with running(cli, hooks=hooks) as session:
        request = cli.call_hook()
        final = session.wait(DEADLINE)
        while len(finals) < 3:
            threading.Event().wait(0.001)
    assert finals == ["running", SessionStopped("stop requested"), final]
    assert cli.answers(request) == []


def test_a_user_function_is_never_run_in_the_thread_of_the_control_plane() -> None:
    places: list[str] = []
    hooks, server, cli = Hooks(), ToolServer("local"), MemoryCLI()

    def note(*_: object) -> None:
        runs_actors = HERE.ready is not None or HERE.leads is not None
        places.append("actors" if runs_actors else threading.current_thread().name)

    async def note_async(*_: object) -> None:
        note()

    def factory(launch: object) -> MemoryCLI:
        note()
        return cli

    hooks.pre_tool_use()(lambda event, ctx: note())
    hooks.pre_tool_use()(note_async)

    @server.tool
    def tool() -> None:
        """Note."""
        note()

    callbacks: dict[str, Callable[..., Awaitable[None] | None]] = {
        "on_elicitation": note,
        "on_user_dialog": note,
        "stderr": note,
    }
    with start_session(
        None, cli.options(port_factory=factory, hooks=hooks, mcp_servers={"local": server}, **callbacks), wait=False
    ) as session:
        cli.accept()
        session.add_done_callback(note)
        cli.push_stderr(b"line\n")
        answered = [
            cli.call_hook("hook_0"),
            cli.call_hook("hook_1"),
            cli.call_mcp("local", "tools/call", name="tool", arguments={}),
            cli.ask("elicitation", mcp_server_name="local", message="well?"),
            cli.ask("request_user_dialog", dialog_kind="confirm", payload={}),
        ]
        for request in answered:
            cli.answered(request)
    while len(places) < 8:
        threading.Event().wait(0.001)
    assert len(places) == 8
    assert not {"actors", "claude-actors-helper"} & set(places)
