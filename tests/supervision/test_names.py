"""Names follow their children over restarts. Refs by name or place reach the present incarnation."""

from __future__ import annotations

from typing import Any

import pytest
from support.leaks import wait_until
from support.trees import DEADLINE, Journal, Thing, Worker, failing, worker, workers

from claude_actors import (
    Backoff,
    ChildNotFound,
    ChildSpec,
    ChildStartFailed,
    NamedRef,
    NameTaken,
    NotRunning,
    NotSupported,
    Supervisor,
    whereis,
)
from claude_actors.supervision import names

QUICK = Backoff(first=0.001, jitter=0.0)


@pytest.fixture
def journal() -> Journal:
    return Journal()


@pytest.fixture(autouse=True)
def frees_every_name() -> Any:
    yield
    assert wait_until(lambda: names() == ())


def test_a_name_is_bound_while_its_child_runs_and_bound_anew_after_a_restart(journal: Journal) -> None:
    with Supervisor(workers("a", journal, name="alpha"), backoff=QUICK) as tree:
        old = whereis("alpha")
        assert old is tree.child("a")
        assert names() == ("alpha",)
        old.tell(failing(ValueError()))
        assert wait_until(lambda: whereis("alpha") not in (None, old))
        tree.terminate_child("a")
        assert whereis("alpha") is None
        assert tree.restart_child("a") is whereis("alpha")
    assert whereis("alpha") is None


@pytest.mark.parametrize("by_name", [True, False])
def test_a_named_ref_reaches_whichever_incarnation_is_there(journal: Journal, by_name: bool) -> None:
    with Supervisor(workers("a", journal, name="alpha"), backoff=QUICK) as tree:
        ref = NamedRef("alpha") if by_name else tree.named("a")
        first = ref.current()
        assert ref.ask("hello", timeout=DEADLINE) == ("a", "hello")
        ref.tell(failing(ValueError()))
        journal.wait_for("start a", 2)
        assert wait_until(lambda: ref.is_alive() and ref.current() is not first)
        assert ref.ask("again", timeout=DEADLINE) == ("a", "again")
        ref.tell(lambda: journal.write("told"))
        journal.wait_for("told")
        tree.terminate_child("a")
        assert not ref.is_alive()
        for use in (ref.current, lambda: ref.tell("x"), lambda: ref.ask("x", timeout=DEADLINE)):
            with pytest.raises(NotRunning, match="nobody was told"):
                use()


def test_a_named_ref_says_that_its_child_has_just_died(journal: Journal) -> None:
    dead = Worker.start("a", journal)
    dead.stop()
    ref = NamedRef("a", lambda: dead)
    with pytest.raises(NotRunning, match="ending"):
        ref.tell("x")
    with pytest.raises(NotRunning, match="ending"):
        ref.ask("x", timeout=DEADLINE)
    assert repr(ref) == "<NamedRef 'a'>"


def test_the_error_of_a_child_that_restarts_says_so(journal: Journal) -> None:
    with Supervisor(workers("a", journal), backoff=Backoff(first=3600.0)) as tree:
        tree.child("a").tell(failing(ValueError()))
        assert wait_until(lambda: tree.which_children()[0].state == "restarting")
        with pytest.raises(NotRunning, match="restarting"):
            tree.named("a").tell("x")


def test_a_ref_to_a_place_that_is_not_there_raises() -> None:
    with Supervisor() as tree, pytest.raises(ChildNotFound):
        tree.named("nobody").current()


def test_a_name_belongs_to_one_running_child_and_the_second_is_stopped_again(journal: Journal) -> None:
    with Supervisor(workers("a", journal, name="alpha")) as tree:
        with pytest.raises(ChildStartFailed, match="'alpha' is taken") as caught:
            tree.start_child(worker("b", journal, name="alpha"))
        assert isinstance(caught.value.__cause__, NameTaken)
        journal.wait_for("stop b")
        assert whereis("alpha") is tree.child("a")


def test_a_supervisor_can_have_a_name_and_a_thing_that_is_no_actor_is_only_found(journal: Journal) -> None:
    thing = Thing()
    children = [Supervisor.spec("s", workers("a", journal), name="nested"), ChildSpec("t", lambda: thing, name="thing")]
    with Supervisor(children) as tree:
        assert whereis("nested") is tree.child("s")
        assert NamedRef("thing").current() is thing
        with pytest.raises(NotSupported, match="no actor"):
            NamedRef("thing").tell("x")
