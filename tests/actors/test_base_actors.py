"""ReactorActor: order, lanes, inline delivery, containment, and every way to end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar

import msgspec
import pykka
import pytest
from pykka import ActorDeadError, ActorRegistry
from support.leaks import wait_until

from claude_actors.actors.base import ActorEnded, ReactorActor, deliver_inline
from claude_actors.actors.inbox import MESSAGES_A_SLICE

DEADLINE = 30.0


class Halt(msgspec.Struct):
    urgent: ClassVar[bool] = True


class Endings:
    """A supervisor that remembers."""

    def __init__(self) -> None:
        self.reports: list[ActorEnded] = []
        self.came = threading.Event()

    def __call__(self, ended: ActorEnded) -> None:
        self.reports.append(ended)
        self.came.set()

    def only(self) -> ActorEnded:
        assert self.came.wait(DEADLINE)
        assert len(self.reports) == 1
        return self.reports[0]


class Recorder(ReactorActor):
    """Remembers what it was told and in which thread; calls what is callable; waits at a gate if told so."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seen: list[Any] = []
        self.threads: list[str] = []

    def on_message(self, message: Any) -> Any:
        if isinstance(message, threading.Event):
            assert message.wait(DEADLINE)
            return None
        self.seen.append(message)
        self.threads.append(threading.current_thread().name)
        return message() if callable(message) else list(self.seen)


def asked(ref: pykka.ActorRef[Any], message: object) -> Any:
    return ref.ask(message, timeout=DEADLINE)


def each(function: Callable[[Any], object], items: Iterable[Any]) -> threading.Thread:
    """Call it for each item in a thread of its own."""
    return threading.Thread(target=lambda: [*map(function, items)])


def together(*threads: threading.Thread) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def actor_of(ref: pykka.ActorRef[Any]) -> Any:
    return ref._actor_weakref()


