"""`stop()` in every state of a session, and on a CLI that hears nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.live import DEADLINE

from claude_actors import LifecycleChanged, MailboxClosed, Session, SessionStopped, SessionStoppedError, start_session
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import CloseStdout, Flood, Hang, IgnoreEof, IgnoreTerm, StopReading, VersionAnswer
from claude_actors.testing.script import WaitFor, reply, script

STOPPED = SessionStopped("stop requested")
GRACES: dict[str, Any] = {"eof_grace": 0.2, "term_grace": 0.2, "kill_grace": 5.0}


def while_preparing(cli: FakeCLI) -> Session:
    cli.play(script(version=VersionAnswer(until="never")))
    return start_session("hi", cli.options(), wait=False)


def while_initializing(cli: FakeCLI) -> Session:
    cli.play(script(on_initialize=(WaitFor("here"),)))
    return reached(cli, start_session("hi", cli.options(), wait=False))


def while_idle(cli: FakeCLI) -> Session:
    cli.play(script())
    return start_session(None, cli.options())


def within_a_turn(cli: FakeCLI) -> Session:
    cli.play(script(reply("hello", WaitFor("here"))))
    return reached(cli, start_session("hi", cli.options()))


def within_a_flood(cli: FakeCLI) -> Session:
    cli.play(script(reply(WaitFor("here"), Flood(10_000_000))))
    session = reached(cli, start_session("hi", cli.options()))
    cli.gates.open("here")
    session.messages().get(DEADLINE)
    return session


def while_it_reads_nothing(cli: FakeCLI) -> Session:
    cli.play(script(reply(StopReading(), WaitFor("here"))))
    session = reached(cli, start_session("hi", cli.options(**GRACES)))
    for _ in range(20):
        session.send("x" * 1_000_000)
    return session


def while_it_hangs(cli: FakeCLI) -> Session:
    cli.play(script(reply(IgnoreTerm(), WaitFor("here"), Hang())))
    session = reached(cli, start_session("hi", cli.options(**GRACES)))
    cli.gates.open("here")
    return session


def while_it_ignores_eof_and_term(cli: FakeCLI) -> Session:
    cli.play(script(reply(IgnoreTerm(), IgnoreEof(), WaitFor("here"))))
    return reached(cli, start_session("hi", cli.options(**GRACES)))


def without_its_output(cli: FakeCLI) -> Session:
    cli.play(script(reply(CloseStdout(), WaitFor("here"))))
    return reached(cli, start_session("hi", cli.options(**GRACES)))


def reached(cli: FakeCLI, session: Session) -> Session:
    cli.gates.wait_reached("here")
    return session


STATES = [
    while_preparing,
    while_initializing,
    while_idle,
    within_a_turn,
    within_a_flood,
    while_it_reads_nothing,
    while_it_hangs,
    while_it_ignores_eof_and_term,
    without_its_output,
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_a_stop_ends_a_session_in_every_state(state: Callable[[FakeCLI], Session]) -> None:
    with FakeCLI() as cli:
        session = state(cli)
        turn = session.last_turn
        # Without a timeout of ours: its own deadlines are what ends it.
        assert session.stop() == STOPPED
        assert session.state == "stopped"
        if turn is not None:
            with pytest.raises(SessionStoppedError):
                turn.result(0)
        events = list(session.events())
        assert events[-1] == STOPPED
        assert [event.state for event in events if isinstance(event, LifecycleChanged)][-1:] == ["stopped"]
        session.messages().discard()
        with pytest.raises(MailboxClosed):
            session.messages().get(0)
