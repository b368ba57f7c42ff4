"""Scenarios: hooks that end the turn, and what becomes of the tool that they were asked about."""

from __future__ import annotations

from claude_actors import CallbackContext, Deny, Hooks, StopTurn
from claude_actors.hook_events import PostToolUse, PreToolUse
from claude_actors.testing import UseTool, reply
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage

group = Group("hooks that end the turn")
ECHO = UseTool("Bash", {"command": "echo hello"}, result="hello")


@group.scenario
def a_hook_can_end_the_turn(stage: Stage) -> None:
    stage.play(reply(ECHO), "unused", "next")
    hooks = Hooks()

    @hooks.post_tool_use
    def enough(event: PostToolUse, ctx: CallbackContext) -> StopTurn:
        return StopTurn("enough")

    with stage.talk("go", hooks=hooks) as talk:
        result = talk.result()
        assert (result.subtype, result.terminal_reason) == ("success", "hook_stopped")
        assert talk.session.state == "running"
    assert len(stage.told()) == 1


@group.scenario
def a_turn_that_is_ended_before_a_tool_still_runs_that_tool(stage: Stage) -> None:
    stage.play(reply(ECHO), "unused")
    hooks = Hooks()

    @hooks.pre_tool_use
    def enough(event: PreToolUse, ctx: CallbackContext) -> StopTurn:
        return StopTurn("enough")

    with stage.talk("go", hooks=hooks) as talk:
        assert talk.result().terminal_reason == "hook_stopped"
        assert talk.tool_results == [("hello", False)]
    assert len(stage.told()) == 1


@group.scenario
def a_denial_with_interrupt_ends_the_turn_without_the_tool(stage: Stage) -> None:
    stage.play(reply(ECHO), "unused")
    hooks = Hooks()

    @hooks.pre_tool_use
    def never(event: PreToolUse, ctx: CallbackContext) -> Deny:
        return Deny("not at all", interrupt=True)

    with stage.talk("go", hooks=hooks) as talk:
        assert talk.result().terminal_reason == "hook_stopped"
        ((text, failed),) = talk.tool_results
        assert failed
        assert "not at all" in text
    assert len(stage.told()) == 1
