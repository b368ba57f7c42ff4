"""Scenarios: hooks that overrun or crash. A plain hook fails open, a gate fails closed."""

from __future__ import annotations

import asyncio

from claude_actors import CallbackContext, CallbackCrashed, CallbackTimedOut, Deny, Hooks
from claude_actors.hook_events import PreToolUse
from claude_actors.testing import UseTool, reply
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.conformance.talk import PATIENCE

group = Group("hooks that fail")
ECHO = UseTool("Bash", {"command": "echo hello"}, result="hello")
SHORT = 0.2


@group.scenario
def a_hook_that_overruns_lets_the_tool_run(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    reasons: list[str | None] = []
    hooks = Hooks()

    @hooks.pre_tool_use(timeout=SHORT)
    def hang(event: PreToolUse, ctx: CallbackContext) -> Deny:
        ctx.wait_cancelled(PATIENCE)
        reasons.append(ctx.cancel_reason)
        return Deny("too late")

    with stage.talk("go", hooks=hooks) as talk:
        assert talk.result().result == "done"
        # Ours comes before the CLI's own deadline, at which the tool would not run.
        assert talk.tool_results == [("hello", False)]
    assert reasons == ["timed_out"]
    assert [(event.kind, event.after) for event in talk.saw(CallbackTimedOut)] == [("hook", SHORT)]


@group.scenario
def a_gate_that_overruns_keeps_the_tool_from_running(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    hooks = Hooks()

    @hooks.pre_tool_use(timeout=SHORT, on_failure="block")
    async def hang(event: PreToolUse, ctx: CallbackContext) -> None:
        await asyncio.sleep(PATIENCE)

    with stage.talk("go", hooks=hooks) as talk:
        assert talk.result().result == "done"
        ((text, is_error),) = talk.tool_results
        assert is_error
        assert "gate gave no answer" in text
    assert len(talk.saw(CallbackTimedOut)) == 1


@group.scenario
def a_hook_that_crashes_lets_the_tool_run(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    hooks = Hooks()

    @hooks.pre_tool_use
    def crash(event: PreToolUse, ctx: CallbackContext) -> Deny:
        raise RuntimeError("out of order")

    with stage.talk("go", hooks=hooks) as talk:
        assert talk.result().result == "done"
        assert talk.tool_results == [("hello", False)]
    (event,) = talk.saw(CallbackCrashed)
    assert event.kind == "hook"
    assert "out of order" in event.reason


@group.scenario
def a_gate_that_crashes_keeps_the_tool_from_running(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    hooks = Hooks()

    @hooks.pre_tool_use(on_failure="block")
    async def crash(event: PreToolUse, ctx: CallbackContext) -> Deny:
        raise RuntimeError("out of order")

    with stage.talk("go", hooks=hooks) as talk:
        assert talk.result().result == "done"
        assert [failed for _, failed in talk.tool_results] == [True]
    assert len(talk.saw(CallbackCrashed)) == 1