def failing(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def test_messages_are_handled_in_the_order_in_which_each_sender_sent_them() -> None:
    ref = Recorder.start()
    together(*(each(ref.tell, [(name, number) for number in range(500)]) for name in "abc"))
    seen = asked(ref, "end")
    for name in "abc":
        assert [message for message in seen if message[0] == name] == [(name, number) for number in range(500)]
    ref.stop()


def test_an_urgent_message_overtakes_the_backlog() -> None:
    ref = Recorder.start()
    gate = threading.Event()
    ref.tell(gate)
    for number in range(1000):
        ref.tell(number)
    ref.tell(Halt())
    gate.set()
    assert isinstance(asked(ref, "end")[0], Halt)
    ref.stop()


def test_stop_overtakes_the_backlog_and_the_rest_is_counted_as_dead_letters() -> None:
    ref = Recorder.start()
    gate = threading.Event()
    ref.tell(gate)
    for number in range(1000):
        ref.tell(number)
    actor = actor_of(ref)
    stopped = ref.stop(block=False)
    gate.set()
    assert stopped.get(timeout=DEADLINE) is True
    assert actor.seen == []
    # The gate is the one more where the stop has overtaken that too.
    assert ref.actor_inbox.rejected in (1000, 1001)  # type: ignore[attr-defined]


def test_a_busy_actor_lets_others_run_between_its_slices() -> None:
    busy, other = Recorder.start(), Recorder.start()
    gate = threading.Event()
    seen_when_other_ran: list[int] = []
    busy.tell(gate)
    for number in range(MESSAGES_A_SLICE * 10):
        busy.tell(number)
    watched = actor_of(busy)
    other.tell(lambda: seen_when_other_ran.append(len(watched.seen)))
    gate.set()
    asked(busy, "end")
    # One slice that was running, and one that was queued before the other was told.
    assert seen_when_other_ran[0] <= 2 * MESSAGES_A_SLICE
    busy.stop()
    other.stop()


def test_inline_delivery_runs_the_actor_and_those_it_tells_in_the_callers_thread() -> None:
    second = Recorder.start()
    first = Recorder.start()
    asked(second, "started")
    asked(first, "started")
    deliver_inline(first, lambda: second.tell("from first"))
    me = threading.current_thread().name
    assert actor_of(first).threads == ["claude-actors-reactor", me]
    assert actor_of(second).threads == ["claude-actors-reactor", me]
    first.stop()
    second.stop()


def test_a_plain_tell_never_runs_the_actor_in_the_callers_thread() -> None:
    ref = Recorder.start()
    ref.tell("x")
    asked(ref, "y")
    assert set(actor_of(ref).threads) == {"claude-actors-reactor"}
    ref.stop()


def test_inline_delivery_to_an_actor_that_is_running_only_queues() -> None:
    ref = Recorder.start()
    gate, inside = threading.Event(), threading.Event()
    ref.tell(inside.set)
    ref.tell(gate)
    assert inside.wait(DEADLINE)
    deliver_inline(ref, "queued")
    assert actor_of(ref).seen == [inside.set]
    gate.set()
    asked(ref, "end")
    assert set(actor_of(ref).threads) == {"claude-actors-reactor"}
    ref.stop()


def test_an_actor_is_never_run_by_two_threads_at_once() -> None:
    class Lonely(ReactorActor):
        def __init__(self) -> None:
            super().__init__()
            self.inside = self.overlaps = self.handled = 0

        def on_message(self, _message: Any) -> int:
            self.inside += 1
            self.overlaps += self.inside > 1
            self.handled += 1
            threading.Event().wait(0)
            self.inside -= 1
            return self.handled

    ref = Lonely.start()
    inline = [each(partial(deliver_inline, ref), range(500)) for _ in range(4)]
    together(*inline, *(each(ref.tell, range(500)) for _ in range(2)))
    assert wait_until(lambda: actor_of(ref).handled == 3000)
    assert actor_of(ref).overlaps == 0
    ref.stop()


class Player(ReactorActor):
    def __init__(self) -> None:
        super().__init__()
        self.partner: pykka.ActorRef[Any] | None = None
        self.depths: list[int] = []

    def on_message(self, message: Any) -> None:
        if isinstance(message, pykka.ActorRef):
            self.partner = message
        elif isinstance(message, int) and message > 0:
            assert self.partner is not None
            deliver_inline(self.partner, message - 1)
        elif message == 0:
            self.done.set()

    done: ClassVar[threading.Event]


@pytest.mark.parametrize("inline", [True, False])
def test_actors_that_tell_each_other_ten_thousand_times_do_not_recurse(inline: bool) -> None:
    Player.done = threading.Event()
    ping, pong = Player.start(), Player.start()
    ping.tell(pong)
    pong.tell(ping)
    if inline:
        deliver_inline(ping, 10_000)
    else:
        ping.tell(10_000)
    assert Player.done.wait(DEADLINE)
    ping.stop()
    pong.stop()


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_whatever_a_message_raises_ends_only_that_actor_and_is_reported_once(error: BaseException) -> None:
    endings = Endings()
    other = Recorder.start()
    ref = Recorder.start(supervisor=endings)
    ref.tell(failing(error))
    ended = endings.only()
    assert ended.reason is error
    assert ended.ref is ref
    assert not ref.is_alive()
    assert asked(other, "still here") == ["still here"]
    assert ref.stop() is False
    assert len(endings.reports) == 1
    other.stop()


def test_an_exception_from_an_asked_message_goes_to_the_asker_and_the_actor_lives_on() -> None:
    ref = Recorder.start()
    with pytest.raises(ValueError, match="for you"):
        asked(ref, failing(ValueError("for you")))
    assert asked(ref, "alive")[-1] == "alive"
    ref.stop()


def test_system_exit_from_an_asked_message_ends_the_actor_and_not_the_asker() -> None:
    endings = Endings()
    ref = Recorder.start(supervisor=endings)
    with pytest.raises(ActorDeadError, match="SystemExit"):
        asked(ref, failing(SystemExit(1)))
    assert isinstance(endings.only().reason, SystemExit)


def test_a_failure_in_on_start_is_reported_and_what_was_sent_is_answered() -> None:
    class Stillborn(ReactorActor):
        def on_start(self) -> None:
            raise RuntimeError("no")

    endings = Endings()
    gate = threading.Event()
    blocker = Recorder.start()
    blocker.tell(gate)
    ref = Stillborn.start(supervisor=endings)
    answer = ref.ask("hello", block=False)
    gate.set()
    with pytest.raises(ActorDeadError):
        answer.get(timeout=DEADLINE)
    assert str(endings.only().reason) == "no"
    blocker.stop()


def test_cleaning_up_runs_once_at_every_kind_of_end_and_its_failure_changes_nothing() -> None:
    cleaned: list[BaseException | None] = []

    class Messy(Recorder):
        def on_end(self, reason: BaseException | None) -> None:
            cleaned.append(reason)
            raise OSError("while cleaning up")

    endings = Endings()
    ref = Messy.start(supervisor=endings)
    assert ref.stop() is True
    assert endings.only().reason is None
    crashing = Messy.start()
    crashing.tell(failing(KeyError("k")))
    assert crashing.actor_stopped.wait(DEADLINE)
    assert [type(reason) for reason in cleaned] == [type(None), KeyError]


def test_a_supervisor_that_is_an_actor_is_told_and_a_dead_one_is_no_harm() -> None:
    supervisor = Recorder.start()
    Recorder.start(supervisor=supervisor).stop()
    reports = asked(supervisor, "end")
    assert isinstance(reports[0], ActorEnded)
    late = Recorder.start(supervisor=supervisor)
    supervisor.stop()
    assert late.stop() is True


class Slow(Recorder):
    """Ends only when it is told "done"."""

    def stop_requested(self) -> None:
        self.seen.append("stopping")

    def on_message(self, message: Any) -> Any:
        if message == "done":
            self.finish()
        return super().on_message(message)


def test_stop_blocks_until_the_actor_says_that_it_has_finished() -> None:
    ref = Slow.start()
    stops = [ref.stop(block=False) for _ in range(3)]
    assert asked(ref, "still here") == ["stopping", "still here"]
    with pytest.raises(pykka.Timeout):
        stops[0].get(timeout=0.01)
    ref.tell("done")
    assert [stop.get(timeout=DEADLINE) for stop in stops] == [True, True, True]
    assert ref.stop() is False


def test_stop_all_blocks_until_every_actor_has_finished() -> None:
    ref = Slow.start()
    stopper = threading.Thread(target=ActorRegistry.stop_all)
    stopper.start()
    assert wait_until(lambda: actor_of(ref).seen == ["stopping"])
    assert stopper.is_alive()
    ref.tell("done")
    stopper.join(DEADLINE)
    assert not stopper.is_alive()


def ask_many(ref: pykka.ActorRef[Any], answers: list[pykka.Future[Any]]) -> None:
    answers.extend(ref.ask(number, block=False) for number in range(20))


def test_nothing_sent_while_an_actor_ends_is_left_without_an_answer() -> None:
    for _ in range(200):
        ref = Recorder.start()
        answers: list[pykka.Future[Any]] = []
        asker = threading.Thread(target=ask_many, args=(ref, answers))
        asker.start()
        ref.stop()
        asker.join()
        for answer in answers:
            try:
                answer.get(timeout=DEADLINE)
            except ActorDeadError:
                continue


def test_a_tell_after_the_end_raises_and_inline_delivery_does_too() -> None:
    ref = Recorder.start()
    ref.stop()
    with pytest.raises(ActorDeadError):
        ref.tell("late")
    with pytest.raises(ActorDeadError):
        deliver_inline(ref, "late")


def test_an_actor_that_nobody_holds_goes_on_living() -> None:
    done = threading.Event()
    urn = Recorder.start().actor_urn
    ref = ActorRegistry.get_by_urn(urn)
    assert ref is not None
    ref.tell(done.set)
    assert done.wait(DEADLINE)
    ref.stop()


def test_a_timer_tells_the_actor_and_a_cancelled_one_does_not() -> None:
    ref = Recorder.start()
    actor = actor_of(ref)
    actor.tell_after(0.01, "cancelled").cancel()
    actor.tell_after(0.02, "came")
    assert wait_until(lambda: actor.seen)
    assert actor.seen == ["came"]
    ref.stop()
