"""Scenarios: how a session ends, and what is left of it."""

from __future__ import annotations

import os
import signal
import threading

from claude_actors import (
    Allow,
    CallbackContext,
    SessionCompleted,
    SessionCrashed,
    SessionEnded,
    SessionFailed,
    SessionStopped,
    SessionStoppedError,
    ToolPermissionRequest,
)
from claude_actors.testing import UseTool, WaitFor, reply
from claude_actors.testing.conformance.raising import raised
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.conformance.talk import PATIENCE, Talk

group = Group("endings")


@group.scenario
def a_session_that_is_let_go_ends_by_itself(stage: Stage) -> None:
    stage.play("one")
    with stage.talk("go") as talk:
        talk.result()
        pid = the_pid(talk)
        talk.session.finish()
        assert talk.session.wait(PATIENCE) == SessionCompleted(0)
        assert not is_alive(pid)
        raised(SessionEnded, lambda: talk.session.send("too late"))
        raised(SessionEnded, talk.session.interrupt)


@group.scenario
def a_session_is_let_go_only_when_its_turn_is_over(stage: Stage) -> None:
    touch = UseTool("Bash", {"command": "touch a"}, result="")
    stage.play(reply(touch), "done")

    def allow(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        ctx.session.finish()
        return Allow()

    with stage.talk("go", can_use_tool=allow) as talk:
        assert talk.result().result == "done"
        assert isinstance(talk.session.wait(PATIENCE), SessionCompleted)


@group.scenario
def a_stop_in_a_turn_leaves_nothing_running_or_waiting(stage: Stage) -> None:
    stage.play(reply(WaitFor("never"), "unsaid"))
    with stage.talk() as talk:
        turn = talk.session.send("go")
        stage.wait_reached("never")
        pid = the_pid(talk)
        assert talk.session.stop(reason="enough") == SessionStopped("enough")
        assert not is_alive(pid)
        raised(SessionStoppedError, lambda: turn.result(PATIENCE))
        assert talk.session.stop() == SessionStopped("enough")
    assert talk.session.snapshot().pending_callbacks == 0


@group.scenario
def a_stop_tells_the_callbacks_that_still_run(stage: Stage) -> None:
    stage.play(reply(UseTool("Bash", {"command": "touch a"}, result="")))
    asked, told = threading.Event(), threading.Event()

    def wait(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        asked.set()
        if ctx.wait_cancelled(PATIENCE) and ctx.cancel_reason == "stopped":
            told.set()
        return Allow()

    with stage.talk("go", can_use_tool=wait) as talk:
        assert asked.wait(PATIENCE)
        talk.session.stop()
        assert told.wait(PATIENCE)


@group.scenario
def a_terminated_cli_is_a_crash_with_its_exit_code(stage: Stage) -> None:
    stage.play("one")
    with stage.talk("go") as talk:
        talk.result()
        os.kill(the_pid(talk), signal.SIGTERM)
        final = talk.session.wait(PATIENCE)
        assert isinstance(final, SessionFailed)
        assert isinstance(final.error, SessionCrashed)
        assert final.error.code == 143


@group.scenario
def a_killed_cli_fails_whoever_waits_for_it(stage: Stage) -> None:
    stage.play(reply(WaitFor("never"), "unsaid"))
    with stage.talk() as talk:
        turn = talk.session.send("go")
        stage.wait_reached("never")
        os.kill(the_pid(talk), signal.SIGKILL)
        assert raised(SessionCrashed, lambda: turn.result(PATIENCE)).signal == signal.SIGKILL
        assert raised(SessionCrashed, lambda: [*talk.session.messages()]).signal == signal.SIGKILL
        assert isinstance(talk.session.wait(PATIENCE), SessionFailed)
        assert talk.session.state == "failed"


def the_pid(talk: Talk) -> int:
    """Return the pid of a session that runs."""
    assert talk.session.pid is not None
    return talk.session.pid


def is_alive(pid: int) -> bool:
    """Tell whether the process is there; a dead one must have been reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
