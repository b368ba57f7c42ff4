"""Hooks that fail in a live session: every kind of failure gets its decided answer, open or closed, and is told."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from support.leaks import wait_until
from support.live_session import DEADLINE, live

from claude_actors import CallbackAbandoned, CallbackContext, CallbackCrashed, CallbackTimedOut, Hooks
from claude_actors.testing import CallHook, UseTool, WaitFor, reply, script


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


def raises(event: Any, ctx: CallbackContext) -> Any:
    raise LookupError("lost")


def exits(event: Any, ctx: CallbackContext) -> Any:
    raise SystemExit(3)


def raises_unspeakably(event: Any, ctx: CallbackContext) -> Any:
    raise Unspeakable


def answers_nonsense(event: Any, ctx: CallbackContext) -> Any:
    return 42


def answers_what_has_no_json(event: Any, ctx: CallbackContext) -> Any:
    return {"reason": object()}


def answers_lone_surrogates(event: Any, ctx: CallbackContext) -> Any:
    return {"reason": "\ud800"}


def fails_later(event: Any, ctx: CallbackContext) -> Any:
    future: Future[Any] = Future()
    future.set_exception(LookupError("lost"))
    return future


async def raises_on_the_loop(event: Any, ctx: CallbackContext) -> Any:
    await asyncio.sleep(0)
    raise LookupError("lost")


async def exits_on_the_loop(event: Any, ctx: CallbackContext) -> Any:
    raise KeyboardInterrupt


async def cancels_itself(event: Any, ctx: CallbackContext) -> Any:
    raise asyncio.CancelledError


async def answers_nonsense_on_the_loop(event: Any, ctx: CallbackContext) -> Any:
    return "go on"


CRASHES: dict[Callable[..., Any], str] = {
    raises: "LookupError: lost",
    exits: "SystemExit: 3",
    raises_unspeakably: "Unspeakable",
    answers_nonsense: "InvalidCallbackResult",
    answers_what_has_no_json: "EncodingFailed",
    answers_lone_surrogates: "EncodingFailed",
    fails_later: "LookupError: lost",
    raises_on_the_loop: "LookupError: lost",
    exits_on_the_loop: "CallbackExit",
    cancels_itself: "CancelledError",
    answers_nonsense_on_the_loop: "InvalidCallbackResult",
}
CLOSED = {"decision": "block", "reason": "the PreCompact gate gave no answer"}


@pytest.mark.parametrize("on_failure", ["open", "block"])
def test_every_failure_gets_the_fallback_and_an_event_and_the_session_goes_on(on_failure: Any) -> None:
    hooks = Hooks()
    for function in CRASHES:
        hooks.on("PreCompact", on_failure=on_failure)(function)
    steps = [CallHook("PreCompact", callback_id=f"hook_{n}", label=str(n)) for n in range(len(CRASHES))]
    with live(script(reply(*steps, "done"), "and on"), hooks=hooks) as stage:
        assert stage.ask().result == "done"
        expected = {"continue": True} if on_failure == "open" else CLOSED
        assert [stage.answer(str(n)) for n in range(len(CRASHES))] == [expected] * len(CRASHES)
        crashed = {event.name: event for event in stage.events(CallbackCrashed)}
        assert {event.kind for event in crashed.values()} == {"hook"}
        for n, reason in enumerate(CRASHES.values()):
            assert crashed[f"hook_{n}"].reason.startswith(reason)
        assert stage.ask().result == "and on"


class Slow:
    """Callbacks that overrun, and learn it."""

    def __init__(self) -> None:
        self.calls: list[CallbackContext] = []
        self.ended: list[str | None] = []

    def sync(self, event: Any, ctx: CallbackContext) -> Any:
        self.calls.append(ctx)
        ctx.wait_cancelled(DEADLINE)
        self.ended.append(ctx.cancel_reason)

    async def on_loop(self, event: Any, ctx: CallbackContext) -> Any:
        self.calls.append(ctx)
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.append(ctx.cancel_reason)


@pytest.mark.parametrize("on_failure", ["open", "block"])
@pytest.mark.parametrize("kind", ["sync", "on_loop"])
def test_a_hook_that_overruns_its_own_timeout_is_answered_for_and_told(kind: str, on_failure: Any) -> None:
    hooks, slow = Hooks(), Slow()
    hooks.on("PreCompact", timeout=0.05, on_failure=on_failure)(getattr(slow, kind))
    hooks.on("PreCompact", timeout=DEADLINE)(lambda event, ctx: None)
    with live(script(reply(CallHook("PreCompact", callback_id="hook_0", label="slow"), "done")), hooks=hooks) as stage:
        assert stage.ask().result == "done"
        assert stage.answer("slow") == ({"continue": True} if on_failure == "open" else CLOSED)
        # On a slow machine the time may be over before a coroutine has begun.
        assert wait_until(lambda: slow.ended == ["timed_out"] * len(slow.calls))
        timed_out = stage.next_event(CallbackTimedOut)
        assert (timed_out.kind, timed_out.name, timed_out.after) == ("hook", "hook_0", 0.05)


def test_our_timeout_comes_before_that_of_the_cli_so_that_an_open_hook_lets_the_tool_run() -> None:
    hooks, slow = Hooks(), Slow()
    hooks.pre_tool_use(timeout=0.05)(slow.sync)
    with live(script(reply(UseTool("Bash", {"command": "ls"}, result="files")), "done"), hooks=hooks) as stage:
        assert stage.ask().result == "done"
        assert "files" in stage.told()[1]


def test_a_gate_that_crashes_keeps_the_tool_from_running() -> None:
    hooks = Hooks()
    hooks.pre_tool_use(on_failure="block")(raises)
    with live(script(reply(UseTool("Bash", {"command": "ls"}, result="files")), "done"), hooks=hooks) as stage:
        stage.ask()
        assert "the PreToolUse gate gave no answer" in stage.told()[1]
        assert "files" not in stage.told()[1]


def test_a_hook_that_hangs_delays_neither_other_hooks_nor_the_control_plane() -> None:
    hooks, gate, started = Hooks(), threading.Event(), threading.Event()

    def hang(event: Any, ctx: CallbackContext) -> None:
        started.set()
        gate.wait(DEADLINE)

    hooks.on("PreCompact", timeout=0.05)(hang)
    hooks.notification(lambda event, ctx: None)
    steps = (CallHook("PreCompact", label="hangs"), CallHook("Notification", label="other"), WaitFor("end"))
    try:
        with live(script(reply(*steps, "done")), hooks=hooks) as stage:
            stage.session.send("go")
            assert started.wait(DEADLINE)
            stage.fake.gates.wait_reached("end")
            assert stage.answer("hangs") == stage.answer("other") == {"continue": True}
            assert stage.session.set_permission_mode("plan") == "plan"
            assert stage.next_event(CallbackAbandoned).abandoned == 1
            assert stage.session.snapshot().abandoned_callbacks == 1
            stage.fake.gates.open("end")
    finally:
        gate.set()
