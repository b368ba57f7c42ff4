"""The loops on which coroutines of all sessions run: nothing that one of them does ends a loop or holds up another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any

import pytest
from support.leaks import wait_until

from claude_actors.actors import shared_loop
from claude_actors.actors.loop_thread import CallbackExit
from claude_actors.actors.shared_loop import LoopClosed, SharedLoop

DEADLINE = 30.0


@pytest.fixture
def loop() -> Iterator[SharedLoop]:
    shared = SharedLoop.acquire()
    yield shared
    shared.release()


async def name_of_thread() -> str:
    return threading.current_thread().name


async def value(given: Any) -> Any:
    return given


def test_coroutines_of_all_users_run_in_one_thread_that_starts_with_the_first(loop: SharedLoop) -> None:
    before = threading.active_count()
    other = SharedLoop.acquire()
    assert other is loop
    assert threading.active_count() == before
    names = {loop.submit(name_of_thread()).result(DEADLINE) for _ in range(10)}
    assert names == {other.submit(name_of_thread()).result(DEADLINE)} == {"claude-actors-loop"}
    other.release()


def test_servers_have_a_loop_of_their_own(loop: SharedLoop) -> None:
    async def its_loop() -> object:
        return asyncio.get_running_loop()

    servers = SharedLoop.acquire("servers")
    assert servers.submit(its_loop()).result(DEADLINE) is not loop.submit(its_loop()).result(DEADLINE)
    servers.release()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_a_coroutine_that_exits_ends_only_itself(loop: SharedLoop, error: type[BaseException]) -> None:
    async def exits() -> None:
        raise error

    with pytest.raises(CallbackExit):
        loop.submit(exits()).result(DEADLINE)
    assert loop.submit(value(1)).result(DEADLINE) == 1


def test_a_coroutine_that_stops_the_loop_stops_nobody(loop: SharedLoop) -> None:
    async def stops() -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        return "went on"

    assert loop.submit(stops()).result(DEADLINE) == "went on"
    assert loop.submit(value(1)).result(DEADLINE) == 1


def test_cancelling_the_future_cancels_the_coroutine_before_its_start_and_in_its_midst(loop: SharedLoop) -> None:
    begun, cancelled, release = threading.Event(), threading.Event(), threading.Event()

    async def waits() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def blocks() -> None:
        begun.set()
        release.wait(DEADLINE)

    running = loop.submit(waits())
    assert begun.wait(DEADLINE)
    assert running.cancel()
    assert cancelled.wait(DEADLINE)
    with pytest.raises(CancelledError):
        running.result(DEADLINE)
    begun.clear()
    blocking = loop.submit(blocks())
    assert begun.wait(DEADLINE)
    never_begun = loop.submit(waits())
    cancelled.clear()
    assert never_begun.cancel()
    release.set()
    blocking.result(DEADLINE)
    assert loop.submit(value(1)).result(DEADLINE) == 1
    assert not cancelled.is_set()


def test_what_could_not_begin_beside_a_blocking_coroutine_moves_to_another_loop(
    loop: SharedLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_loop, "_PATIENCE", 0.05)
    begun, release = threading.Event(), threading.Event()

    async def blocks() -> str:
        begun.set()
        release.wait(4 * DEADLINE)
        return "unblocked"

    async def waits() -> str:
        await asyncio.sleep(0)
        return "was there before"

    beside = loop.submit(waits())
    assert beside.result(DEADLINE) == "was there before"
    blocking = loop.submit(blocks())
    assert begun.wait(DEADLINE)
    moved = [loop.submit(value(number)) for number in range(10)]
    assert [future.result(DEADLINE) for future in moved] == list(range(10))
    assert loop.submit(value("later")).result(DEADLINE) == "later"
    assert not blocking.done()
    release.set()
    # The loop that was blocked finishes what it has, and then ends.
    assert blocking.result(DEADLINE) == "unblocked"
    loops = [thread for thread in threading.enumerate() if thread.name == "claude-actors-loop"]
    assert wait_until(lambda: sum(thread.is_alive() for thread in loops) <= 1)


def test_the_servers_loop_is_never_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_loop, "_PATIENCE", 0.05)
    servers, begun, release = SharedLoop.acquire("servers"), threading.Event(), threading.Event()

    async def blocks() -> None:
        begun.set()
        release.wait(4 * DEADLINE)

    servers.submit(blocks())
    assert begun.wait(DEADLINE)
    waiting = servers.submit(value(1))
    with pytest.raises(TimeoutError):
        waiting.result(0.3)
    release.set()
    assert waiting.result(DEADLINE) == 1
    servers.release()


def test_only_so_many_blocked_loops_are_replaced(loop: SharedLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_loop, "_PATIENCE", 0.05)
    monkeypatch.setattr(shared_loop, "_MOST_RETIRED", 2)
    release = threading.Event()

    async def blocks(begun: threading.Event) -> None:
        begun.set()
        release.wait(4 * DEADLINE)

    for _ in range(3):
        begun = threading.Event()
        loop.submit(blocks(begun))
        assert begun.wait(DEADLINE)
    waiting = loop.submit(value(1))
    with pytest.raises(TimeoutError):
        waiting.result(0.3)
    release.set()
    assert waiting.result(DEADLINE) == 1


def test_the_last_release_cancels_what_runs_and_refuses_what_comes() -> None:
    loop, begun, ended = SharedLoop.acquire(), threading.Event(), threading.Event()

    async def waits() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    future = loop.submit(waits())
    assert begun.wait(DEADLINE)
    loop.release()
    assert ended.wait(DEADLINE)
    with pytest.raises(CancelledError):
        future.result(DEADLINE)
    coroutine = value(1)
    with pytest.raises(LoopClosed):
        loop.submit(coroutine)
    again = SharedLoop.acquire()
    assert again is not loop
    assert again.submit(value(2)).result(DEADLINE) == 2
    again.release()


def test_a_coroutine_that_refuses_to_be_cancelled_does_not_keep_the_thread() -> None:
    loop, begun = SharedLoop.acquire(), threading.Event()

    async def refuses() -> None:
        begun.set()
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue

    loop.submit(refuses())
    assert begun.wait(DEADLINE)
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "claude-actors-loop"]
    loop.release()
    assert wait_until(lambda: not thread.is_alive())
