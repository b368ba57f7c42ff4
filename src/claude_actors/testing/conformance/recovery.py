"""Scenarios: sessions that outlive their CLI."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

from claude_actors import (
    Allow,
    CallbackContext,
    Hooks,
    Message,
    ResultMessage,
    ResumeFailed,
    SessionCrashed,
    SessionFailed,
    SessionRestarted,
    StateChanged,
    ToolPermissionRequest,
    TurnSilent,
    TurnStalled,
    TurnUnanswered,
)
from claude_actors.hook_events import PreToolUse
from claude_actors.protocol.restarts import Backoff, RestartPolicy, UnansweredTurn
from claude_actors.testing import Reply, UseTool, WaitFor, reply
from claude_actors.testing.conformance.mcp_control import BROKEN, greeter, status
from claude_actors.testing.conformance.raising import raised
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.conformance.talk import PATIENCE, Talk

group = Group("recovery")
QUICK = Backoff(first=0.01, most=0.01)
HELD = reply(WaitFor("never"), "unsaid")


def policy(**changes: Any) -> RestartPolicy:
    """Make a policy that loses no time."""
    return RestartPolicy(**{"backoff": QUICK, **changes})


def kill_when_idle(talk: Talk) -> None:
    """Kill the CLI when it has said all that it has to say of a turn."""
    talk.until_event(StateChanged, lambda event: event.state == "idle")
    kill(talk)


def kill(talk: Talk) -> None:
    """Kill the CLI as the kernel would."""
    assert talk.session.pid is not None
    os.kill(talk.session.pid, signal.SIGKILL)


def kill_in_turn(stage: Stage, talk: Talk) -> None:
    """Kill the CLI when the model stands before the gate that never opens."""
    stage.wait_reached("never")
    kill(talk)


@group.scenario
def a_session_killed_in_a_turn_goes_on_with_its_conversation_and_hooks(stage: Stage) -> None:
    greet, touch = UseTool("mcp__mine__greet"), UseTool("Bash", {"command": "touch a"}, result="")
    stage.play("one", HELD, reply(touch), reply(greet), "three")
    called: list[str] = []
    hooks = Hooks()

    @hooks.pre_tool_use
    def note(event: PreToolUse, ctx: CallbackContext) -> None:
        called.append(f"hook {event.tool_name}")

    def allow(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        called.append(f"permission {request.tool_name}")
        return Allow()

    own: dict[str, Any] = {"hooks": hooks, "can_use_tool": allow, "mcp_servers": {"mine": greeter("mine")}}
    with stage.talk("first", restart=policy(), **own) as talk:
        assert talk.result().result == "one"
        before = talk.session.session_id
        lost = talk.session.send("second")
        kill_in_turn(stage, talk)
        assert raised(SessionCrashed, lambda: lost.result(PATIENCE)).signal == signal.SIGKILL
        restarted = talk.until_event(SessionRestarted)
        assert (restarted.attempt, restarted.resumed) == (1, True)
        assert isinstance(restarted.reason, SessionCrashed)
        assert talk.ask("third").result == "three"
        assert talk.session.session_id == before
        assert called[0] == "hook Bash"
        assert "permission Bash" in called
        assert ("hello from mine", False) in talk.tool_results
    (unanswered,) = talk.saw(TurnUnanswered)
    assert (unanswered.uuid, unanswered.started, unanswered.resent_as) == (lost.uuid, True, None)


@group.scenario
def who_reads_its_messages_does_not_notice_a_restart(stage: Stage) -> None:
    stage.play("one", HELD, "three")
    read: list[Message] = []
    failed: list[BaseException] = []
    talk = stage.talk("first", restart=policy())

    def consume() -> None:
        try:
            read.extend(talk.session.messages())
        except BaseException as error:
            failed.append(error)

    reader = threading.Thread(target=consume)
    reader.start()
    talk.session.send("second")
    kill_in_turn(stage, talk)
    talk.until_event(SessionRestarted)
    assert talk.session.send("third").result(PATIENCE).result == "three"
    talk.session.stop()
    reader.join(PATIENCE)
    assert failed == []
    assert [message.result for message in read if isinstance(message, ResultMessage)] == ["one", "three"]


@group.scenario
def a_prompt_without_a_result_is_asked_again_if_the_policy_says_so(stage: Stage) -> None:
    stage.play(HELD, "two")
    with stage.talk(restart=policy(unanswered="resend")) as talk:
        turn = talk.session.send("first")
        kill_in_turn(stage, talk)
        assert turn.result(PATIENCE).result == "two"
    (unanswered,) = talk.saw(TurnUnanswered)
    assert unanswered.resent_as == turn.uuid
    assert "first" in stage.told()[1]


@group.scenario
def a_function_can_decide_which_prompts_are_asked_again(stage: Stage) -> None:
    stage.play(HELD, "two")
    asked: list[UnansweredTurn] = []

    def decide(turn: UnansweredTurn) -> Any:
        asked.append(turn)
        return "report" if turn.started else "resend"

    with stage.talk(restart=policy(unanswered=decide)) as talk:
        first, second = talk.session.send("first"), talk.session.send("second")
        talk.session.control("get_settings")  # answered after both prompts were read
        kill_in_turn(stage, talk)
        raised(SessionCrashed, lambda: first.result(PATIENCE))
        assert second.result(PATIENCE).result == "two"
    assert [turn.started for turn in asked] == [True, False]


@group.scenario
def a_session_killed_between_turns_takes_the_next_prompt(stage: Stage) -> None:
    stage.play("one", "two")
    with stage.talk("first", restart=policy()) as talk:
        talk.result()
        kill_when_idle(talk)
        talk.until_event(SessionRestarted)
        assert talk.ask("second").result == "two"
    assert stage.exchanges() == [1, 2]


@group.scenario
def past_the_intensity_the_session_fails_and_tells_why(stage: Stage) -> None:
    stage.play("one", "two")
    with stage.talk("first", restart=policy(max_restarts=1, max_seconds=600.0)) as talk:
        talk.result()
        kill_when_idle(talk)
        talk.until_event(SessionRestarted)
        assert talk.ask("second").result == "two"
        kill_when_idle(talk)
        final = talk.session.wait(PATIENCE)
        assert isinstance(final, SessionFailed)
        assert isinstance(final.error, SessionCrashed)
        assert [type(error) for error in final.history] == [SessionCrashed]
        assert talk.session.snapshot().restarts == 1


@group.scenario
def a_conversation_that_is_lost_fails_the_session(stage: Stage) -> None:
    stage.play("one")
    with stage.talk("first", restart=policy()) as talk:
        talk.result()
        stage.forget_conversations()
        kill_when_idle(talk)
        final = talk.session.wait(PATIENCE)
        assert isinstance(final, SessionFailed)
        assert isinstance(final.error, ResumeFailed)
        assert [type(error) for error in final.history] == [SessionCrashed]


@group.scenario
def a_conversation_that_is_lost_begins_anew_if_the_policy_says_so(stage: Stage) -> None:
    stage.play(reply("one", when="first"), reply("two", when="second"))
    with stage.talk("first", restart=policy(on_resume_failure="fresh")) as talk:
        talk.result()
        before = talk.session.session_id
        stage.forget_conversations()
        kill_when_idle(talk)
        talk.until_event(SessionRestarted, lambda event: not event.resumed)
        assert talk.ask("second").result == "two"
        assert talk.session.session_id != before
    assert [event.resumed for event in talk.saw(SessionRestarted)] == [True, False]


@group.scenario
def what_was_set_at_run_time_holds_after_a_restart(stage: Stage) -> None:
    stage.play("one", reply(UseTool("mcp__late__greet")), "two", "three")
    with stage.talk("first", restart=policy(), allowed_tools=["mcp__late"]) as talk:
        talk.result()
        model = talk.session.set_model("sonnet")
        talk.session.set_permission_mode("acceptEdits")
        talk.session.set_mcp_servers({"late": greeter("late"), "broken": BROKEN})
        kill_when_idle(talk)
        talk.until_event(SessionRestarted)
        assert talk.ask("second").result == "two"
        assert (talk.inits[-1].model, talk.inits[-1].permission_mode) == (model, "acceptEdits")
        assert talk.tool_results == [("hello from late", False)]
        assert status(talk) == {"late": "connected", "broken": "failed"}
        assert sorted(talk.session.set_mcp_servers({}).removed) == ["broken", "late"]


@group.scenario
def a_silent_turn_is_told_and_left_alone(stage: Stage) -> None:
    stage.play(_late())
    with stage.talk("first", restart=policy(), stall_after=0.2) as talk:
        stage.wait_reached("later")
        assert talk.until_event(TurnStalled).silent_for >= 0.2
        stage.open("later")
        assert talk.result().result == "at last"
    assert talk.session.snapshot().restarts == 0


@group.scenario
def a_silent_turn_is_restarted_if_the_policy_says_so(stage: Stage) -> None:
    stage.play(HELD, "two")
    with stage.talk(restart=policy(on_stall="restart", unanswered="resend"), stall_after=2.0, eof_grace=0.1) as talk:
        turn = talk.session.send("first")
        assert isinstance(talk.until_event(SessionRestarted).reason, TurnSilent)
        assert turn.result(PATIENCE).result == "two"


def _late() -> Reply:
    return reply(WaitFor("later"), "at last")
