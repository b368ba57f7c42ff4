"""Scenarios: ending a turn from outside, whatever it is waiting for."""

from __future__ import annotations

import threading

from claude_actors import (
    Allow,
    CallbackCancelled,
    CallbackContext,
    Deny,
    Hooks,
    StreamEvent,
    ToolPermissionRequest,
    ToolServer,
)
from claude_actors.hook_events import PreToolUse
from claude_actors.testing import Say, UseTool, WaitFor, reply
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.conformance.talk import PATIENCE, Talk

group = Group("interrupt")
TOUCH = UseTool("Bash", {"command": "touch a"}, result="")


@group.scenario
def in_a_stream_it_ends_the_turn_and_the_session_goes_on(stage: Stage) -> None:
    stage.play(reply(Say("never said to its end", chunks=3, wait_for="never")), "next")
    with stage.talk("go", include_partial_messages=True) as talk:
        talk.until(StreamEvent, lambda message: message.event["type"] == "content_block_delta")
        assert talk.session.interrupt().still_queued == []
        result = talk.result()
        assert (result.subtype, result.is_error) == ("error_during_execution", True)
        assert result.terminal_reason == "aborted_streaming"
        assert talk.ask("again").result == "next"


@group.scenario
def before_the_first_word_it_ends_the_turn(stage: Stage) -> None:
    stage.play(reply(WaitFor("never"), "unsaid"), "next")
    with stage.talk("go") as talk:
        stage.wait_reached("never")
        talk.session.interrupt()
        assert talk.result().terminal_reason == "aborted_streaming"
        assert talk.ask("again").result == "next"


@group.scenario
def during_a_permission_request_the_callback_is_told(stage: Stage) -> None:
    stage.play(reply(TOUCH), "next")
    asked, told = threading.Event(), threading.Event()

    def wait(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        asked.set()
        if ctx.wait_cancelled(PATIENCE) and ctx.cancel_reason == "cancelled":
            told.set()
        return Allow()

    with stage.talk("go", can_use_tool=wait) as talk:
        _interrupt_when(asked, talk)
        assert talk.result().terminal_reason == "aborted_tools"
        assert told.wait(PATIENCE)
        assert talk.ask("again").result == "next"
    assert [event.kind for event in talk.saw(CallbackCancelled)] == ["permission"]
    assert not (stage.cwd / "a").exists()


@group.scenario
def during_a_hook_the_callback_is_told(stage: Stage) -> None:
    stage.play(reply(TOUCH), "next")
    asked, told = threading.Event(), threading.Event()
    hooks = Hooks()

    @hooks.pre_tool_use
    def wait(event: PreToolUse, ctx: CallbackContext) -> Deny:
        asked.set()
        if ctx.wait_cancelled(PATIENCE):
            told.set()
        return Deny("too late")

    with stage.talk("go", hooks=hooks, can_use_tool=lambda request, ctx: Allow()) as talk:
        _interrupt_when(asked, talk)
        assert talk.result().terminal_reason == "aborted_tools"
        assert told.wait(PATIENCE)
        assert talk.ask("again").result == "next"
    assert [event.kind for event in talk.saw(CallbackCancelled)] == ["hook"]


@group.scenario
def during_a_tool_of_ours_the_tool_is_told(stage: Stage) -> None:
    stage.play(reply(UseTool("mcp__local__wait")), "next")
    asked, told = threading.Event(), threading.Event()
    server = ToolServer("local")

    @server.tool
    def wait(ctx: CallbackContext) -> str:
        """Wait until nobody wants the answer any more."""
        asked.set()
        if ctx.wait_cancelled(PATIENCE):
            told.set()
        return "too late"

    with stage.talk("go", mcp_servers={"local": server}, allowed_tools=["mcp__local"]) as talk:
        _interrupt_when(asked, talk)
        assert talk.result().terminal_reason == "aborted_tools"
        assert told.wait(PATIENCE)
        assert talk.ask("again").result == "next"


@group.scenario
def it_names_the_prompts_that_still_wait(stage: Stage) -> None:
    stage.play(reply(WaitFor("never"), "unsaid"), "next")
    with stage.talk("go") as talk:
        stage.wait_reached("never")
        second = talk.session.send("second")
        assert talk.session.interrupt().still_queued == [second.uuid]
        assert second.result(PATIENCE).result == "next"


@group.scenario
def between_turns_it_changes_nothing(stage: Stage) -> None:
    stage.play("one", "two")
    with stage.talk("first") as talk:
        talk.result()
        talk.session.interrupt()
        assert talk.ask("second").result == "two"


def _interrupt_when(asked: threading.Event, talk: Talk) -> None:
    assert asked.wait(PATIENCE)
    talk.session.interrupt()
