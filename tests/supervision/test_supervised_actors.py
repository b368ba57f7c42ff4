"""Supervisors over real actors: every kind of death, orders of starts and stops, escalation through nested trees."""

from __future__ import annotations

import threading
from typing import Any

import pykka
import pytest
from support.leaks import wait_until
from support.trees import DEADLINE, Journal, Worker, failing, worker, workers

from claude_actors import (
    ActorGone,
    Backoff,
    ChildSpec,
    ChildStartFailed,
    Down,
    Mailbox,
    NotRunning,
    NotSupported,
    Supervisor,
    SupervisorStopped,
    TooManyRestarts,
    monitor,
)
from claude_actors.actors.base import ReactorActor
from claude_actors.actors.here import HERE
from claude_actors.supervision.specs import Strategy

QUICK = Backoff(first=0.001, jitter=0.0)


@pytest.fixture
def journal() -> Journal:
    return Journal()


def next_one(tree: Supervisor, id: str, old: Any) -> Any:
    """The child's next incarnation."""
    monitor(old).get(DEADLINE)
    return tree.child(id, timeout=DEADLINE)


def test_children_start_in_order_and_stop_in_reverse(journal: Journal) -> None:
    with Supervisor(workers("abc", journal)) as tree:
        assert repr(tree) == "<Supervisor running one_for_one 3>"
        assert tree.child("b").ask("hi", timeout=DEADLINE) == ("b", "hi")
        journal.wait_until(lambda lines: len(lines) == 3)
        del journal.lines[:]
    assert journal.lines == ["stop c", "stop b", "stop a"]
    assert tree.state == "ended"
    assert tree.reason is None
    assert [child.state for child in tree.which_children()] == ["stopped"] * 3


def test_a_start_begins_when_the_start_before_has_returned() -> None:
    order: list[str] = []

    def start(id: str) -> Any:
        order.append(f"{id} begins")
        ref = Worker.start(id, Journal())
        order.append(f"{id} returns")
        return ref

    with Supervisor([ChildSpec("a", lambda: start("a")), ChildSpec("b", lambda: start("b"))]):
        assert order == ["a begins", "a returns", "b begins", "b returns"]


def test_start_functions_run_neither_in_the_callers_thread_nor_in_one_that_runs_actors(journal: Journal) -> None:
    threads: list[threading.Thread] = []
    running_actors: list[bool] = []

    def start() -> Any:
        threads.append(threading.current_thread())
        running_actors.append(HERE.ready is not None or HERE.leads is not None)
        return Worker.start("a", journal)

    with Supervisor([ChildSpec("a", start)]):
        assert threads[0] is not threading.current_thread()
        assert running_actors == [False]


class Stillborn(Worker):
    """Fails in on_start the first time."""

    def on_start(self) -> None:
        first = "start " + self.id not in self.journal.lines
        super().on_start()
        if first:
            raise OSError("born bad")


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("y")])
def test_a_child_that_raises_is_started_again(journal: Journal, error: Exception) -> None:
    with Supervisor(workers("ab", journal), backoff=QUICK) as tree:
        old = tree.child("a")
        old.tell(failing(error))
        new = next_one(tree, "a", old)
        assert new.ask("back", timeout=DEADLINE) == ("a", "back")
        assert tree.child("b").is_alive()
        assert tree.snapshot().children[0].last_reason == f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("seen", [True, False])
def test_a_child_that_dies_in_on_start_is_started_again(journal: Journal, seen: bool) -> None:
    child = worker("a", journal, Stillborn, restart="transient")
    if not seen:
        child = ChildSpec("a", lambda: Stillborn.start("a", journal), restart="transient")
    with Supervisor([child], backoff=QUICK) as tree:
        journal.wait_for("start a", 2)
        assert tree.child("a", DEADLINE).ask("alive", timeout=DEADLINE) == ("a", "alive")


def test_a_permanent_child_that_is_stopped_by_somebody_is_started_again_and_a_transient_one_is_not(
    journal: Journal,
) -> None:
    children = [worker("p", journal), worker("t", journal, restart="transient")]
    with Supervisor(children, backoff=QUICK) as tree:
        permanent = tree.child("p")
        tree.child("t").stop()
        permanent.stop()
        next_one(tree, "p", permanent)
        assert wait_until(lambda: {c.id: c.state for c in tree.which_children()} == {"p": "running", "t": "stopped"})


