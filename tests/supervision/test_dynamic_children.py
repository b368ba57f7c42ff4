"""Children that come and go at run time, and starts that block: the supervisor answers whatever they do."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import pytest
from support.leaks import wait_until
from support.trees import DEADLINE, Journal, Worker, failing, in_thread, worker, workers

from claude_actors import (
    Backoff,
    ChildCounts,
    ChildExists,
    ChildNotFound,
    ChildNotStopped,
    ChildSpec,
    ChildStartFailed,
    NotRunning,
    NotSupported,
    SupervisionTimeout,
    Supervisor,
    SupervisorStopped,
    TooManyChildren,
    monitor,
)

QUICK = Backoff(first=0.001, jitter=0.0)


@pytest.fixture
def journal() -> Journal:
    return Journal()


class Gate:
    """A start function that blocks until it is let through."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.reached, self.open = threading.Event(), threading.Event()

    def __call__(self) -> Any:
        self.reached.set()
        assert self.open.wait(DEADLINE)
        return Worker.start("gated", self._journal)


def test_a_child_can_be_added_terminated_restarted_and_deleted(journal: Journal) -> None:
    with Supervisor(workers("a", journal)) as tree:
        ref = tree.start_child(worker("b", journal))
        assert tree.child("b") is ref
        assert ref.ask("hi", timeout=DEADLINE) == ("b", "hi")
        tree.terminate_child("b")
        assert journal.lines[-1] == "stop b"
        assert not ref.is_alive()
        again = tree.restart_child("b")
        assert again is not ref
        assert again.is_alive()
        tree.terminate_child("b")
        tree.delete_child("b")
        assert [child.id for child in tree.which_children()] == ["a"]


def test_which_children_and_count_children_tell_of_all_in_the_order_of_their_start(journal: Journal) -> None:
    children = [worker("a", journal), Supervisor.spec("s", []), worker("b", journal, restart="transient")]
    with Supervisor(children) as tree:
        tree.terminate_child("a")
        infos = tree.which_children()
        assert [(info.id, info.state, info.kind, info.restart) for info in infos] == [
            ("a", "stopped", "worker", "permanent"),
            ("s", "running", "supervisor", "permanent"),
            ("b", "running", "worker", "transient"),
        ]
        assert infos[0].child is None
        assert isinstance(infos[1].child, Supervisor)
        assert infos[2].child is tree.child("b")
        assert tree.count_children() == ChildCounts(specs=3, active=2, supervisors=1, workers=2)


def test_what_cannot_be_done_is_refused_by_a_typed_error_and_changes_nothing(journal: Journal) -> None:
    with Supervisor(workers("ab", journal), max_children=3) as tree:
        before = tree.which_children()
        with pytest.raises(ChildExists, match="running"):
            tree.start_child(worker("a", journal))
        with pytest.raises(ChildNotStopped, match="running"):
            tree.restart_child("a")
        with pytest.raises(ChildNotStopped, match="running"):
            tree.delete_child("a")
        for command in (tree.terminate_child, tree.restart_child, tree.delete_child, tree.child):
            with pytest.raises(ChildNotFound, match="'x'"):
                command("x")
        with pytest.raises(ChildStartFailed, match="no way"):
            tree.start_child(ChildSpec("c", failing(OSError("no way"))))
        assert tree.which_children() == before
        tree.start_child(worker("c", journal))
        with pytest.raises(TooManyChildren) as caught:
            tree.start_child(worker("d", journal))
        assert caught.value.limit == 3
    with pytest.raises(SupervisorStopped):
        tree.start_child(worker("e", journal))
    assert "start d" not in journal.lines
    assert "start e" not in journal.lines


def test_a_start_that_blocks_delays_neither_questions_nor_other_children(journal: Journal) -> None:
    gate = Gate(journal)
    with Supervisor(workers("ab", journal), backoff=QUICK) as tree:
        thread, outcome = in_thread(lambda: tree.start_child(ChildSpec("slow", gate)))
        assert gate.reached.wait(DEADLINE)
        assert tree.which_children()[-1].state == "starting"
        assert tree.count_children().active == 2
        assert tree.start_child(worker("c", journal)).is_alive()
        old = tree.child("a")
        old.tell(failing(ValueError()))
        journal.wait_for("start a", 2)
        tree.terminate_child("b")
        gate.open.set()
        thread.join(DEADLINE)
        assert outcome == [tree.child("slow")]


def test_whoever_waits_for_a_start_may_give_up_and_the_start_goes_on(journal: Journal) -> None:
    gate = Gate(journal)
    with Supervisor() as tree:
        with pytest.raises(SupervisionTimeout, match="'slow'"):
            tree.start_child(ChildSpec("slow", gate), timeout=0.01)
        gate.open.set()
        assert wait_until(lambda: tree.which_children()[0].state == "running")


