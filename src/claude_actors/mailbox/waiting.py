"""How a consumer sleeps until a mailbox has something: one waiter a thread or coroutine, woken at most once.

Knows nothing of items. Whoever is woken looks again by itself, so a wake-up carries no item that could be lost.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future


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
        return self._gate.acquire(timeout=-1 if timeout is None else min(max(timeout, 0.0), threading.TIMEOUT_MAX))

    def wake(self) -> bool:
        try:
            self._gate.release()
        except RuntimeError:  # woken before, by another of the mailboxes that it waits for
            return False
        return True


class TaskWaiter:
    """Suspend a coroutine on its own running loop; no thread is used."""

    __slots__ = ("_loop", "future")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self.future: Future[None] = loop.create_future()

    def wake(self) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._resolve)
        except RuntimeError:  # the loop is closed: its coroutine will never run again
            return False
        return True

    def _resolve(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


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
