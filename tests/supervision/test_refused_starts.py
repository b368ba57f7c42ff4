"""Starts that meet a shortage, an end, or a place where nobody may wait: refused or undone, and nothing is left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pykka
import pytest
from pykka import ActorRegistry
from support.leaks import wait_until
from support.trees import DEADLINE, Journal, Thing, Worker, failing, in_thread, worker, workers

from claude_actors import (
    ChildSpec,
    ChildStartFailed,
    MailboxClosed,
    NotSupported,
    Supervisor,
    SupervisorStopped,
    monitor,
    whereis,
)
from claude_actors.actors.base import ReactorActor
from claude_actors.actors.task_pool import PoolExhausted, TaskPool
from claude_actors.supervision.actor import SupervisorActor
from claude_actors.supervision.steps import TimePassed


@pytest.fixture
def journal() -> Journal:
    return Journal()


def test_a_start_for_which_there_is_no_thread_fails_and_the_tree_can_still_be_stopped(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = TaskPool.run

    def crowded(pool: TaskPool, job: Callable[[], object], *, needed: bool = False) -> None:
        if not needed:
            raise PoolExhausted("all threads are busy")
        run(pool, job, needed=needed)

    with Supervisor(workers("a", journal)) as tree:
        monkeypatch.setattr(TaskPool, "run", crowded)
        with pytest.raises(ChildStartFailed, match="all threads are busy"):
            tree.start_child(worker("b", journal))
    assert journal.lines == ["start a", "stop a"]


def test_an_actor_whose_thread_cannot_start_is_a_start_that_failed_and_is_not_registered() -> None:
    class Threadless(pykka.ThreadingActor):
        def _start_actor_loop(self) -> None:
            raise RuntimeError("can't start new thread")

    with pytest.raises(ChildStartFailed, match="can't start new thread"):
        Supervisor([ChildSpec("a", Threadless.start)]).start()
    assert not ActorRegistry.get_by_class(Threadless)


def test_a_nested_tree_that_begins_to_start_when_nobody_wants_it_any_more_is_stopped_at_once(journal: Journal) -> None:
    gate, reached, outcome = threading.Event(), threading.Event(), []  # type: tuple[Any, Any, list[BaseException]]
    inner = threading.Event()

    def slow() -> Any:
        inner.wait(DEADLINE)
        return Worker.start("x", journal)

    def start() -> Supervisor:
        reached.set()
        gate.wait(DEADLINE)
        try:
            return Supervisor([ChildSpec("x", slow, shutdown="kill")]).start()
        except SupervisorStopped as error:
            outcome.append(error)
            raise

    with Supervisor() as tree:
        nested = ChildSpec("nested", start, kind="supervisor", shutdown="kill")
        opening, refused = in_thread(lambda: tree.start_child(nested))
        assert reached.wait(DEADLINE)
        tree.terminate_child("nested")
        opening.join(DEADLINE)
        assert isinstance(refused[0], ChildStartFailed)
        gate.set()
        assert wait_until(lambda: outcome)
        inner.set()
    journal.wait_for("stop x")


@pytest.mark.parametrize("named", [True, False])
def test_a_child_that_arrives_after_its_supervisor_has_failed_is_stopped_and_its_name_is_free(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    gate = threading.Event()
    tree = Supervisor().start()

    def start(something: bool) -> Any:
        gate.wait(DEADLINE)
        return Worker.start("late", journal) if something else None

    specs = [
        ChildSpec("late", lambda: start(True), name="late" if named else None),
        ChildSpec("none", lambda: start(False)),
    ]
    openings = [in_thread(partial(tree.start_child, spec)) for spec in specs]
    assert wait_until(lambda: tree.count_children().specs == 2)
    monkeypatch.setattr(SupervisorActor, "_step", failing(RuntimeError("a bug")))
    assert tree.actor_ref is not None
    tree.actor_ref.tell(TimePassed())
    for opening, outcome in openings:
        opening.join(DEADLINE)
        assert isinstance(outcome[0], SupervisorStopped)
    gate.set()
    journal.wait_for("stop late")
    assert whereis("late") is None


def test_the_runtimes_own_thread_may_look_at_a_tree_but_not_wait_for_it(journal: Journal) -> None:
    class Curious(ReactorActor):
        def on_message(self, message: Callable[[], Any]) -> Any:
            return message()

    with Supervisor([ChildSpec("c", Curious.start), *workers("a", journal)]) as tree:
        curious = tree.child("c")
        assert [child.id for child in curious.ask(tree.which_children, timeout=DEADLINE)] == ["c", "a"]
        assert len(curious.ask(tree.snapshot, timeout=DEADLINE).children) == 2
        for wait in (
            lambda: tree.terminate_child("a"),
            lambda: tree.child("a", timeout=1.0),
            Supervisor(workers("x", journal)).start,
        ):
            with pytest.raises(NotSupported, match="must not wait"):
                curious.ask(wait, timeout=DEADLINE)


def test_a_monitor_of_a_handle_can_be_cancelled() -> None:
    thing = Thing()
    watching = monitor(thing)
    watching.cancel()
    thing.end(ValueError())
    with pytest.raises(MailboxClosed):
        watching.get(0)
