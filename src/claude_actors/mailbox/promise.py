"""A value that comes once, for any number of threads and coroutines that wait for it.

A future of the standard library runs its callbacks, and logs what they raise, in the thread that settles it, and keeps
a coroutine that gave up waiting for as long as it is open. Here settling only wakes, and who leaves leaves no trace.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from claude_actors.errors import fresh
from claude_actors.mailbox.waiting import TaskWaiter, ThreadWaiter, Waiter, WaitingList

T = TypeVar("T")


class Settled(NamedTuple, Generic[T]):
    """What came: an error, or the value."""

    value: T
    error: BaseException | None


class Promise(Generic[T]):
    """Settled once, by the first who does; every member is safe in every thread and in signal handlers.

    It can be given to `select()` and `aselect()`.
    """

    __slots__ = ("_settled", "_waiting")

    def __init__(self) -> None:
        # The first entry counts: an append is one step, where a test and an assignment would be two.
        self._settled: list[Settled[T]] = []
        self._waiting = WaitingList()

    def settle(self, value: T) -> bool:
        """Bring the value; False if something came before. Never blocks."""
        return self._settle(Settled(value, None))

    def fail(self, error: BaseException) -> bool:
        """Bring an error; False if something came before. Never blocks."""
        return self._settle(Settled(None, error))  # type: ignore[arg-type]

    def _settle(self, settled: Settled[T]) -> bool:
        if self._settled:
            return False
        self._settled.append(settled)
        self._waiting.wake_all()
        return self._settled[0] is settled

    # --- who waits ---

    @property
    def ready(self) -> bool:
        """Whether it is settled."""
        return bool(self._settled)

    @property
    def error(self) -> BaseException | None:
        """The error that came, None if it was a value or nothing came yet."""
        return self._settled[0].error if self._settled else None

    def value(self) -> T:
        """Return the value or raise the error; it must be settled."""
        value, error = self._settled[0]
        if error is not None:
            raise fresh(error)
        return value

    def wait(self, timeout: float | None = None) -> bool:
        """Block until it is settled; False when the time is up first."""
        waiter = ThreadWaiter()
        try:
            self.join(waiter)
            return self.ready or waiter.wait(timeout) or self.ready
        finally:
            self.leave(waiter)

    async def wait_async(self, timeout: float | None = None) -> bool:
        """Suspend until it is settled; False when the time is up first."""
        waiter = TaskWaiter()
        try:
            self.join(waiter)
            return self.ready or await waiter.wait(timeout) or self.ready
        finally:
            self.leave(waiter)

    def join(self, waiter: Waiter) -> None:
        """Let the waiter be woken when it is settled; look at `ready` once more after this and before sleeping."""
        self._waiting.join(waiter)

    def leave(self, waiter: Waiter) -> None:
        """Wait no more."""
        self._waiting.leave(waiter)
