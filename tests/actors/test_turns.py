"""The lead of the reactor: passed on before anything runs that may block, kept where nobody could take it."""

from __future__ import annotations

import os
import selectors
import threading
from collections.abc import Iterator

import pytest
from support.leaks import wait_until

from claude_actors.actors.here import HERE
from claude_actors.actors.reactor import Reactor
from claude_actors.actors.task_pool import TaskPool
from claude_actors.actors.turns import Turns

DEADLINE = 30.0


@pytest.fixture
def reactor() -> Iterator[Reactor]:
    reactor = Reactor.acquire()
    yield reactor
    reactor.release()


class Errand:
    """Something that the leader runs itself, and that blocks until it is let go."""

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._go_on = threading.Event()
        self.begun = threading.Event()
        self.ended = threading.Event()
        self.taken: bool | None = None
        self.leader: threading.Thread | None = None
        self.runner: threading.Thread | None = None
        self.led: bool | None = None
        self.guards: list[threading.Thread] = []

    def send(self) -> None:
        """Have whoever leads take the errand; wait until it is asked."""
        asked = threading.Event()

        def take() -> None:
            self.leader = threading.current_thread()
            self.taken = self._reactor.take_errand(self._run, self._guard)
            asked.set()

        self._reactor.call_soon(take)
        assert asked.wait(DEADLINE)

    def begin(self) -> None:
        """Send it, and wait until it runs."""
        self.send()
        assert self.taken
        assert self.begun.wait(DEADLINE)

    def end(self) -> None:
        """Let it return."""
        self._go_on.set()
        assert self.ended.wait(DEADLINE)

    def _guard(self) -> None:
        self.guards.append(threading.current_thread())

    def _run(self) -> None:
        self.runner, self.led = threading.current_thread(), HERE.leads is not None or HERE.ready is not None
        self.begun.set()
        self._go_on.wait(4 * DEADLINE)
        self.ended.set()


def leader_of(reactor: Reactor) -> threading.Thread:
    """Ask the reactor which thread leads it."""
    found: list[threading.Thread] = []
    answered = threading.Event()

    def tell() -> None:
        found.append(threading.current_thread())
        answered.set()

    reactor.call_soon(tell)
    assert answered.wait(DEADLINE)
    return found[0]


def test_an_errand_runs_in_the_thread_that_led_while_another_leads(reactor: Reactor) -> None:
    errand = Errand(reactor)
    errand.begin()
    assert errand.runner is errand.leader
    assert errand.led is False
    assert leader_of(reactor) is not errand.runner
    errand.end()


def test_whoever_leads_next_begins_with_the_guard_of_the_errand_that_was_taken(reactor: Reactor) -> None:
    errand, refused = Errand(reactor), Errand(reactor)
    errand.begin()
    other = leader_of(reactor)
    refused.send()
    assert leader_of(reactor) is other
    assert errand.guards == [other]
    assert refused.guards == []
    errand.end()


def test_timers_and_descriptors_are_served_while_an_errand_blocks(reactor: Reactor) -> None:
    errand, due, readable = Errand(reactor), threading.Event(), threading.Event()
    reading, writing = os.pipe()

    def read(_events: int) -> None:
        os.read(reading, 1)
        reactor.unregister(reading)
        readable.set()

    errand.begin()
    reactor.call_at(reactor.now(), due.set)
    reactor.call_soon(lambda: reactor.register(reading, selectors.EVENT_READ, read))
    os.write(writing, b"x")
    assert due.wait(DEADLINE)
    assert readable.wait(DEADLINE)
    errand.end()
    os.close(reading)
    os.close(writing)


def test_what_else_was_ready_is_served_by_whoever_leads_next(reactor: Reactor) -> None:
    pipes = [os.pipe() for _ in range(3)]
    errands = [Errand(reactor) for _ in pipes]
    served = threading.Semaphore(0)

    def readable(number: int) -> None:
        os.read(pipes[number][0], 1)
        reactor.unregister(pipes[number][0])
        errands[number].taken = reactor.take_errand(errands[number]._run, lambda: None)
        served.release()

    def register_all() -> None:
        for number, (reading, writing) in enumerate(pipes):
            os.write(writing, b"x")
            reactor.register(reading, selectors.EVENT_READ, lambda _events, number=number: readable(number))  # type: ignore[misc]

    reactor.call_soon(register_all)
    for _ in pipes:
        assert served.acquire(timeout=DEADLINE)
    # One is away with the first; the other leads and must not leave too.
    assert [errand.taken for errand in errands] == [True, False, False]
    errands[0].end()
    for pair in pipes:
        for fd in pair:
            os.close(fd)


def test_the_lead_stays_while_the_other_thread_is_away_and_moves_again_when_it_is_back(reactor: Reactor) -> None:
    first, second, third = Errand(reactor), Errand(reactor), Errand(reactor)
    first.begin()
    second.send()
    assert second.taken is False
    first.end()

    def begins() -> bool:
        third.send()
        return third.taken is True

    assert wait_until(begins)
    assert third.begun.wait(DEADLINE)
    assert third.runner is not first.runner
    third.end()


def test_jobs_of_the_pool_that_block_never_hold_up_the_reactor(reactor: Reactor) -> None:
    pool, go_on, begun = TaskPool.acquire(), threading.Event(), threading.Semaphore(0)

    def block() -> None:
        begun.release()
        go_on.wait(4 * DEADLINE)

    for _ in range(10):
        reactor.call_soon(lambda: pool.run(block))
        assert begun.acquire(timeout=DEADLINE)
        leader_of(reactor)
    go_on.set()
    pool.release()


def test_jobs_that_were_queued_together_all_begin_though_each_of_them_blocks(reactor: Reactor) -> None:
    pool, go_on, begun = TaskPool.acquire(), threading.Event(), threading.Semaphore(0)

    def block() -> None:
        begun.release()
        go_on.wait(4 * DEADLINE)

    def run_all() -> None:
        for _ in range(10):
            pool.run(block)

    reactor.call_soon(run_all)
    for _ in range(10):
        assert begun.acquire(timeout=DEADLINE)
    leader_of(reactor)
    go_on.set()
    pool.release()


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_an_errand_that_raises_leaves_both_threads_at_work(reactor: Reactor, error: type[BaseException]) -> None:
    def fail() -> None:
        raise error

    for _ in range(20):
        reactor.call_soon(lambda: reactor.take_errand(fail, fail))
        leader_of(reactor)


def test_an_errand_that_outlives_the_reactor_is_the_end_of_its_thread() -> None:
    reactor = Reactor.acquire()
    errand = Errand(reactor)
    errand.begin()
    other = leader_of(reactor)
    reactor.release()
    other.join(DEADLINE)
    assert not other.is_alive()
    assert errand.runner is not None
    errand.end()
    errand.runner.join(DEADLINE)
    assert not errand.runner.is_alive()


def test_where_no_second_thread_is_to_be_had_the_lead_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    done = threading.Event()

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    def lead() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            asked.append(turns.can_pass_on())
        asked.append(turns.can_pass_on())
        done.set()

    turns = Turns("a-loop", lead)
    turns.start()
    assert done.wait(DEADLINE)
    assert asked == [False, True]
