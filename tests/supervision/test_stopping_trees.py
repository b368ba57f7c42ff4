"""Stopping a tree: from any thread, from inside, by pykka, with children that will not end, and with nothing left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pykka
import pytest
from pykka import ActorRegistry
from support.leaks import wait_until
from support.trees import DEADLINE, Journal, Worker, failing, worker, workers

from claude_actors import Backoff, ChildKilled, ChildSpec, SupervisionTimeout, Supervisor, SupervisorStopped, monitor
from claude_actors.actors.base import ReactorActor
from claude_actors.supervision.actor import SupervisorActor
from claude_actors.supervision.steps import TimePassed

QUICK = Backoff(first=0.001, jitter=0.0)


@pytest.fixture
def journal() -> Journal:
    return Journal()


def nest(journal: Journal) -> Supervisor:
    """A tree of three levels."""
    inner = Supervisor.spec("inner", workers("ef", journal), strategy="rest_for_one")
    middle = Supervisor.spec("middle", [*workers("c", journal), inner, *workers("g", journal)], strategy="one_for_all")
    return Supervisor([*workers("ab", journal), middle, *workers("h", journal)], backoff=QUICK)


REVERSE = [f"stop {id}" for id in "hgfecba"]


def test_a_whole_tree_stops_in_reverse_from_the_last_leaf_to_the_first(journal: Journal) -> None:
    with nest(journal):
        journal.wait_until(lambda lines: len(lines) == 7)
        del journal.lines[:]
    assert journal.lines == REVERSE


def test_stop_is_idempotent_and_every_thread_that_calls_it_waits_for_the_end(journal: Journal) -> None:
    tree = nest(journal).start()
    states: list[str] = []

    def stop() -> None:
        tree.stop()
        states.append(tree.state)

    threads = [threading.Thread(target=stop) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    tree.stop()
    assert states == ["ended"] * 8
    assert [line for line in journal.lines if line.startswith("stop")] == REVERSE


def leaf_of(tree: Supervisor) -> pykka.ActorRef[Any]:
    leaf: pykka.ActorRef[Any] = tree.child("middle").child("inner").child("e")
    return leaf


def test_a_child_deep_inside_may_stop_the_whole_tree_and_goes_on_to_the_end_of_its_message(journal: Journal) -> None:
    tree = nest(journal).start()

    def stop_everything() -> None:
        tree.stop()
        journal.write("e goes on")

    leaf_of(tree).tell(stop_everything)
    assert tree.wait(DEADLINE)
    assert journal.lines.index("e goes on") < journal.lines.index("stop e")
    assert [line for line in journal.lines if line.startswith("stop")] == REVERSE


@pytest.mark.parametrize("hook", ["on_stop", "on_failure"])
def test_a_child_may_stop_its_tree_while_it_ends_itself(journal: Journal, hook: str) -> None:
    tree = Supervisor()
    kind = type("Caller", (Worker,), {hook: lambda *_args: tree.stop()})
    tree = Supervisor([worker("a", journal, kind), *workers("b", journal)]).start()
    if hook == "on_stop":
        tree.child("a").stop(block=False)
    else:
        tree.child("a").tell(failing(ValueError()))
    assert tree.wait(DEADLINE)
    assert tree.reason is None


def test_a_start_function_may_stop_its_tree(journal: Journal) -> None:
    tree = Supervisor()

    def start() -> Any:
        tree.stop()
        return Worker.start("late", journal)

    tree = Supervisor([*workers("a", journal), ChildSpec("late", start)])
    with pytest.raises(SupervisorStopped):
        tree.start()
    journal.wait_for("stop late")


def test_a_runtime_actor_may_stop_its_tree_and_is_not_made_to_wait(journal: Journal) -> None:
    class Reacting(ReactorActor):
        def on_message(self, message: Callable[[], None]) -> None:
            message()

    tree = Supervisor([ChildSpec("r", Reacting.start), *workers("a", journal)]).start()
    tree.child("r").tell(tree.stop)
    assert tree.wait(DEADLINE)


def test_stop_all_of_pykka_ends_a_tree_cleanly(journal: Journal) -> None:
    tree = nest(journal).start()
    ActorRegistry.stop_all()
    assert tree.wait(DEADLINE)
    assert wait_until(lambda: not ActorRegistry.get_all())
    assert journal.lines.count("start a") == journal.lines.count("stop a")


def test_stop_all_without_blocking_ends_a_tree_too(journal: Journal) -> None:
    tree = nest(journal).start()
    ActorRegistry.stop_all(block=False)
    assert tree.wait(DEADLINE)
    assert wait_until(lambda: not ActorRegistry.get_all())


def test_a_broadcast_of_pykka_harms_no_supervisor(journal: Journal) -> None:
    with nest(journal) as tree:
        ActorRegistry.broadcast("hello everybody")
        assert tree.count_children().active == 4
        assert tree.child("middle").count_children().active == 3


def hold(gate: threading.Event, inside: threading.Event) -> Callable[[], None]:
    def wait() -> None:
        inside.set()
        gate.wait(DEADLINE)

    return wait


def test_a_child_that_does_not_end_in_time_is_abandoned_and_counted_and_the_others_still_stop(
    journal: Journal,
) -> None:
    gate, inside = threading.Event(), threading.Event()
    tree = Supervisor([worker("a", journal), worker("b", journal, shutdown=0.05), worker("c", journal)]).start()
    stuck = tree.child("b")
    down = monitor(stuck)
    stuck.tell(hold(gate, inside))
    stuck.tell(lambda: journal.write("the backlog was handled"))
    assert inside.wait(DEADLINE)
    tree.stop()
    assert [line for line in journal.lines if line.startswith("stop")] == ["stop c", "stop a"]
    assert tree.snapshot().abandoned == 1
    assert not stuck.is_alive()
    gate.set()
    assert isinstance(down.get(DEADLINE).reason, ChildKilled)
    assert wait_until(lambda: tree.snapshot().abandoned == 0)
    assert "the backlog was handled" not in journal.lines


def test_an_abandoned_child_is_replaced_when_its_group_is_restarted(journal: Journal) -> None:
    gate, inside = threading.Event(), threading.Event()
    children = [worker("a", journal), worker("b", journal, shutdown=0.05)]
    with Supervisor(children, strategy="one_for_all", backoff=QUICK) as tree:
        stuck = tree.child("b")
        stuck.tell(hold(gate, inside))
        assert inside.wait(DEADLINE)
        tree.child("a").tell(failing(ValueError()))
        journal.wait_for("start b", 2)
        assert wait_until(lambda: tree.count_children().active == 2)
        assert tree.child("b") is not stuck
        assert tree.snapshot().abandoned == 1
        gate.set()


def test_a_child_with_shutdown_kill_loses_its_backlog(journal: Journal) -> None:
    gate, inside = threading.Event(), threading.Event()
    with Supervisor([worker("a", journal, shutdown="kill")]) as tree:
        ref = tree.child("a")
        ref.tell(hold(gate, inside))
        for number in range(10):
            ref.tell(lambda number=number: journal.write(f"message {number}"))
        assert inside.wait(DEADLINE)
        tree.terminate_child("a")
        assert tree.which_children()[0].state == "stopped"
        # Another thread carries it out: an inbox may make it wait.
        assert wait_until(lambda: not ref.is_alive())
        gate.set()
    assert journal.lines == ["start a"]


def test_whoever_waits_for_a_stop_may_give_up_and_the_stop_goes_on(journal: Journal) -> None:
    gate, inside = threading.Event(), threading.Event()
    tree = Supervisor([worker("a", journal, shutdown=None)]).start()
    tree.child("a").tell(hold(gate, inside))
    assert inside.wait(DEADLINE)
    with pytest.raises(SupervisionTimeout, match="goes on"):
        tree.stop(timeout=0.01)
    assert tree.state == "stopping"
    assert [child.state for child in tree.which_children()] == ["stopping"]
    gate.set()
    assert tree.wait(DEADLINE)


def test_a_handle_that_will_not_stop_does_not_hold_up_the_tree(journal: Journal) -> None:
    class Stubborn:
        """Ignores its stop, and never says that it is over."""

        def __init__(self) -> None:
            self.timeouts: list[float | None] = []

        def stop(self, timeout: float | None = None) -> None:
            self.timeouts.append(timeout)
            raise TimeoutError

        def add_done_callback(self, _function: Callable[[object], object]) -> None:
            return

    handle = Stubborn()
    tree = Supervisor([*workers("a", journal), ChildSpec("h", lambda: handle, shutdown=0.05)]).start()
    tree.stop()
    assert wait_until(lambda: handle.timeouts == [0.05, 0])
    assert journal.lines[-1] == "stop a"
    assert tree.snapshot().abandoned == 1


def test_a_supervisor_that_fails_itself_stops_its_children_and_leaves_nobody_waiting(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    tree = Supervisor(workers("ab", journal)).start()
    errors: list[BaseException] = []

    def start_child() -> None:
        try:
            tree.start_child(ChildSpec("late", lambda: gate.wait(DEADLINE) and Worker.start("late", journal)))
        except SupervisorStopped as error:
            errors.append(error)

    waiting = threading.Thread(target=start_child)
    waiting.start()
    assert wait_until(lambda: tree.count_children().specs == 3)
    monkeypatch.setattr(SupervisorActor, "_step", failing(RuntimeError("a bug")))
    assert tree.actor_ref is not None
    tree.actor_ref.tell(TimePassed())
    assert tree.wait(DEADLINE)
    waiting.join(DEADLINE)
    assert len(errors) == 1
    journal.wait_for("stop a")
    journal.wait_for("stop b")
    gate.set()
    journal.wait_for("stop late")


def test_an_interrupted_start_stops_what_has_started(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Supervisor(workers("ab", journal))
    monkeypatch.setattr(type(tree._record.started), "value", failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        tree.start()
    assert tree.wait(DEADLINE)
    assert [line for line in journal.lines if line.startswith("stop")] == ["stop b", "stop a"]
