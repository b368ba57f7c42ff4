"""The threads that run user code: reused, bounded, and never a reason to wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pykka
import pytest
from support.leaks import wait_until

from claude_actors.actors import task_pool
from claude_actors.actors.here import HERE
from claude_actors.actors.task_pool import PoolExhausted, TaskPool

DEADLINE = 30.0


@pytest.fixture
def pool() -> Iterator[TaskPool]:
    shared = TaskPool.acquire()
    yield shared
    shared.release()


class Jobs:
    """Jobs that stand before a gate."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)

    def wait(self) -> None:
        self.begun.release()
        self.gate.wait(4 * DEADLINE)
        self.ended.release()

    def begin(self, pool: TaskPool, count: int) -> None:
        for _ in range(count):
            pool.run(self.wait)
        for _ in range(count):
            assert self.begun.acquire(timeout=DEADLINE)

    def end(self, count: int) -> None:
        self.gate.set()
        for _ in range(count):
            assert self.ended.acquire(timeout=DEADLINE)


def test_jobs_that_block_run_each_in_a_thread_of_its_own(pool: TaskPool) -> None:
    jobs = Jobs()
    jobs.begin(pool, 40)
    assert pool.threads >= 40
    jobs.end(40)
    # A burst's worth of threads need not stay.
    assert wait_until(lambda: pool.threads <= 16)


def test_threads_are_reused(pool: TaskPool) -> None:
    used: set[int | None] = set()
    done = threading.Semaphore(0)

    def job() -> None:
        used.add(threading.current_thread().ident)
        done.release()

    for _ in range(100):
        pool.run(job)
        assert done.acquire(timeout=DEADLINE)
    assert len(used) <= 3


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_whatever_a_job_raises_the_thread_goes_on(pool: TaskPool, error: type[BaseException]) -> None:
    def fail() -> None:
        raise error

    done = threading.Event()
    for _ in range(20):
        pool.run(fail)
    pool.run(done.set)
    assert done.wait(DEADLINE)


def test_beyond_the_bound_a_job_is_refused_unless_it_is_needed(pool: TaskPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_pool, "_MOST_THREADS", 5)
    jobs, needed = Jobs(), threading.Event()
    jobs.begin(pool, 5)
    with pytest.raises(PoolExhausted):
        pool.run(jobs.wait)
    pool.run(needed.set, needed=True)
    assert needed.wait(DEADLINE)
    jobs.end(5)


def test_a_system_without_threads_is_told_and_the_pool_works_again_later(
    pool: TaskPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(PoolExhausted, match="no more threads"):
            pool.run(print)
        assert pykka.ActorRegistry.get_all() == []
    done = threading.Event()
    pool.run(done.set)
    assert done.wait(DEADLINE)


def test_no_job_is_lost_while_a_host_program_stops_the_tasks_under_it(pool: TaskPool) -> None:
    enough, done = threading.Event(), threading.Semaphore(0)

    def stop_them() -> None:
        while not enough.is_set():
            for ref in pykka.ActorRegistry.get_by_class_name("HookTask"):
                ref.stop(block=False)

    stopping = threading.Thread(target=stop_them)
    stopping.start()
    try:
        for _ in range(500):
            pool.run(done.release)
        for _ in range(500):
            assert done.acquire(timeout=DEADLINE)
    finally:
        enough.set()
        stopping.join(DEADLINE)


def test_a_stop_of_a_busy_task_is_answered_at_once_and_of_an_idle_one_when_it_has_ended(pool: TaskPool) -> None:
    jobs = Jobs()
    jobs.begin(pool, 1)
    for ref in pykka.ActorRegistry.get_by_class_name("HookTask"):
        assert ref.stop(timeout=DEADLINE)
    assert [ref.is_alive() for ref in pykka.ActorRegistry.get_by_class_name("HookTask")] == [True]
    jobs.end(1)
    assert wait_until(lambda: not pykka.ActorRegistry.get_by_class_name("HookTask"))
    done = threading.Event()
    pool.run(done.set)
    assert done.wait(DEADLINE)
    assert wait_until(lambda: pool.idle == 1)
    (idle,) = pykka.ActorRegistry.get_by_class_name("HookTask")
    assert idle.stop(timeout=DEADLINE)
    assert not idle.is_alive()


def test_with_the_last_user_idle_threads_end_and_busy_ones_after_their_job() -> None:
    pool, jobs = TaskPool.acquire(), Jobs()
    jobs.begin(pool, 3)
    pool.release()
    other = TaskPool.acquire()
    assert other is not pool
    other.release()
    jobs.end(3)
    assert wait_until(lambda: pool.threads == 0)


def test_many_threads_give_jobs_at_once_and_each_is_run_once(pool: TaskPool) -> None:
    done: list[int] = []
    all_done = threading.Semaphore(0)

    def job(number: int) -> None:
        done.append(number)
        all_done.release()

    def give(start: int) -> None:
        for number in range(start, start + 100):
            pool.run(lambda number=number: job(number))  # type: ignore[misc]

    # Fewer than there may be threads: with more, a slow machine has them all wait at once, and the pool refuses.
    threads = [threading.Thread(target=give, args=(start,)) for start in range(0, 800, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    for _ in range(800):
        assert all_done.acquire(timeout=DEADLINE)
    assert sorted(done) == list(range(800))


# --- jobs from the thread that leads the reactor ---


class Leader:
    """Takes the pool's errand and keeps it for the test, which plays both threads."""

    def __init__(self) -> None:
        self.errands: list[Callable[[], object]] = []
        self.guards: list[Callable[[], object]] = []

    def at_parting(self, function: Callable[[], object]) -> None:
        raise AssertionError("somebody is woken")

    def take_errand(self, errand: Callable[[], object], guard: Callable[[], object]) -> bool:
        self.errands.append(errand)
        self.guards.append(guard)
        return True


@pytest.fixture
def leader() -> Iterator[Leader]:
    HERE.leads = leader = Leader()
    yield leader
    HERE.leads = None


def test_jobs_that_do_not_block_are_run_by_the_thread_that_read_them_and_nobody_is_woken(
    pool: TaskPool, leader: Leader
) -> None:
    ran: list[int] = []
    for number in range(30):
        pool.run(lambda number=number: ran.append(number))  # type: ignore[misc]
    (errand,), (guard,) = leader.errands, leader.guards
    errand()
    assert ran == list(range(30))
    guard()
    assert pool.threads == 0


def test_when_the_first_job_blocks_the_next_leader_calls_a_thread_for_the_others(
    pool: TaskPool, leader: Leader
) -> None:
    jobs, ran = Jobs(), threading.Event()
    pool.run(jobs.wait)
    pool.run(ran.set)
    (errand,), (guard,) = leader.errands, leader.guards
    first = threading.Thread(target=errand)
    first.start()
    assert jobs.begun.acquire(timeout=DEADLINE)
    assert not ran.is_set()
    guard()
    assert ran.wait(DEADLINE)
    jobs.end(1)
    first.join()