@pytest.mark.parametrize("strategy", ["one_for_one", "one_for_all"])
def test_a_tree_whose_first_start_blocks_can_be_stopped_and_the_late_child_is_not_left_behind(
    journal: Journal, strategy: Any
) -> None:
    gate = Gate(journal)
    children = [*workers("a", journal), ChildSpec("slow", gate, shutdown=0.05), *workers("b", journal)]
    tree = Supervisor(children, strategy=strategy)
    thread, outcome = in_thread(tree.start)
    assert gate.reached.wait(DEADLINE)
    assert [child.state for child in tree.which_children()] == ["running", "starting", "starting"]
    tree.stop()
    thread.join(DEADLINE)
    assert isinstance(outcome[0], SupervisorStopped)
    assert "start b" not in journal.lines
    gate.open.set()
    journal.wait_for("stop gated")


def test_a_blocked_start_in_a_nested_tree_does_not_keep_the_outer_tree_from_stopping(journal: Journal) -> None:
    gate = Gate(journal)
    nested = Supervisor.spec("nested", [*workers("n", journal), ChildSpec("slow", gate, shutdown=0.05)])
    tree = Supervisor([*workers("a", journal), nested])
    thread, outcome = in_thread(tree.start)
    assert gate.reached.wait(DEADLINE)
    tree.stop(timeout=DEADLINE)
    thread.join(DEADLINE)
    assert isinstance(outcome[0], SupervisorStopped)
    assert [line for line in journal.lines if line.startswith("stop")] == ["stop n", "stop a"]
    gate.open.set()
    journal.wait_for("stop gated")


def test_a_start_that_is_abandoned_by_a_terminate_is_stopped_when_it_returns(journal: Journal) -> None:
    gate = Gate(journal)
    with Supervisor() as tree:
        thread, outcome = in_thread(lambda: tree.start_child(ChildSpec("slow", gate, shutdown="kill")))
        assert gate.reached.wait(DEADLINE)
        tree.terminate_child("slow")
        thread.join(DEADLINE)
        assert isinstance(outcome[0], ChildStartFailed)
        gate.open.set()
        journal.wait_for("stop gated")
        assert tree.which_children() == ()


def test_a_start_function_that_waits_for_its_own_supervisor_is_refused_instead_of_waiting_for_ever(
    journal: Journal,
) -> None:
    refusals: list[BaseException] = []
    tree = Supervisor(strategy="one_for_all")

    def start() -> Any:
        for wait in (lambda: tree.start_child(worker("x", journal)), lambda: tree.terminate_child("a")):
            try:
                wait()
            except NotSupported as error:
                refusals.append(error)
        assert tree.which_children()[0].id == "a"
        return Worker.start("a", journal)

    with tree:
        tree.start_child(ChildSpec("a", start))
    assert len(refusals) == 2


def test_whoever_waits_for_a_child_gets_its_next_incarnation_or_hears_that_there_will_be_none(journal: Journal) -> None:
    with Supervisor(workers("ab", journal), backoff=QUICK) as tree:
        old = tree.child("a", timeout=None)
        old.tell(failing(ValueError()))
        monitor(old).get(DEADLINE)
        assert tree.child("a", timeout=DEADLINE).ask("hi", timeout=DEADLINE) == ("a", "hi")
        tree.terminate_child("a")
        with pytest.raises(NotRunning, match="stopped"):
            tree.child("a", timeout=0.01)
        with pytest.raises(ChildNotFound):
            tree.child("x", timeout=DEADLINE)
        thread, outcome = in_thread(lambda: tree.child("a", timeout=None))
        assert wait_until(lambda: len(tree._record._waiting) == 1)
        restarted = tree.restart_child("a")
        thread.join(DEADLINE)
        assert outcome == [restarted]
        tree.terminate_child("a")
        thread, outcome = in_thread(lambda: tree.child("a", timeout=None))
        assert wait_until(lambda: len(tree._record._waiting) == 1)
    thread.join(DEADLINE)
    assert isinstance(outcome[0], NotRunning)


def test_many_children_start_and_end_beside_each_other(journal: Journal) -> None:
    barrier = threading.Barrier(16)

    def start() -> Any:
        # Passes only if all sixteen starts run at the same time.
        barrier.wait(DEADLINE)
        return Worker.start("w", journal)

    with Supervisor() as tree:
        threads = [in_thread(partial(tree.start_child, ChildSpec(str(id), start))) for id in range(16)]
        for thread, outcome in threads:
            thread.join(DEADLINE)
            assert not isinstance(outcome[0], BaseException)
        assert tree.count_children().active == 16
    assert journal.lines.count("stop w") == 16


def test_a_child_may_change_its_own_tree(journal: Journal) -> None:
    with Supervisor(workers("a", journal)) as tree:
        ref = tree.child("a").ask(lambda: tree.start_child(worker("b", journal)), timeout=DEADLINE)
        assert ref is tree.child("b")
        tree.child("a").tell(lambda: tree.terminate_child("b"))
        journal.wait_for("stop b")
        tree.child("a").tell(lambda: tree.terminate_child("a"))
        journal.wait_for("stop a")
        assert wait_until(lambda: tree.count_children().active == 0)