def test_a_transient_child_whose_quick_and_normal_end_nobody_could_see_is_not_taken_for_a_failure(
    journal: Journal,
) -> None:
    class Brief(Worker):
        def on_start(self) -> None:
            super().on_start()
            self.stop()

    with Supervisor([worker("a", journal, Brief, restart="transient")], backoff=QUICK) as tree:
        journal.wait_for("stop a")
        assert wait_until(lambda: tree.which_children()[0].state == "stopped")
        assert tree.snapshot().restarts == 0


def test_a_temporary_child_that_fails_is_forgotten(journal: Journal) -> None:
    with Supervisor(workers("ab", journal, restart="temporary")) as tree:
        tree.child("a").tell(failing(ValueError()))
        assert wait_until(lambda: [child.id for child in tree.which_children()] == ["b"])


def test_system_exit_in_a_child_stops_all_actors_as_pykka_says_and_the_tree_with_them(journal: Journal) -> None:
    tree = Supervisor([*workers("ab", journal), Supervisor.spec("nested", workers("cd", journal))]).start()
    tree.child("a").tell(failing(SystemExit(1)))
    assert tree.wait(DEADLINE)
    assert wait_until(lambda: not pykka.ActorRegistry.get_all())


def test_a_runtime_actor_can_be_a_child(journal: Journal) -> None:
    class Quick(ReactorActor):
        def on_start(self) -> None:
            journal.write("start q")

        def on_message(self, message: Any) -> Any:
            return message() if callable(message) else message

    with Supervisor([ChildSpec("q", Quick.start)], backoff=QUICK) as tree:
        tree.child("q").tell(failing(ValueError("x")))
        journal.wait_for("start q", 2)
        assert tree.child("q", DEADLINE).ask("hi", timeout=DEADLINE) == "hi"


def test_a_proxy_may_be_what_a_start_returns(journal: Journal) -> None:
    with Supervisor([ChildSpec("a", lambda: Worker.start("a", journal).proxy())], backoff=QUICK) as tree:
        old = tree.child("a")
        assert old.id.get(timeout=DEADLINE) == "a"
        old.actor_ref.tell(failing(ValueError()))
        next_one(tree, "a", old)


@pytest.mark.parametrize(
    ("strategy", "stopped", "started"),
    [("one_for_one", [], ["b"]), ("one_for_all", ["d", "c", "a"], [*"abcd"]), ("rest_for_one", ["d", "c"], [*"bcd"])],
)
def test_the_strategy_decides_who_goes_with_a_child_that_fails(
    journal: Journal, strategy: Strategy, stopped: list[str], started: list[str]
) -> None:
    with Supervisor(workers("abcd", journal), strategy=strategy, backoff=QUICK) as tree:
        journal.wait_until(lambda lines: len(lines) == 4)
        del journal.lines[:]
        tree.child("b").tell(failing(ValueError()))
        expected = ["fail b", *(f"stop {id}" for id in stopped), *(f"start {id}" for id in started)]
        journal.wait_until(lambda lines: len(lines) == len(expected))
        assert journal.lines == expected


def test_a_first_start_that_fails_stops_the_earlier_ones_and_raises(journal: Journal) -> None:
    def broken() -> Any:
        raise OSError("no such thing")

    tree = Supervisor([*workers("ab", journal), ChildSpec("c", broken), *workers("d", journal)])
    with pytest.raises(ChildStartFailed, match="no such thing") as caught:
        tree.start()
    assert caught.value.id == "c"
    assert isinstance(caught.value.__cause__, OSError)
    assert [line for line in journal.lines if line.startswith("stop")] == ["stop b", "stop a"]
    assert "start d" not in journal.lines
    assert tree.state == "ended"
    assert isinstance(tree.reason, ChildStartFailed)


@pytest.mark.parametrize("returned", [3, object(), "ref"])
def test_a_start_that_returns_what_cannot_be_supervised_fails(returned: object) -> None:
    with pytest.raises(ChildStartFailed, match="cannot be supervised"):
        Supervisor([ChildSpec("a", lambda: returned)]).start()


def test_a_start_that_exits_is_a_start_that_failed() -> None:
    with pytest.raises(ChildStartFailed, match="SystemExit"):
        Supervisor([ChildSpec("a", failing(SystemExit(2)))]).start()


def test_a_child_with_nothing_to_run_is_stopped_and_can_be_restarted(journal: Journal) -> None:
    wanted = False

    def start() -> Any:
        return Worker.start("a", journal) if wanted else None

    with Supervisor([ChildSpec("a", start)]) as tree:
        assert tree.which_children()[0].state == "stopped"
        with pytest.raises(NotRunning):
            tree.child("a")
        wanted = True
        assert tree.restart_child("a").is_alive()


