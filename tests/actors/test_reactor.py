"""The reactor: order, timers, containment, and its beginning and end."""

from __future__ import annotations

import os
import selectors
import sys
import threading
from collections.abc import Iterator
from functools import partial

import pytest
from support.leaks import wait_until

from claude_actors.actors.reactor import Reactor
from claude_actors.actors.timers import TimerHandle, TimerHeap

DEADLINE = 30.0


@pytest.fixture
def reactor() -> Iterator[Reactor]:
    reactor = Reactor.acquire()
    yield reactor
    reactor.release()


def run_in(reactor: Reactor) -> None:
    """Wait until the reactor has done all that was asked of it before."""
    passed = threading.Event()
    reactor.call_soon(passed.set)
    assert passed.wait(DEADLINE)


def test_functions_run_in_the_reactors_thread_in_the_order_of_the_calls(reactor: Reactor) -> None:
    seen: list[int] = []
    threads: set[str] = set()

    def note(number: int) -> None:
        seen.append(number)
        threads.add(threading.current_thread().name)

    for number in range(1000):
        reactor.call_soon(partial(note, number))
    run_in(reactor)
    assert seen == list(range(1000))
    assert threads == {"claude-actors-reactor"}


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3), KeyboardInterrupt()])
def test_a_function_that_raises_anything_does_not_end_the_reactor(reactor: Reactor, error: BaseException) -> None:
    def fail() -> None:
        raise error

    reactor.call_soon(fail)
    reactor.call_at(0.0, fail)
    run_in(reactor)
    run_in(reactor)


def test_timers_run_in_the_order_of_their_times_and_not_of_their_setting(reactor: Reactor) -> None:
    seen: list[str] = []
    done = threading.Event()
    start = reactor.now()
    reactor.call_at(start + 0.04, done.set)
    reactor.call_at(start + 0.03, lambda: seen.append("third"))
    reactor.call_at(start + 0.01, lambda: seen.append("first"))
    reactor.call_at(start + 0.02, lambda: seen.append("second"))
    assert done.wait(DEADLINE)
    assert seen == ["first", "second", "third"]
    assert reactor.now() >= start + 0.04


def test_an_earlier_timer_wakes_a_reactor_that_sleeps_for_a_later_one(reactor: Reactor) -> None:
    late = reactor.call_at(reactor.now() + 1000, lambda: None)
    run_in(reactor)
    done = threading.Event()
    reactor.call_at(reactor.now() + 0.01, done.set)
    assert done.wait(DEADLINE)
    late.cancel()


def test_a_cancelled_timer_never_runs(reactor: Reactor) -> None:
    seen: list[str] = []
    done = threading.Event()

    def set_and_cancel() -> None:
        # In the reactor's thread, so that the timer cannot fire before it is cancelled, however slow the machine.
        start = reactor.now()
        reactor.call_at(start + 0.01, lambda: seen.append("cancelled")).cancel()
        reactor.call_at(start + 0.02, done.set)

    reactor.call_soon(set_and_cancel)
    assert done.wait(DEADLINE)
    assert not seen


def test_cancelled_timers_are_thrown_away_long_before_their_time() -> None:
    timers = TimerHeap()
    for _ in range(10_000):
        handle = TimerHandle(1e9, lambda: None)
        timers.incoming.append(handle)
        handle.cancel()
        timers.next_deadline()
    assert len(timers) <= 64


def test_live_timers_survive_the_throwing_away_of_cancelled_ones() -> None:
    timers = TimerHeap()
    live = [TimerHandle(float(when), partial(int, when)) for when in range(500)]
    for handle in live:
        timers.incoming.append(handle)
        timers.incoming.extend(dead := [TimerHandle(0.0, lambda: None) for _ in range(3)])
        for timer in dead:
            timer.cancel()
    assert timers.next_deadline() == 0.0
    due = [timers.pop_due(1e9) for _ in range(500)]
    assert [function and function() for function in due] == list(range(500))
    assert timers.pop_due(1e9) is None


def test_a_readable_descriptor_calls_back_until_it_is_unregistered(reactor: Reactor) -> None:
    reading, writing = os.pipe()
    seen: list[bytes] = []
    done = threading.Event()

    def readable(_events: int) -> None:
        seen.append(os.read(reading, 1))
        if len(seen) == 3:
            reactor.unregister(reading)
            done.set()

    reactor.call_soon(lambda: reactor.register(reading, selectors.EVENT_READ, readable))
    os.write(writing, b"abcd")
    assert done.wait(DEADLINE)
    run_in(reactor)
    assert seen == [b"a", b"b", b"c"]
    os.close(reading)
    os.close(writing)


