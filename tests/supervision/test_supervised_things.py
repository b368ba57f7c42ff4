"""Children that are no actors: sessions on the fake CLI, and handles of a user's own."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from support.leaks import wait_until
from support.trees import DEADLINE, Journal, Thing, failing, workers

from claude_actors import (
    Backoff,
    ChildSpec,
    ChildStartFailed,
    CLINotFound,
    NamedRef,
    Options,
    Session,
    SessionCrashed,
    SessionFailed,
    SessionSnapshot,
    SessionStopped,
    Supervisor,
    monitor,
    start_session,
    whereis,
)
from claude_actors.testing import FakeCLI, script

QUICK = Backoff(first=0.001, jitter=0.0)


@pytest.fixture
def journal() -> Journal:
    return Journal()


class Outcome:
    """What a done callback may get: something with an error, or without."""

    def __init__(self, error: object) -> None:
        self.error = error


@pytest.mark.parametrize(
    ("outcome", "failed"),
    [
        (ValueError("x"), True),
        (Outcome(ValueError("x")), True),
        (Outcome(None), False),
        (Outcome("text"), False),
        (None, False),
        (42, False),
    ],
)
def test_an_outcome_is_a_failure_if_it_is_an_exception_or_has_one(outcome: object, failed: bool) -> None:
    things: list[Thing] = []

    def start() -> Thing:
        things.append(Thing())
        return things[-1]

    with Supervisor([ChildSpec("t", start, "transient")], backoff=QUICK) as tree:
        down = monitor(things[0])
        things[0].end(outcome)
        if failed:
            assert wait_until(lambda: len(things) == 2 and tree.count_children().active == 1)
            assert isinstance(down.get(0).reason, ValueError)
        else:
            assert wait_until(lambda: tree.which_children()[0].state == "stopped")
            assert down.get(0).reason is None


def test_an_end_before_the_supervisor_listens_is_not_missed() -> None:
    class Brief(Thing):
        def add_done_callback(self, function: Any) -> None:
            function(None)

    with Supervisor([ChildSpec("t", Brief, "temporary")]) as tree:
        assert wait_until(lambda: tree.which_children() == ())


def session(fake: FakeCLI, **fields: Any) -> ChildSpec:
    def start() -> Session:
        return start_session(None, fake.options(initialize_timeout=DEADLINE))

    return ChildSpec("session", start, **{"shutdown": DEADLINE} | fields)


def test_a_session_whose_cli_is_killed_is_started_again_as_a_new_one_under_the_same_name() -> None:
    with (
        FakeCLI(script("hello", "and again")) as fake,
        Supervisor([session(fake, name="claude")], backoff=QUICK) as tree,
    ):
        first: Session = tree.child("session")
        down = monitor(first)
        assert first.send("hi").result(DEADLINE).result == "hello"
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)
        reason = down.get(DEADLINE).reason
        assert isinstance(reason, SessionCrashed)
        assert reason.signal == signal.SIGKILL
        assert isinstance(first.final_event, SessionFailed)
        assert wait_until(lambda: whereis("claude") not in (None, first))
        second: Session = NamedRef("claude").current()
        assert second.send("hi").result(DEADLINE).is_error is False
    assert isinstance(second.final_event, SessionStopped)
    assert tree.reason is None


def test_a_session_in_a_group_goes_down_and_up_with_the_actors_that_use_it(journal: Journal) -> None:
    with FakeCLI(script("hello")) as fake:
        children = [*workers("a", journal), session(fake), *workers("b", journal)]
        with Supervisor(children, strategy="rest_for_one", backoff=QUICK) as tree:
            first = tree.child("session")
            tree.child("a").tell(failing(ValueError()))
            assert isinstance(monitor(first).get(DEADLINE).ref, Session)
            assert wait_until(lambda: tree.count_children().active == 3)
            assert tree.child("session") is not first
            assert isinstance(first.final_event, SessionStopped)
            assert journal.lines.count("start b") == 2


def test_a_session_that_completes_is_done_if_it_is_transient() -> None:
    with FakeCLI(script("hello")) as fake, Supervisor([session(fake, restart="transient")]) as tree:
        running: Session = tree.child("session")
        running.send("hi").result(DEADLINE)
        running.finish()
        assert wait_until(lambda: tree.which_children()[0].state == "stopped")
        assert tree.snapshot().restarts == 0


def test_a_session_shows_its_own_numbers_in_the_snapshot() -> None:
    with FakeCLI(script("hello")) as fake, Supervisor([session(fake)]) as tree:
        taken = tree.snapshot().children[0]
    assert isinstance(taken.detail, SessionSnapshot)
    assert taken.detail.state == "running"
    assert taken.mailbox is not None


def test_a_session_that_cannot_start_fails_the_tree_with_the_reason(journal: Journal) -> None:
    missing = ChildSpec("session", lambda: start_session(None, Options(cli_path="/nowhere/claude")))
    with pytest.raises(ChildStartFailed, match="/nowhere/claude") as caught:
        Supervisor([*workers("a", journal), missing]).start()
    assert isinstance(caught.value.__cause__, CLINotFound)
    assert journal.lines[-1] == "stop a"
