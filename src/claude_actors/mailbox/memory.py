"""The part of a mailbox that is in memory: a deque that consumers empty without a lock, and the bytes in it, exact.

A lock would cost more than the take itself (measured: 300 ns against 110). So each consumer counts what it takes in a
cell of its own, and the sum of the cells is what was taken. Knows nothing of limits, disks or waiters.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from threading import get_ident
from typing import Any, Final, TypeVar

T = TypeVar("T")

NOTHING: Final[Any] = object()


class Taker:
    """Count the bytes that one consumer takes; never shared by two at a time."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        self.bytes = 0


class Memory:
    """Items in order. `enter` and `drop` are for one producer at a time, the rest is safe from any thread."""

    def __init__(self, measure: Callable[[Any], int]) -> None:
        self.measure = measure
        self._items: deque[Any] = deque()
        self._oldest: Iterator[Any] = map(deque.popleft, repeat(self._items))
        self._takers: list[Taker] = []
        self._of_threads: dict[int, Taker] = {}
        self._free_takers: list[Taker] = []
        self._entered_bytes = self._dropped_bytes = 0

        #: Called once by whoever comes to take an item: what was taken before is decoded and counted by then.
        self.relief: Callable[[], object] | None = None

    def __len__(self) -> int:
        return len(self._items)

    @property
    def bytes(self) -> int:
        return self._entered_bytes - self._dropped_bytes - self.taken_bytes

    @property
    def taken_bytes(self) -> int:
        return sum([taker.bytes for taker in self._takers])

    def enter(self, items: Sequence[Any], size: int) -> None:
        """Append items of `size` bytes altogether. Makes no call that a signal handler could follow in between."""
        self._entered_bytes += size
        self._items += items

    def drop(self, count: int = 1) -> int:
        """Remove up to `count` of the oldest items, uncounted by any consumer; return how many there were."""
        dropped = size = 0
        measure, oldest = self.measure, self._items.popleft
        try:
            while dropped < count:
                size += measure(oldest())
                dropped += 1
        except IndexError:
            pass
        self._dropped_bytes += size
        return dropped

    def own_taker(self) -> Taker:
        """Return this thread's taker. It needs no giving back, which could be interrupted with a message in hand."""
        taker = self._of_threads.get(get_ident())
        if taker is None:
            taker = self._of_threads[get_ident()] = Taker()
            self._takers.append(taker)
        return taker

    def borrow_taker(self) -> Taker:
        """Return a taker for one that may go from thread to thread; it is given back with `return_taker`."""
        try:
            return self._free_takers.pop()
        except IndexError:
            taker = Taker()
            self._takers.append(taker)
            return taker

    def return_taker(self, taker: Taker) -> None:
        self._free_takers.append(taker)

    def take(self, decode: Callable[[Any], T], taker: Taker) -> T:
        """Remove the oldest item and return it decoded, or NOTHING. What `decode` raises comes through, the item gone.

        A KeyboardInterrupt leaves the item where it was: signal handlers run after calls, and no call stands between
        the removal and the name `item`, nor between the count and the return.
        """
        if self.relief is not None:
            self._relieve()
        item = NOTHING
        try:
            for item in self._oldest:  # noqa: B007 - `popleft()` would be a call
                break
            message = decode(item)
            size = self.measure(item)
            taker.bytes += size  # no call in the midst of it, where a signal handler could take another
        except Exception:
            if item is NOTHING:
                return NOTHING  # type: ignore[no-any-return]
            taker.bytes += self.measure(item)
            raise
        except BaseException:
            if item is not NOTHING:
                self._items.appendleft(item)
            raise
        return message

    def _relieve(self) -> None:
        relief, self.relief = self.relief, None
        if relief is not None:
            relief()
