"""Scenarios: going on with an earlier conversation."""

from __future__ import annotations

import os
import signal

from claude_actors import InitMessage, SessionCrashed, SessionFailed
from claude_actors.testing import WaitFor, reply
from claude_actors.testing.conformance.raising import raised
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.conformance.talk import PATIENCE, Talk

group = Group("resume")
CHOSEN = "123e4567-e89b-42d3-a456-426614174000"


def first_conversation(stage: Stage) -> str:
    """Have a conversation of one turn, let it end by itself, and return its id."""
    with stage.talk("first") as talk:
        assert talk.result().result == "one"
        talk.session.finish()
        talk.session.wait(PATIENCE)
        return session_id(talk)


def session_id(talk: Talk) -> str:
    """Return the id, which is known from the first init on."""
    assert talk.session.session_id is not None
    return talk.session.session_id


@group.scenario
def after_a_clean_end_the_conversation_goes_on(stage: Stage) -> None:
    stage.play("one", "two")
    first = first_conversation(stage)
    with stage.talk(resume=first) as talk:
        assert talk.ask("second").result == "two"
        assert session_id(talk) == first
    assert stage.exchanges() == [1, 2]


@group.scenario
def after_a_kill_in_a_turn_the_conversation_goes_on(stage: Stage) -> None:
    stage.play("one", reply(WaitFor("never"), "unsaid"), "two")
    with stage.talk("first") as talk:
        talk.result()
        turn = talk.session.send("second")
        stage.wait_reached("never")
        assert talk.session.pid is not None
        os.kill(talk.session.pid, signal.SIGKILL)
        crashed = raised(SessionCrashed, lambda: turn.result(PATIENCE))
        assert crashed.signal == signal.SIGKILL
        final = talk.session.wait(PATIENCE)
        assert isinstance(final, SessionFailed)
        first = session_id(talk)
    with stage.talk(resume=first) as talk:
        assert talk.ask("third").result == "two"
        assert session_id(talk) == first


@group.scenario
def a_fork_goes_on_under_an_id_of_its_own(stage: Stage) -> None:
    stage.play("one", reply("two", when="second"), reply("three", when="third"))
    first = first_conversation(stage)
    with stage.talk(resume=first, fork_session=True) as talk:
        assert talk.ask("second").result == "two"
        assert session_id(talk) != first
    with stage.talk(resume=first) as talk:
        talk.ask("third")
        assert session_id(talk) == first
    assert stage.exchanges() == [1, 2, 2]


@group.scenario
def the_latest_conversation_of_a_directory_can_be_continued(stage: Stage) -> None:
    stage.play("one", "two")
    first = first_conversation(stage)
    with stage.talk(continue_conversation=True) as talk:
        assert talk.ask("second").result == "two"
        assert session_id(talk) == first


@group.scenario
def the_id_of_a_new_conversation_can_be_chosen(stage: Stage) -> None:
    stage.play("one")
    with stage.talk("first", session_id=CHOSEN) as talk:
        talk.result()
        assert session_id(talk) == CHOSEN


@group.scenario
def clearing_begins_a_new_conversation_in_the_same_session(stage: Stage) -> None:
    stage.play("one", "two")
    with stage.talk("first") as talk:
        talk.result()
        first = session_id(talk)
        assert not talk.ask("/clear").is_error
        assert talk.ask("second").result == "two"
        assert session_id(talk) == talk.all(InitMessage)[-1].session_id != first
    assert stage.exchanges() == [1, 1]
