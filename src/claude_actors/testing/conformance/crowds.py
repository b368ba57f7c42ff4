"""Scenarios: many sessions at once in one process."""

from __future__ import annotations

import threading

from claude_actors import CallbackContext, Hooks
from claude_actors.hook_events import PreToolUse
from claude_actors.testing import UseTool, reply
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.conformance.talk import PATIENCE

group = Group("many sessions")
SESSIONS = 20


@group.scenario
def twenty_sessions_have_their_own_conversations_at_the_same_time(stage: Stage) -> None:
    numbers = range(SESSIONS)
    asks = [reply(UseTool("Bash", {"command": f"echo {n}"}, result=f"{n}"), when=f"number {n}.") for n in numbers]
    stage.play(*asks, *(reply(f"it is {n}", when=str(n)) for n in reversed(numbers)))
    everybody = threading.Barrier(SESSIONS)
    hooks = Hooks()

    @hooks.pre_tool_use
    def meet(event: PreToolUse, ctx: CallbackContext) -> None:
        everybody.wait(PATIENCE)

    talks = [stage.talk(f"number {n}.", hooks=hooks, wait=False) for n in numbers]
    assert [talk.result().result for talk in talks] == [f"it is {n}" for n in numbers]
    assert len({talk.session.session_id for talk in talks}) == SESSIONS
    for talk in talks:
        talk.session.stop_soon()
    for talk in talks:
        talk.session.wait(PATIENCE)
