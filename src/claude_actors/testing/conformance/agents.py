"""Scenarios: subagents, of the options and of the CLI."""

from __future__ import annotations

from typing import Any

from claude_actors import (
    Allow,
    AssistantMessage,
    CallbackContext,
    Hooks,
    TaskNotificationMessage,
    TaskStartedMessage,
    ToolPermissionRequest,
)
from claude_actors.hook_events import PreToolUse
from claude_actors.testing import UseTool, WaitFor, reply
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.script import Scripted

group = Group("agents")
REVIEWER = {"reviewer": {"description": "Reviews what was written", "prompt": "You review.", "tools": ["Bash"]}}


def delegate(kind: str, **more: Any) -> UseTool:
    """Make the call that hands work to a subagent."""
    given = {"description": "a review", "prompt": "look at it", "subagent_type": kind, "run_in_background": False}
    return UseTool("Task", {**given, **more})


def script(*work: Scripted) -> tuple[Scripted, ...]:
    """Make the replies of a conversation that hands `work` to a reviewer."""
    return (reply(delegate("reviewer"), when="go"), *work, "done")


@group.scenario
def an_agent_of_the_options_does_its_part(stage: Stage) -> None:
    stage.play(*script(reply("looks good", when="look at it")))
    with stage.talk("go", agents=REVIEWER) as talk:
        assert talk.result().result == "done"
        assert "reviewer" in talk.inits[0].agents
        assert [message.subagent_type for message in talk.all(TaskStartedMessage)] == ["reviewer"]
        assert [message.status for message in talk.all(TaskNotificationMessage)] == ["completed"]
        assert "looks good" in talk.tool_results[0][0]
    assert "looks good" in stage.told()[2]


@group.scenario
def the_tools_of_an_agent_are_asked_for_in_its_name(stage: Stage) -> None:
    touch = UseTool("Bash", {"command": "touch a"}, result="")
    stage.play(*script(reply(touch, when="look at it"), "looks good"))
    seen: list[tuple[str, str | None]] = []
    hooks = Hooks()

    @hooks.pre_tool_use(matcher="Bash")
    def note(event: PreToolUse, ctx: CallbackContext) -> None:
        seen.append(("hook", event.agent_id))

    def allow(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        seen.append(("permission", request.agent_id))
        return Allow()

    with stage.talk("go", agents=REVIEWER, hooks=hooks, can_use_tool=allow) as talk:
        assert talk.result().result == "done"
        (started,) = talk.all(TaskStartedMessage)
    assert seen == [("hook", started.task_id), ("permission", started.task_id)]


@group.scenario
def what_an_agent_says_is_forwarded_if_it_is_wanted(stage: Stage) -> None:
    stage.play(*script(reply("looks good", when="look at it")))
    with stage.talk("go", agents=REVIEWER, forward_subagent_text=True) as talk:
        talk.result()
        said = [(message.text, message.parent_tool_use_id is not None) for message in talk.all(AssistantMessage)]
        assert said == [("", False), ("looks good", True), ("done", False)]


@group.scenario
def an_agent_in_the_background_reports_in_a_turn_of_its_own(stage: Stage) -> None:
    background = delegate("reviewer", run_in_background=True)
    work = reply(WaitFor("it may go on"), "looks good", when="look at it")
    stage.play(reply(background, when="go"), work, reply("started", when="Async"), "it is done")
    with stage.talk("go", agents=REVIEWER) as talk:
        assert talk.result().result == "started"
        assert talk.session.snapshot().running_tasks == 1
        stage.open("it may go on")
        report = talk.result()
        assert report.result == "it is done"
        assert report.user_message_uuids is None
        assert talk.session.snapshot().running_tasks == 0
    assert "looks good" in stage.told()[-1]
