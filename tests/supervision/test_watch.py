"""Every way in which an actor can end is noticed, once, with its reason, and when its own cleaning up is done."""

from __future__ import annotations

import gc
import inspect
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pykka
import pytest
from pykka import ActorDeadError
from support.leaks import wait_until
from support.trees import DEADLINE, Journal, Worker, failing

from claude_actors import ActorGone, ChildKilled
from claude_actors.actors.base import ReactorActor
from claude_actors.actors.task_base import TaskActor
from claude_actors.supervision import watch as watch_module
from claude_actors.supervision.children import begin
from claude_actors.supervision.watch import Watch


class Ends:
    """A callback that remembers."""

    def __init__(self) -> None:
        self.reasons: list[BaseException | None] = []
        self._came = threading.Event()

    def __call__(self, reason: BaseException | None) -> None:
        self.reasons.append(reason)
        self._came.set()

    @property
    def came(self) -> bool:
        return self._came.is_set()

    def only(self) -> BaseException | None:
        assert self._came.wait(DEADLINE)
        assert len(self.reasons) == 1
        return self.reasons[0]


def watched(ref: pykka.ActorRef[Any]) -> Ends:
    ends = Ends()
    Watch(ref).when_ended(ends)
    return ends


@pytest.fixture
def journal() -> Journal:
    return Journal()


def test_an_exception_from_a_told_message_is_the_reason(journal: Journal) -> None:
    ref = Worker.start("a", journal)
    ends, error = watched(ref), ValueError("x")
    ref.tell(failing(error))
    assert ends.only() is error


def test_a_stop_is_a_normal_end_and_comes_after_on_stop(journal: Journal) -> None:
    gate = threading.Event()

    class Slow(Worker):
        def on_stop(self) -> None:
            gate.wait(DEADLINE)
            super().on_stop()

    ref = Slow.start("a", journal)
    ends = watched(ref)
    stopped = ref.stop(block=False)
    assert ref.actor_stopped.wait(DEADLINE)
    assert not ends.came
    gate.set()
    assert ends.only() is None
    assert journal.lines[-1] == "stop a"
    stopped.get(timeout=DEADLINE)


def test_a_failure_counts_as_ended_only_after_on_failure(journal: Journal) -> None:
    ref = Worker.start("a", journal)
    ends: list[list[str]] = []
    done = threading.Event()
    Watch(ref).when_ended(lambda _reason: ends.append([*journal.lines]))
    Watch(ref).when_ended(lambda _reason: done.set())
    ref.tell(failing(ValueError()))
    assert done.wait(DEADLINE)
    assert ends == [["start a", "fail a"]]