def test_a_descriptor_that_another_callback_has_closed_is_not_called_back_in_the_same_round(reactor: Reactor) -> None:
    pipes = [os.pipe(), os.pipe()]
    called: list[int] = []

    def close_both(fd: int, _events: int) -> None:
        called.append(fd)
        for reading, _writing in pipes:
            reactor.unregister(reading)

    def register() -> None:
        for reading, writing in pipes:
            reactor.register(reading, selectors.EVENT_READ, partial(close_both, reading))
            os.write(writing, b"x")

    reactor.call_soon(register)
    assert wait_until(lambda: called)
    run_in(reactor)
    assert len(called) == 1
    for reading, writing in pipes:
        os.close(reading)
        os.close(writing)


def test_blocking_work_runs_elsewhere_and_its_result_comes_back_to_the_reactor(reactor: Reactor) -> None:
    threads: list[str] = []
    done = threading.Event()

    def job() -> int:
        threads.append(threading.current_thread().name)
        return 42

    def finished(result: int) -> None:
        threads.append(threading.current_thread().name)
        assert result == 42
        done.set()

    reactor.call_soon(lambda: reactor.run_blocking(job, finished, lambda _error: None))
    assert done.wait(DEADLINE)
    assert threads == ["claude-actors-helper", "claude-actors-reactor"]


def test_blocking_work_that_fails_is_told_to_the_reactor(reactor: Reactor) -> None:
    failures: list[BaseException] = []
    done = threading.Event()

    def job() -> None:
        sys.exit(1)

    def failed(error: BaseException) -> None:
        failures.append(error)
        done.set()

    reactor.call_soon(lambda: reactor.run_blocking(job, lambda _result: None, failed))
    assert done.wait(DEADLINE)
    assert isinstance(failures[0], SystemExit)


def test_the_thread_ends_with_the_last_user_and_a_later_user_gets_a_new_one() -> None:
    first = Reactor.acquire()
    assert Reactor.acquire() is first
    first.release()
    run_in(first)
    first.release()
    second = Reactor.acquire()
    run_in(second)
    second.release()
    assert second is not first


def test_the_race_between_the_last_release_and_a_new_acquire_loses_no_work() -> None:
    failures: list[str] = []

    def use() -> None:
        for _ in range(200):
            reactor = Reactor.acquire()
            passed = threading.Event()
            reactor.call_soon(passed.set)
            if not passed.wait(DEADLINE):
                failures.append("lost")
            reactor.release()

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_an_idle_reactor_uses_no_cpu(reactor: Reactor) -> None:
    turns: list[int] = []
    run_once = reactor._run_once

    def counted_turn() -> None:
        turns.append(1)
        run_once()

    reactor._run_once = counted_turn  # type: ignore[method-assign]
    run_in(reactor)
    counted = len(turns)
    assert not wait_until(lambda: len(turns) > counted + 1, 0.3)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_forgets_the_reactor_and_can_have_its_own(reactor: Reactor) -> None:
    run_in(reactor)
    child = os.fork()
    if child == 0:
        try:
            # Told to the parent's reactor, which has no thread here: must neither hang nor raise.
            reactor.call_soon(lambda: None)
            mine = Reactor.acquire()
            run_in(mine)
            mine.release()
            os._exit(0 if mine is not reactor else 2)
        except BaseException:
            os._exit(1)
    _pid, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    run_in(reactor)


def test_a_reactor_serves_who_comes_a_moment_after_its_last_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reactor, "linger", 1000.0)
    first = Reactor.acquire()
    first.release()
    again = Reactor.acquire()
    assert again is first
    run_in(again)
    monkeypatch.setattr(Reactor, "linger", 0.0)
    again.release()
    other = Reactor.acquire()
    assert other is not first
    other.release()


def test_a_reactor_that_nobody_comes_to_ends_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reactor, "linger", 0.02)
    first = Reactor.acquire()
    first.release()
    # Used in between: the first moment must not end the second one early.
    Reactor.acquire().release()
    assert wait_until(lambda: "claude-actors-reactor" not in {thread.name for thread in threading.enumerate()})
