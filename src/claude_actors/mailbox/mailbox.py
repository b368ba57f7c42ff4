"""The mailbox that users hold: items in from any thread without waiting, out to threads and coroutines in order.

Joins the store (what is kept) with the waiting list (who sleeps), and decodes what is taken in the consumer's thread.
Knows nothing of sessions, actors or what the items mean.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

from claude_actors.errors import MailboxClosed, MailboxTimeout
from claude_actors.mailbox.crowd import Crowd
from claude_actors.mailbox.limits import MailboxCounts, MailboxLimits, Overflow, OverflowReport
from claude_actors.mailbox.memory import NOTHING, Memory, Taker
from claude_actors.mailbox.pace import OFTEN, PACE
from claude_actors.mailbox.reporting import Reporter
from claude_actors.mailbox.store import Store
from claude_actors.mailbox.waiting import (
    TaskWaiter,
    ThreadWaiter,
    Waiter,
    WaitingList,
    deadline_after,
    let_the_loop_run,
    remaining,
)

T = TypeVar("T")

# What an object counts for in `max_bytes` when items are not bytes.
NOMINAL_ITEM_BYTES: Final = 256


class Mailbox(Generic[T]):
    """A bounded queue of messages from any number of producers to consumers; each item goes to exactly one consumer.

    With `decode`, items are put as bytes and decoded when taken, in the taking thread. Without, items are any objects
    and count a fixed size; they cannot spill. Iteration (`for`, `async for`) ends after the last item once the mailbox
    is closed; if it was closed with an error it raises that error instead, so that a crash never looks like an end.
    Every member may be used from every thread; only iteration and `get()` block.
    """

    def __init__(
        self,
        decode: Callable[[bytes], T] | None = None,
        *,
        limits: MailboxLimits | None = None,
        overflow: Overflow = "spill",
        name: str = "",
        on_overflow: Callable[[OverflowReport], None] | None = None,
    ) -> None:
        if overflow not in ("spill", "drop_oldest", "fail"):
            raise ValueError(f"overflow={overflow!r}: choose 'spill', 'drop_oldest' or 'fail'")
        if decode is None and overflow == "spill":
            raise ValueError("objects cannot be spilled to disk: choose overflow='drop_oldest' or 'fail'")
        self.name = name
        self._decode: Callable[[Any], T] = decode or _as_it_is
        measure = len if decode is not None else _nominal_size
        self._memory = Memory(measure)
        self._store = Store(name, limits or MailboxLimits(), overflow, measure, self._memory)
        self._crowd = Crowd(self._store, self._memory)
        self._waiting = WaitingList()
        self._reporter = Reporter(self._store.reports, on_overflow)
        self.calls_back = on_overflow is not None
        self._streak = 0

    # --- producers: any thread, never waiting for a consumer ---

    def put(self, item: bytes | T) -> None:
        """Put one item. Never raises for fullness; after the close it is refused and counted."""
        self.put_many((item,))

    def put_many(self, items: Sequence[bytes | T]) -> None:
        """Put items in order, in one step. Never raises for fullness; after the close they are refused and counted."""
        count = self._store.put(items)
        if count and self._waiting:
            self._waiting.wake(count)
        if self._store.reports:
            self._reporter.deliver()

    def crowded(self, relieved: Callable[[], object] = lambda: None) -> float:
        """Tell how long a producer had better rest, in seconds, because consumers at work are behind; else 0.

        For the one producer that can do something else meanwhile. `relieved` is called, in any thread, if a rest behind
        large items may end before. Consumers that have stopped are not waited for.
        """
        return self._crowd.rest(relieved)

    def put_last(self, item: bytes | T, error: BaseException | None = None) -> None:
        """Put an item that no limit or policy may drop, and close with `error`, in one step. Ignored after a close."""
        if self._store.put_last(item, error):
            self._waiting.wake_all()

    def close(self, error: BaseException | None = None) -> None:
        """Take in nothing more. What is inside is still delivered; then consumers see the end, and `error` if given.

        A mailbox that has refused items, by its policy or its disk, ends with that as its error if no other is given:
        what is missing must not look like an end. Idempotent: only the first close counts.
        """
        if self._store.close(error):
            self._waiting.wake_all()

    def discard(self) -> None:
        """Close, and drop what nobody has taken, spill files included, at once. For a consumer that goes away."""
        self.close()
        self._store.discard()
        self._waiting.wake_all()

    # --- consumers: threads ---

    def get(self, timeout: float | None = None) -> T:
        """Return the next item; blocks until there is one.

        Raises MailboxTimeout when nothing came in time, MailboxClosed (with the error, if any) after the last item.
        """
        if self._streak >= OFTEN and self._streak >= PACE.items:
            self._streak = 0
            time.sleep(0)
        try:
            message = self._take_waiting(self._memory.own_taker(), timeout)
        except BaseException:
            self._hand_on()
            raise
        # No call from here on: an interrupt would follow it, and lose what was taken.
        if message is NOTHING:
            raise MailboxClosed(self.error) from self.error
        self._streak += 1
        return message

    def __iter__(self) -> Iterator[T]:
        take, decode, taker = self._memory.take, self._decode, self._memory.borrow_taker()
        try:
            while True:
                for _ in range(PACE.items):
                    message = take(decode, taker)
                    if message is NOTHING:
                        message = self._take_waiting(taker, None)
                        if message is NOTHING:
                            return self._raise_error()
                    yield message
                time.sleep(0)
        finally:
            self._memory.return_taker(taker)
            self._hand_on()

    def _take_waiting(self, taker: Taker, timeout: float | None) -> T:
        """Return the next item, or NOTHING at the end."""
        deadline = deadline_after(timeout)
        while True:
            closed = self._store.closed  # read before the look: nothing is put after the close
            message = self._take(taker)
            if closed or message is not NOTHING:
                return message
            if not self._sleep(ThreadWaiter(), remaining(deadline)):
                raise MailboxTimeout(after=timeout or 0.0)

    def _sleep(self, waiter: ThreadWaiter, timeout: float | None) -> bool:
        woken = False
        try:
            self.join(waiter)
            woken = self.ready or waiter.wait(timeout)
        finally:
            self.leave(waiter, takes=woken)
        return woken

    # --- consumers: coroutines, on any asyncio loop ---

    async def aget(self, timeout: float | None = None) -> T:
        """Return the next item as `get()` does, suspending the coroutine. Cancelling it loses no item."""
        message = await self._take_suspending(timeout)
        if message is NOTHING:
            raise MailboxClosed(self.error) from self.error
        return message

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        message = await self._take_suspending(None)
        if message is NOTHING:
            self._raise_error()
            raise StopAsyncIteration
        return message

    async def _take_suspending(self, timeout: float | None) -> T:
        """Return the next item, or NOTHING at the end. Lets the loop run now and then even if it need not wait."""
        if self._streak >= OFTEN:
            self._streak = 0
            await let_the_loop_run()
        self._streak += 1
        deadline, taker = deadline_after(timeout), self._memory.own_taker()
        while True:
            closed = self._store.closed
            message = self._take(taker)
            if closed or message is not NOTHING:
                return message
            if not await self._suspend(TaskWaiter(), remaining(deadline)):
                raise MailboxTimeout(after=timeout or 0.0)

    async def _suspend(self, waiter: TaskWaiter, timeout: float | None) -> bool:
        woken = False
        try:
            self.join(waiter)
            woken = self.ready or await waiter.wait(timeout)
        finally:
            self.leave(waiter, takes=woken)
        return woken

    # --- waiting, for `select()` too ---

    def join(self, waiter: Waiter) -> None:
        """Let the waiter be woken when the mailbox may be `ready`; look once more after this and before sleeping."""
        self._waiting.join(waiter)

    def leave(self, waiter: Waiter, takes: bool = False) -> None:
        """Wait no more. A wake-up that was spent on one that `takes` nothing is handed on to the next."""
        if not self._waiting.leave(waiter) and not takes:
            self._hand_on()

    # --- state: any thread, never blocks ---

    def __len__(self) -> int:
        return len(self._store)

    def __bool__(self) -> bool:
        return True  # a mailbox is a place: an empty one is still one

    def __repr__(self) -> str:
        return f"<Mailbox {self.name!r} waiting={len(self)} closed={self.closed}>"

    @property
    def takes_bytes(self) -> bool:
        """Whether items are put as bytes and decoded when taken."""
        return self._decode is not _as_it_is

    @property
    def closed(self) -> bool:
        """Whether nothing can be put any more; there may still be items to take."""
        return self._store.closed

    @property
    def error(self) -> BaseException | None:
        """What the mailbox was closed with."""
        return self._store.error

    @property
    def ready(self) -> bool:
        """Whether `get()` would return or raise at once."""
        return self._store.has_items() or self._store.closed

    def counts(self) -> MailboxCounts:
        """Return what passed through and what waits, exact as of now."""
        return self._store.counts()

    # --- within ---

    def _take(self, taker: Taker) -> T:
        message = self._store.take(self._decode, taker)
        if message is NOTHING and self._store.reports:
            self._reporter.deliver()
        return message

    def _hand_on(self) -> None:
        if self._waiting and self._store.has_items():
            self._waiting.wake(1)

    def _raise_error(self) -> None:
        if self.error is not None:
            raise self.error


def _as_it_is(item: T) -> T:
    return item


def _nominal_size(_item: object) -> int:
    return NOMINAL_ITEM_BYTES