def test_a_cleanup_that_hangs_is_not_waited_for_for_ever(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    monkeypatch.setattr(watch_module, "CLEANUP_SECONDS", 0.01)

    class Stuck(Worker):
        def on_stop(self) -> None:
            gate.wait(DEADLINE)

    ref = Stuck.start("a", journal)
    ends = watched(ref)
    ref.stop(block=False)
    assert ends.only() is None
    gate.set()


def test_an_exception_in_on_start_is_the_reason_if_the_watch_was_there_first() -> None:
    class Stillborn(pykka.ThreadingActor):
        def on_start(self) -> None:
            raise OSError("no")

    ends = Ends()
    child = begin(Stillborn.start)
    assert child is not None
    child.when_ended(ends)
    reason = ends.only()
    assert isinstance(reason, OSError)
    assert not child.target.is_alive()


def test_an_exception_in_on_start_that_nobody_saw_is_a_failure_without_a_known_reason() -> None:
    class Stillborn(pykka.ThreadingActor):
        def on_start(self) -> None:
            raise OSError("no")

    ref = Stillborn.start()
    assert ref.actor_stopped.wait(DEADLINE)
    assert isinstance(watched(ref).only(), ActorGone)


def test_the_reason_of_an_end_that_was_seen_is_known_to_who_comes_later(journal: Journal) -> None:
    ref = Worker.start("a", journal)
    ends, error = watched(ref), ValueError("x")
    ref.tell(failing(error))
    ends.only()
    assert watched(ref).only() is error


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_system_exit_is_the_reason_and_is_told_before_pykka_has_stopped_all_the_others(
    journal: Journal, error: BaseException
) -> None:
    gate = threading.Event()
    other = Worker.start("other", journal)
    ref = Worker.start("a", journal)
    ends = watched(ref)
    other.tell(lambda: gate.wait(DEADLINE))
    ref.tell(failing(error))
    assert ends.only() is error
    assert other.is_alive()
    gate.set()


@pytest.fixture
def quiet_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let threads die as in a program: pytest would keep what they raised, and so their actors."""
    monkeypatch.setattr(threading, "excepthook", lambda _args: None)
    before = threading.enumerate()
    yield
    for thread in {*threading.enumerate()} - {*before}:
        thread.join(DEADLINE)


def unseen(kind: type[pykka.Actor]) -> Callable[[], pykka.ActorRef[Any]]:
    """Give a start function that shows nothing of what it starts."""

    def start() -> pykka.ActorRef[Any]:
        return kind.start()

    return start


# Before 4.4.2 a ref keeps its actor, so that only a guarded thread is seen to die.
WEAK_REFS = pytest.mark.skipif(
    "_actor_weakref" not in inspect.getsource(pykka.ActorRef), reason="this pykka's refs keep their actors"
)


@pytest.mark.usefixtures("quiet_threads")
@pytest.mark.parametrize("guarded", [True, pytest.param(False, marks=WEAK_REFS)])
def test_a_thread_that_dies_under_its_actor_is_noticed_and_nobody_waits_for_it_any_more(guarded: bool) -> None:
    go = threading.Event()

    class Vanishing(pykka.ThreadingActor):
        def on_start(self) -> None:
            go.wait(DEADLINE)
            raise SystemExit

    ends = Ends()
    child = begin(Vanishing.start if guarded else unseen(Vanishing))
    assert child is not None
    child.when_ended(ends)
    ref = child.target
    answer = ref.ask("hello", block=False)
    go.set()
    assert isinstance(ends.only(), SystemExit if guarded else ActorGone)
    with pytest.raises(ActorDeadError):
        answer.get(timeout=DEADLINE)
    assert not ref.is_alive()
    assert ref not in pykka.ActorRegistry.get_all()


@pytest.mark.usefixtures("quiet_threads")
@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("method", ["on_stop", "on_failure"])
def test_system_exit_while_cleaning_up_is_an_end_like_another(
    method: str, guarded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Rude(pykka.ThreadingActor):
        def on_receive(self, message: Any) -> None:
            raise ValueError("x")

    def exits(*_args: object) -> None:
        raise SystemExit

    # Without a guard only the time tells.
    monkeypatch.setattr(watch_module, "CLEANUP_SECONDS", 0.05)
    kind: type[pykka.Actor] = type("Rude", (Rude,), {method: exits})
    ends = Ends()
    child = begin(kind.start if guarded else unseen(kind))
    assert child is not None
    child.when_ended(ends)
    ref = child.target
    if method == "on_stop":
        ref.stop(block=False)
        assert ends.only() is None
    else:
        ref.tell("go")
        assert isinstance(ends.only(), ValueError)


def test_an_exception_in_on_stop_changes_nothing_about_a_normal_end() -> None:
    class Messy(pykka.ThreadingActor):
        def on_stop(self) -> None:
            raise OSError("while cleaning up")

    ref = Messy.start()
    ends = watched(ref)
    ref.stop()
    assert ends.only() is None


def test_an_exception_from_an_asked_message_is_no_end(journal: Journal) -> None:
    ref = Worker.start("a", journal)
    ends = watched(ref)
    with pytest.raises(ValueError, match="x"):
        ref.ask(failing(ValueError("x")), timeout=DEADLINE)
    assert ref.ask("still here", timeout=DEADLINE) == ("a", "still here")
    assert not ends.came
    ref.stop()
    assert ends.only() is None


class Reacting(ReactorActor):
    def on_message(self, message: Callable[[Reacting], object]) -> None:
        message(self)


class Tasking(TaskActor):
    def on_message(self, message: Callable[[Tasking], object]) -> None:
        message(self)


@pytest.mark.parametrize("kind", [Reacting, Tasking])
def test_the_runtimes_own_actors_tell_their_reason_too(kind: type[pykka.Actor]) -> None:
    error = ValueError("x")
    ref: pykka.ActorRef[Any] = kind.start()
    ends = watched(ref)
    ref.tell(lambda _actor: failing(error)())
    assert ends.only() is error
    assert watched(ref).only() is error


def test_a_reactor_actor_that_finishes_with_a_reason_of_its_own_gives_that_one() -> None:
    error = ValueError("chosen")
    ref = Reacting.start()
    ends = watched(ref)
    ref.tell(lambda actor: actor.finish(error))
    assert ends.only() is error


@pytest.mark.parametrize("kind", [Reacting, Tasking])
def test_a_stop_of_the_runtimes_own_actors_is_a_normal_end(kind: type[pykka.Actor]) -> None:
    ref: pykka.ActorRef[Any] = kind.start()
    ends = watched(ref)
    ref.stop()
    assert ends.only() is None


def test_any_number_of_watches_on_one_actor_hear_of_its_end_once_each(journal: Journal) -> None:
    ref = Worker.start("a", journal)
    ends = [watched(ref) for _ in range(20)]
    error = ValueError("x")
    ref.tell(failing(error))
    assert [end.only() for end in ends] == [error] * 20


def test_a_cancelled_watch_hears_nothing_and_holds_nothing(journal: Journal) -> None:
    ref = Worker.start("a", journal)
    ends, watch = Ends(), Watch(ref)
    watch.when_ended(ends)
    watch.cancel()
    watch.cancel()
    marker = watched(ref)
    weak = weakref.ref(watch)
    del watch
    gc.collect()
    assert weak() is None
    ref.stop()
    marker.only()
    assert not ends.came


def test_watching_costs_no_thread_of_its_own(journal: Journal) -> None:
    refs = [Worker.start(str(number), journal) for number in range(10)]
    one = watched(refs[0])
    before = threading.active_count()
    ends = [watched(ref) for ref in refs for _ in range(10)]
    assert threading.active_count() == before
    for ref in refs:
        ref.stop()
    assert one.only() is None
    assert {end.only() for end in ends} == {None}


def test_threads_that_wait_for_the_event_are_still_woken(journal: Journal) -> None:
    ref = Worker.start("a", journal)
    woken = [threading.Thread(target=ref.actor_stopped.wait, args=(DEADLINE,)) for _ in range(3)]
    for thread in woken[:2]:
        thread.start()
    ends = watched(ref)
    woken[2].start()
    ref.stop()
    ends.only()
    for thread in woken:
        thread.join(DEADLINE)
        assert not thread.is_alive()


def test_no_end_is_missed_however_close_it_is_to_the_beginning_of_the_watch(journal: Journal) -> None:
    for _ in range(300):
        ref = Worker.start("a", journal)
        stopper = threading.Thread(target=ref.stop)
        stopper.start()
        ends = watched(ref)
        stopper.join(DEADLINE)
        assert ends.only() is None or isinstance(ends.reasons[0], ActorGone)


# --- killing ---


def test_a_killed_actor_handles_nothing_after_the_message_in_hand(journal: Journal) -> None:
    gate, inside = threading.Event(), threading.Event()
    ref = Worker.start("a", journal)
    watch, ends = Watch(ref), Ends()
    watch.when_ended(ends)
    monitor = watched(ref)

    def hold() -> None:
        inside.set()
        gate.wait(DEADLINE)

    ref.tell(hold)
    for number in range(100):
        ref.tell(lambda number=number: journal.write(str(number)))
    answer = ref.ask("last", block=False)
    assert inside.wait(DEADLINE)
    watch.kill()
    assert not ref.is_alive()
    assert ref not in pykka.ActorRegistry.get_all()
    gate.set()
    assert isinstance(ends.only(), ChildKilled)
    assert isinstance(monitor.only(), ChildKilled)
    assert journal.lines == ["start a"]
    with pytest.raises(ActorDeadError):
        answer.get(timeout=DEADLINE)


def test_a_killed_actor_that_was_idle_ends_at_once(journal: Journal) -> None:
    ref = Worker.start("a", journal)
    watch, ends = Watch(ref), Ends()
    watch.when_ended(ends)
    watch.kill()
    assert isinstance(ends.only(), ChildKilled)
    assert wait_until(lambda: not watch.lingers)


def test_killing_an_actor_of_the_runtime_is_stopping_it() -> None:
    ref = Reacting.start()
    watch, ends = Watch(ref), Ends()
    watch.when_ended(ends)
    watch.kill()
    ends.only()
    assert not ref.is_alive()
