"""Scenarios: who may use a tool, and what becomes of the answer."""

from __future__ import annotations

import os
import threading

from claude_actors import (
    AddRules,
    Allow,
    CallbackContext,
    CallbackCrashed,
    CallbackTimedOut,
    CanUseToolShadowedWarning,
    Deny,
    ExitedDuringStart,
    Hooks,
    PermissionDeniedMessage,
    PermissionRule,
    SetMode,
    StateChanged,
    ToolPermissionRequest,
)
from claude_actors.hook_events import PermissionRequest
from claude_actors.testing import UseTool, reply
from claude_actors.testing.conformance.raising import raised, warned
from claude_actors.testing.conformance.scenarios import Group, NotHere
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.conformance.talk import PATIENCE

group = Group("permissions")


def write(stage: Stage, name: str, content: str = "theirs") -> UseTool:
    """Make the call of a tool that needs permission."""
    return UseTool("Write", {"file_path": str(stage.cwd / name), "content": content})


@group.scenario
def an_allowed_tool_runs(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), "done")
    asked: list[ToolPermissionRequest] = []

    def allow(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        asked.append(request)
        return Allow()

    with stage.talk("go", can_use_tool=allow) as talk:
        assert talk.result().result == "done"
    assert (stage.cwd / "a").read_text() == "theirs"
    (request,) = asked
    assert (request.tool_name, request.input["content"]) == ("Write", "theirs")
    assert request.tool_use_id
    assert any(isinstance(update, SetMode) for update in request.suggestions)


@group.scenario
def the_input_of_an_allowed_tool_can_be_changed(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), "done")

    async def change(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        return Allow(updated_input={**request.input, "content": "ours"})

    with stage.talk("go", can_use_tool=change) as talk:
        talk.result()
    assert (stage.cwd / "a").read_text() == "ours"


@group.scenario
def a_denied_tool_does_not_run_and_the_model_is_told_why(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), "understood")
    with stage.talk("go", can_use_tool=lambda request, ctx: Deny("ask me tomorrow")) as talk:
        result = talk.result()
        assert result.result == "understood"
        assert [denial["tool_name"] for denial in result.permission_denials or ()] == ["Write"]
        assert talk.tool_results == [("ask me tomorrow", True)]
    assert "ask me tomorrow" in stage.told()[1]
    assert not (stage.cwd / "a").exists()


@group.scenario
def a_denial_with_interrupt_ends_the_turn(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), "next")
    with stage.talk("go", can_use_tool=lambda request, ctx: Deny("stop it", interrupt=True)) as talk:
        result = talk.result()
        assert (result.subtype, result.terminal_reason) == ("error_during_execution", "aborted_tools")
        assert talk.ask("again").result == "next"
    assert not (stage.cwd / "a").exists()


