"""How a consumer sleeps until a mailbox has something: one waiter a thread or coroutine, woken at most once.

Knows nothing of items. Whoever is woken looks again by itself, so a wake-up carries no item that could be lost.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Generator
from types import coroutine
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from asyncio import Future


class Waiter(Protocol):
    """Something asleep that any thread can wake."""

    def wake(self) -> bool:
        """Wake it; False if nobody is there any more. Never blocks."""
        ...


class ThreadWaiter:
    """Put the calling thread to sleep, interruptible by signals."""

    __slots__ = ("_gate",)

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._gate.acquire()

    def wait(self, timeout: float | None) -> bool:
        """Sleep until woken; False when the time is up."""
        return self._gate.acquire(timeout=-1 if timeout is None else min(timeout, threading.TIMEOUT_MAX))

    def wake(self) -> bool:
        try:
            self._gate.release()
        except RuntimeError:  # woken before, by another of the mailboxes that it waits for
            return False
        return True


class TaskWaiter:
    """Suspend a coroutine on its own running loop; no thread is used."""

    __slots__ = ("_loop", "_woken")

    def __init__(self) -> None:
        from asyncio import get_running_loop  # 40 ms that a program without coroutines never needs

        self._loop = get_running_loop()
        self._woken: Future[bool] = self._loop.create_future()

    async def wait(self, timeout: float | None) -> bool:
        """Suspend until woken; False when the time is up."""
        alarm = None if timeout is None else self._loop.call_later(timeout, self._resolve, False)
        try:
            return await self._woken
        finally:
            if alarm is not None:
                alarm.cancel()

    def wake(self) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._resolve, True)
        except RuntimeError:  # the loop is closed: its coroutine will never run again
            return False
        return True

    def _resolve(self, woken: bool) -> None:
        if not self._woken.done():
            self._woken.set_result(woken)


@coroutine
def let_the_loop_run() -> Generator[None, None, None]:
    """Do as `asyncio.sleep(0)` does."""
    yield


class WaitingList:
    """Keep the waiters of one mailbox in order of arrival. Every method is safe from any thread without a lock.

    The order of steps is what makes that safe: a consumer joins and then looks for items, a producer adds items and
    then looks for waiters. One of them sees the other.
    """

    __slots__ = ("_waiters",)

    def __init__(self) -> None:
        self._waiters: deque[Waiter] = deque()

    def __len__(self) -> int:
        return len(self._waiters)

    def join(self, waiter: Waiter) -> None:
        self._waiters.append(waiter)

    def leave(self, waiter: Waiter) -> bool:
        """Take the waiter off; False if it was woken already, so that a wake-up was spent on it."""
        try:
            self._waiters.remove(waiter)
        except ValueError:
            return False
        return True

    def wake(self, count: int) -> None:
        """Wake up to `count` waiters that are really there."""
        while count > 0:
            try:
                waiter = self._waiters.popleft()
            except IndexError:
                return
            count -= waiter.wake()

    def wake_all(self) -> None:
        self.wake(len(self._waiters))


def deadline_after(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def remaining(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())