# --- escalation ---


def test_a_supervisor_that_gives_up_stops_its_children_and_ends_with_the_reason(journal: Journal) -> None:
    downs: Mailbox[Down] = Mailbox(overflow="fail")
    tree = Supervisor(workers("ab", journal), max_restarts=1, backoff=None).start()
    monitor(tree, downs)
    old = tree.child("a")
    old.tell(failing(ValueError("once")))
    next_one(tree, "a", old).tell(failing(ValueError("again")))
    assert tree.wait(DEADLINE)
    assert isinstance(tree.reason, TooManyRestarts)
    assert str(tree.reason.reason) == "again"
    assert journal.lines[-1] == "stop b"
    assert downs.get(DEADLINE) == Down(tree, tree.reason)
    tree.stop()
    with pytest.raises(SupervisorStopped, match="more than 1 restarts"):
        tree.restart_child("a")


class Hopeless(Worker):
    def on_start(self) -> None:
        super().on_start()
        raise OSError("never")


def test_giving_up_goes_up_the_tree_level_by_level(journal: Journal) -> None:
    inner = Supervisor.spec("inner", [worker("x", journal, Hopeless)], max_restarts=1, backoff=None)
    middle = Supervisor.spec("middle", [*workers("a", journal), inner], max_restarts=1, backoff=None)
    tree = Supervisor([*workers("r", journal), middle], max_restarts=1, backoff=None).start()
    assert tree.wait(DEADLINE)
    reasons: list[BaseException | None] = []
    reason: BaseException | None = tree.reason
    while isinstance(reason, TooManyRestarts):
        reasons.append(reason)
        reason = reason.reason
    assert [r.id for r in reasons if isinstance(r, TooManyRestarts)] == ["middle", "inner", "x"]
    assert isinstance(reason, OSError)
    # Two lives of each level: 2 x 2 x 2 starts of the worker, 2 x 1 of its uncle, one of the root's own.
    assert journal.lines.count("start x") == 8
    assert journal.lines.count("start a") == journal.lines.count("stop a") == 2
    assert journal.lines.count("start r") == 1


def test_a_nested_supervisor_that_gives_up_is_restarted_by_its_spec_with_all_its_children(journal: Journal) -> None:
    nested = Supervisor.spec("nested", workers("ab", journal), max_restarts=0, restart="transient")
    with Supervisor([nested], backoff=QUICK) as tree:
        old = tree.child("nested")
        old.child("a").tell(failing(ValueError()))
        new = next_one(tree, "nested", old)
        assert isinstance(old.reason, TooManyRestarts)
        assert new.child("b").ask("hi", timeout=DEADLINE) == ("b", "hi")
        assert journal.lines.count("stop b") == 1


def test_a_transient_supervisor_that_is_stopped_stays_down_and_a_temporary_one_that_gives_up_is_forgotten(
    journal: Journal,
) -> None:
    nested = [
        Supervisor.spec("transient", workers("a", journal), restart="transient"),
        Supervisor.spec("temporary", workers("b", journal), restart="temporary", max_restarts=0),
    ]
    with Supervisor(nested) as tree:
        tree.child("transient").stop()
        tree.child("temporary").child("b").tell(failing(ValueError()))
        assert wait_until(lambda: {c.id: c.state for c in tree.which_children()} == {"transient": "stopped"})


# --- the handle ---


def test_a_supervisor_is_started_once(journal: Journal) -> None:
    with Supervisor(workers("a", journal)) as tree, pytest.raises(NotSupported, match="once"):
        tree.start()


def test_an_unstarted_supervisor_can_be_looked_at_and_stopped_but_takes_no_child(journal: Journal) -> None:
    tree = Supervisor(workers("a", journal))
    assert tree.state == "new"
    assert tree.actor_ref is None
    assert [child.state for child in tree.which_children()] == ["starting"]
    with pytest.raises(NotRunning, match="not started"):
        tree.start_child(worker("b", journal))
    tree.stop()
    assert tree.wait(0)


def test_a_message_that_means_nothing_does_not_harm_a_supervisor(journal: Journal) -> None:
    with Supervisor(workers("a", journal)) as tree:
        assert tree.actor_ref is not None
        tree.actor_ref.tell("what is this")
        tree.actor_ref.tell(ActorGone())
        assert tree.count_children().active == 1
