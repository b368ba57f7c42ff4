"""A value that comes once: the first wins, everybody is woken, and who gives up leaves nothing behind."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
import weakref

import pytest

from claude_actors import errors
from claude_actors.errors import (
    ClaudeActorsError,
    RateLimited,
    SessionCrashed,
    SessionEnded,
    StopTimeout,
    UnsupportedVersion,
    fresh,
)
from claude_actors.mailbox import Mailbox, aselect, select
from claude_actors.mailbox.promise import Promise
from claude_actors.mailbox.select import Waitable

DEADLINE = 30.0


def test_the_first_outcome_counts_and_later_ones_change_nothing() -> None:
    promise: Promise[int] = Promise()
    assert promise.settle(1)
    assert not promise.settle(2)
    assert not promise.fail(SessionEnded())
    assert (promise.value(), promise.error) == (1, None)


def settled_by_four_threads() -> tuple[Promise[int], list[int]]:
    promise: Promise[int] = Promise()
    gate, won = threading.Barrier(4), list[int]()

    def settle(number: int) -> None:
        gate.wait(DEADLINE)
        if promise.settle(number):
            won.append(number)

    threads = [threading.Thread(target=settle, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return promise, won


def test_of_many_threads_that_settle_at_once_exactly_one_has_won() -> None:
    for _ in range(200):
        promise, won = settled_by_four_threads()
        assert won == [promise.value()]


def test_a_wait_ends_when_its_time_is_up_and_leaves_nothing_behind() -> None:
    promise: Promise[int] = Promise()
    assert not promise.wait(0.001)
    assert not asyncio.run(promise.wait_async(0.001))
    assert len(promise._waiting) == 0
    assert not promise.ready


def test_threads_and_coroutines_are_all_woken() -> None:
    promise: Promise[int] = Promise()
    got: list[int] = []

    def in_a_thread() -> None:
        assert promise.wait(DEADLINE)
        got.append(promise.value())

    async def in_coroutines() -> None:
        async def one() -> None:
            assert await promise.wait_async(DEADLINE)
            got.append(promise.value())

        await asyncio.gather(*(one() for _ in range(3)))

    threads = [threading.Thread(target=in_a_thread) for _ in range(3)]
    threads.append(threading.Thread(target=lambda: asyncio.run(in_coroutines())))
    for thread in threads:
        thread.start()
    promise.settle(7)
    for thread in threads:
        thread.join(DEADLINE)
    assert got == [7] * 6


def test_a_coroutine_that_is_cancelled_while_it_waits_leaves_nothing_behind() -> None:
    async def main() -> int:
        promise: Promise[int] = Promise()
        for _ in range(100):
            waiting = asyncio.create_task(promise.wait_async())
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        return len(promise._waiting)

    assert asyncio.run(main()) == 0


def test_a_loop_that_was_closed_while_its_coroutine_waited_does_not_disturb_who_settles() -> None:
    promise: Promise[int] = Promise()
    loop = asyncio.new_event_loop()
    waiting = promise.wait_async()
    task = loop.create_task(waiting)
    loop.run_until_complete(asyncio.sleep(0))
    task.cancel()
    loop.close()
    assert promise.settle(1)
    waiting.close()


def test_select_waits_for_a_promise_beside_mailboxes() -> None:
    mailbox: Mailbox[str] = Mailbox(None, overflow="drop_oldest")
    promise: Promise[int] = Promise()
    both: tuple[Waitable, ...] = (mailbox, promise)
    assert select(both, timeout=0) is None
    threading.Timer(0.001, promise.settle, (1,)).start()
    assert select(both, DEADLINE) is promise
    assert asyncio.run(aselect(both, DEADLINE)) is promise


def test_an_error_is_raised_as_a_copy_each_time_so_that_no_reader_keeps_anothers_frames() -> None:
    class Large:
        pass

    promise: Promise[int] = Promise()
    original = SessionCrashed(code=3, signal=None, stderr_tail=["last words"])
    original.__cause__ = cause = ValueError()
    promise.fail(original)
    kept: list[weakref.ref[Large]] = []

    def read() -> SessionCrashed:
        large = Large()
        kept.append(weakref.ref(large))
        with pytest.raises(SessionCrashed) as raised:
            promise.value()
        return raised.value

    first, second = read(), read()
    assert first is not second
    assert (first.code, first.stderr_tail, str(first)) == (3, ("last words",), str(original))
    assert first.__cause__ is cause
    assert original.__traceback__ is None


def error_classes() -> list[type[ClaudeActorsError]]:
    found = [value for value in vars(errors).values() if isinstance(value, type)]
    return [kind for kind in found if issubclass(kind, ClaudeActorsError)]


@pytest.mark.parametrize(
    "error",
    [
        SessionCrashed(code=None, signal=9, stderr_tail=["a", "b"]),
        UnsupportedVersion(version="1.0.0", minimum="2.0.0"),
        StopTimeout(after=2.5),
        RateLimited(subtype="success", reason="slow down", resets_at=12.0),
        SessionEnded(),
    ],
)
@pytest.mark.parametrize("way", [copy.copy, fresh, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_keeps_its_words_and_fields_when_copied_or_pickled(error: ClaudeActorsError, way: object) -> None:
    assert callable(way)
    again = way(error)
    assert type(again) is type(error)
    assert (str(again), vars(again), again.args) == (str(error), vars(error), error.args)


@pytest.mark.parametrize("kind", error_classes())
def test_every_error_class_can_be_copied(kind: type[ClaudeActorsError]) -> None:
    error = kind.__new__(kind)
    error.args = ("some words",)
    error.__dict__["field"] = 5
    again = fresh(error)
    assert (type(again), str(again), vars(again)) == (kind, str(error), {"field": 5})
