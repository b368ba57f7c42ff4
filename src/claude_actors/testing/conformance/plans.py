"""Scenarios: plan mode, and how a plan is approved or refused."""

from __future__ import annotations

import re

from claude_actors import Allow, CallbackContext, Deny, Hooks, ToolPermissionRequest
from claude_actors.hook_events import PreToolUse
from claude_actors.testing import UseTool, reply
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage

group = Group("plan mode")
PLAN = "1. write it\n2. test it"
EXIT = UseTool("ExitPlanMode", {"plan": PLAN})


@group.scenario
def an_approved_plan_leaves_plan_mode(stage: Stage) -> None:
    written = UseTool("Write", {"file_path": str(stage.cwd / "plan"), "content": PLAN})
    work = UseTool("Bash", {"command": "touch a"}, result="")
    stage.play(reply(written), reply(EXIT), reply(work), "done", "next")
    asked: list[ToolPermissionRequest] = []

    def approve(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        asked.append(request)
        return Allow()

    with stage.talk("plan it", can_use_tool=approve, permission_mode="plan", hooks=_to_plan_file(stage)) as talk:
        assert talk.result().result == "done"
        talk.ask("again")
        assert [init.permission_mode for init in talk.inits] == ["plan", "default"]
    assert [request.tool_name for request in asked] == ["ExitPlanMode", "Bash"]
    assert asked[0].plan == PLAN
    assert asked[0].requires_user_interaction


@group.scenario
def a_refused_plan_keeps_plan_mode(stage: Stage) -> None:
    stage.play(reply(EXIT), "another plan then", "next")
    with stage.talk("plan it", can_use_tool=lambda request, ctx: Deny("too long"), permission_mode="plan") as talk:
        assert talk.result().result == "another plan then"
        assert talk.tool_results == [("too long", True)]
        talk.ask("again")
        assert [init.permission_mode for init in talk.inits] == ["plan", "plan"]
    assert "too long" in stage.told()[1]


def _to_plan_file(stage: Stage) -> Hooks:
    """Have what is written go to the file that the model was told to keep its plan in, if it was told of one."""
    hooks = Hooks()

    @hooks.pre_tool_use(matcher="Write")
    def redirect(event: PreToolUse, ctx: CallbackContext) -> Allow:
        told = re.search(r"/\S+/plans/[\w-]+\.md", stage.told()[0])
        return Allow(updated_input={**event.tool_input, **({"file_path": told.group()} if told else {})})

    return hooks