@group.scenario
def a_permission_callback_that_crashes_denies(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), "understood")

    def crash(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        raise RuntimeError("out of order")

    with stage.talk("go", can_use_tool=crash) as talk:
        assert talk.result().result == "understood"
        assert [failed for _, failed in talk.tool_results] == [True]
    assert [event.kind for event in talk.saw(CallbackCrashed)] == ["permission"]
    assert not (stage.cwd / "a").exists()


@group.scenario
def a_permission_callback_that_overruns_denies(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), "understood")

    def hang(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        ctx.wait_cancelled(PATIENCE)
        return Allow()

    with stage.talk("go", can_use_tool=hang, permission_timeout=0.2) as talk:
        assert talk.result().result == "understood"
        assert [failed for _, failed in talk.tool_results] == [True]
    assert [event.kind for event in talk.saw(CallbackTimedOut)] == ["permission"]
    assert not (stage.cwd / "a").exists()


@group.scenario
def a_slow_permission_holds_up_nothing_but_its_tool(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), "done")
    asked, answer = threading.Event(), threading.Event()

    def wait(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        asked.set()
        assert answer.wait(PATIENCE)
        return Allow()

    with stage.talk("go", can_use_tool=wait) as talk:
        assert asked.wait(PATIENCE)
        talk.until_event(StateChanged, lambda event: event.state == "requires_action")
        assert talk.session.set_permission_mode("default") == "default"
        assert talk.session.mcp_status() == ()
        assert talk.session.snapshot().pending_callbacks == 1
        answer.set()
        assert talk.result().result == "done"
    assert (stage.cwd / "a").exists()


@group.scenario
def a_rule_that_is_granted_answers_for_the_next_tool(stage: Stage) -> None:
    touch = UseTool("Bash", {"command": "touch a"}, result="")
    stage.play(reply(touch), reply(touch), "done")
    asked: list[str] = []

    def allow(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        asked.append(request.tool_name)
        return Allow(updated_permissions=[AddRules(rules=(PermissionRule("Bash"),), behavior="allow")])

    with stage.talk("go", can_use_tool=allow) as talk:
        assert talk.result().result == "done"
    assert asked == ["Bash"]


@group.scenario
def a_granted_mode_is_in_force_at_once(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), reply(write(stage, "b")), "done", "next")
    asked: list[str] = []

    def allow(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        asked.append(request.tool_name)
        return Allow(updated_permissions=request.suggestions)

    with stage.talk("go", can_use_tool=allow) as talk:
        assert talk.result().result == "done"
        talk.ask("again")
        assert talk.inits[-1].permission_mode == "acceptEdits"
    assert asked == ["Write"]
    assert (stage.cwd / "b").exists()


@group.scenario
def a_permission_hook_answers_in_place_of_the_callback(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), "done")
    hooks = Hooks()
    cancelled = threading.Event()

    @hooks.permission_request
    def decide(event: PermissionRequest, ctx: CallbackContext) -> Allow:
        return Allow()

    def wait(request: ToolPermissionRequest, ctx: CallbackContext) -> Deny:
        if ctx.wait_cancelled(PATIENCE):
            cancelled.set()
        return Deny("too late")

    with stage.talk("go", hooks=hooks, can_use_tool=wait) as talk:
        assert talk.result().result == "done"
        assert cancelled.wait(PATIENCE)
    assert (stage.cwd / "a").exists()


@group.scenario
def without_a_callback_nobody_is_asked_and_the_tool_is_refused(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), "understood")
    with stage.talk("go") as talk:
        assert talk.result().result == "understood"
        assert [failed for _, failed in talk.tool_results] == [True]
        assert [message.tool_name for message in talk.all(PermissionDeniedMessage)] == ["Write"]
        assert talk.session.snapshot().counters.callbacks_started == 0
    assert not (stage.cwd / "a").exists()


@group.scenario
def an_allowed_tool_of_the_options_is_not_asked_for(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), "done")
    asked: list[str] = []

    def note(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        asked.append(request.tool_name)
        return Allow()

    with stage.talk("go", can_use_tool=note, allowed_tools=["Write"]) as talk:
        assert talk.result().result == "done"
    assert asked == []
    assert (stage.cwd / "a").exists()


@group.scenario
def a_tool_that_the_options_forbid_is_not_there(stage: Stage) -> None:
    stage.play(reply(write(stage, "a")), "understood")
    with stage.talk("go", can_use_tool=lambda request, ctx: Allow(), disallowed_tools=["Write"]) as talk:
        assert talk.result().result == "understood"
        assert "Write" not in talk.inits[0].tools
        assert [failed for _, failed in talk.tool_results] == [True]
    assert not (stage.cwd / "a").exists()


@group.scenario
def with_bypass_nobody_is_asked(stage: Stage) -> None:
    if os.geteuid() == 0:
        raise NotHere("the CLI refuses bypassPermissions to root")
    stage.play(reply(write(stage, "a")), "done")
    with warned(CanUseToolShadowedWarning):
        talk = stage.talk(
            "go",
            can_use_tool=lambda request, ctx: Deny("not asked"),
            permission_mode="bypassPermissions",
            allow_dangerously_skip_permissions=True,
        )
    with talk:
        assert talk.result().result == "done"
        assert talk.inits[0].permission_mode == "bypassPermissions"
        assert talk.session.snapshot().counters.callbacks_started == 0
    assert (stage.cwd / "a").exists()


@group.scenario
def root_is_refused_bypass(stage: Stage) -> None:
    if os.geteuid() != 0:
        raise NotHere("only root is refused")
    stage.play("unused")
    refused = raised(ExitedDuringStart, lambda: stage.talk("go", permission_mode="bypassPermissions"))
    assert refused.code == 1
    assert "root" in " ".join(refused.stderr_tail)
