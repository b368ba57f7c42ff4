"""The queue inside a mailbox: memory, behind it the spill, and what is done when the limits are met.

Consumers empty memory without a lock, so that no producer waits for a consumer. `_putting` guards what producers
change; a consumer enters it only to move spilled items to memory. `_refilling` keeps such consumers apart; it is taken
first, and disk reads happen under it alone. Disk writes happen in a thread of their own. Knows nothing of waiters.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from claude_actors.errors import MailboxOverflow, SpillFailed
from claude_actors.mailbox.limits import MailboxCounts, MailboxLimits, Overflow, OverflowKind, OverflowReport
from claude_actors.mailbox.memory import NOTHING, Memory, Taker
from claude_actors.mailbox.spill import Spill

T = TypeVar("T")


class Store:
    """Hold items in order within limits. Every method is safe from any thread; none waits for the other side."""

    def __init__(
        self, name: str, limits: MailboxLimits, policy: Overflow, measure: Callable[[Any], int], memory: Memory
    ) -> None:
        self._name, self._limits, self._policy, self._measure = name, limits, policy, measure
        self._memory = memory
        self._spill = Spill(limits.spill_directory, limits.max_spill_bytes, limits.max_items, limits.max_bytes)
        self._putting, self._refilling = threading.Lock(), threading.Lock()
        self._spilling = self._refusing = False
        self._refusal: BaseException | None = None
        self._put = self._dropped = self._refused = 0
        self._next_drop_report = 1
        self.closed = False
        self.error: BaseException | None = None
        self.reports: deque[OverflowReport] = deque()

    def __len__(self) -> int:
        return len(self._memory) + self._spill.items

    def counts(self) -> MailboxCounts:
        waiting, dropped, put = len(self), self._dropped, self._put
        return MailboxCounts(
            waiting=waiting,
            memory_bytes=self._memory.bytes,
            spilled_items=self._spill.items,
            spilled_bytes=self._spill.bytes,
            put=put,
            taken=put - dropped - waiting,
            dropped=dropped,
            refused=self._refused,
            closed=self.closed,
        )

    # --- producers ---

    def put(self, items: Sequence[Any]) -> int:
        """Take in what the policy allows; return how many items were."""
        size = sum(map(self._measure, items))
        with self._putting:
            if self.closed or self._refusing:
                self._refused += len(items)
                return 0
            if not self._spilling and self._fits(len(items), size):
                self._enter(items, size)
                return len(items)
            return self._overflow(items)

    def put_last(self, item: Any, error: BaseException | None) -> bool:
        """Take in one item past every limit and close, in one step; False if it was closed already."""
        with self._putting:
            if self.closed:
                self._refused += 1
                return False
            if self._spilling:
                self._put += 1
                self._spill.append_last(item)
            else:
                self._enter([item], self._measure(item))
            return self._close(error)

    def close(self, error: BaseException | None) -> bool:
        """Take in nothing more; False if it was closed already. What was refused before is an error at the end too."""
        with self._putting:
            return not self.closed and self._close(error or self._refusal)

    def _close(self, error: BaseException | None) -> bool:
        self.error = error  # before `closed`, which consumers read without the lock
        self.closed = True
        return True

    def disk_is_behind(self) -> bool:
        """Tell whether the disk works and yet more comes than it takes, so that the one who puts had better pause."""
        return self._spilling and self._spill.is_behind()

    def _fits(self, count: int, size: int) -> bool:
        limits, memory = self._limits, self._memory
        return len(memory) + count <= limits.max_items and memory.bytes + size <= limits.max_bytes

    def _enter(self, items: Sequence[Any], size: int) -> None:
        self._put += len(items)
        self._memory.enter(items, size)

    # --- what is done when it is full ---

    def _overflow(self, items: Sequence[Any]) -> int:
        if self._policy == "drop_oldest":
            return self._drop_for(items)
        entered = 0 if self._spilling else self._enter_fitting(items)
        rest = items[entered:]
        if not rest:
            return entered
        if self._policy == "spill":
            return entered + self._spill_over(rest)
        limits = {"max_items": self._limits.max_items, "max_bytes": self._limits.max_bytes}
        self._refuse(len(rest), "refusing", MailboxOverflow(mailbox=self._name, limits=limits))
        return entered

    def _enter_fitting(self, items: Sequence[Any]) -> int:
        """Let in as many as fit, one at least when memory is empty; return how many."""
        for index, item in enumerate(items):
            size = self._measure(item)
            if len(self._memory) and not self._fits(1, size):
                return index
            self._enter([item], size)
        return len(items)

    def _spill_over(self, items: Sequence[bytes]) -> int:
        if not self._spilling:
            self._spilling = True
            self._report("spilling")
        count = self._spill.append(items)
        self._put += count
        if self._spill.failure is not None:
            self._refuse(len(items) - count, "spill_failed", self._spill.failure)
        return count

    def _refuse(self, count: int, kind: OverflowKind, error: BaseException) -> None:
        self._refusing, self._refusal = True, error
        self._refused += count
        self._report(kind, error)

    def _drop_for(self, items: Sequence[Any]) -> int:
        """Make room first and then let in, so that nothing newer is lost to a consumer who empties it meanwhile."""
        kept = deque(items, self._limits.max_items)
        size = sum(map(self._measure, kept))
        while len(kept) > 1 and size > self._limits.max_bytes:
            size -= self._measure(kept.popleft())
        self._dropped += self._memory.drop(len(self._memory) + len(kept) - self._limits.max_items)
        # Nothing older than a dropped item may stay: who reads on must see one gap, not a hole.
        passed_over = len(items) - len(kept)
        while (passed_over or not self._fits(len(kept), size)) and self._memory.drop():
            self._dropped += 1
        self._put += passed_over
        self._dropped += passed_over
        self._enter(kept, size)
        if self._dropped >= self._next_drop_report:
            self._next_drop_report = 2 * self._dropped
            self._report("dropping")
        return len(kept)

    def _report(self, kind: OverflowKind, error: BaseException | None = None) -> None:
        self.reports.append(
            OverflowReport(
                mailbox=self._name,
                kind=kind,
                policy=self._policy,
                waiting=len(self),
                dropped=self._dropped,
                refused=self._refused,
                error=error,
            )
        )

    # --- consumers ---

    def has_items(self) -> bool:
        return bool(self._memory) or self._spill.items > 0

    def take(self, decode: Callable[[Any], T], taker: Taker) -> T:
        """Remove the oldest item and return it decoded, or NOTHING. Raises SpillFailed if it cannot be read back."""
        message = self._memory.take(decode, taker)
        while message is NOTHING and self._spilling and self._refill():
            message = self._memory.take(decode, taker)
        return message

    def discard(self) -> None:
        """Drop everything that waits, at once, files included, even while a consumer reads one. It must be closed."""
        with self._putting, self._spill.moving:
            while self._memory.drop():
                self._dropped += 1
            self._dropped += self._spill.items
            self._spill.clear()

    def _refill(self) -> bool:
        """Move the oldest spilled chunk to memory; False if there is nothing to take."""
        spill, memory = self._spill, self._memory
        with self._refilling:
            if memory:  # another consumer was faster
                return True
            with self._putting, spill.moving:
                segment = spill.oldest_segment()
                if segment is None:
                    return self._refill_from_memory()
            try:
                items, size, end = segment.read()
            except OSError as error:
                raise SpillFailed(reason=str(error)) from error
            count = len(items)
            with self._putting, spill.moving:
                if spill.segments and spill.segments[0] is segment:  # nobody has discarded it meanwhile
                    # Memory first, for a consumer that sees both empty goes to sleep. No call after that until all is
                    # counted: a signal handler that raised in between would make the items come twice.
                    memory.enter(items, size)
                    segment.read_to = end
                    spill.items -= count
                    spill.bytes -= size
                    spill.oldest_segment()
        return True

    def _refill_from_memory(self) -> bool:
        """Take the oldest of what the disk has not taken; with nothing there, end the spilling."""
        spill = self._spill
        chunk = spill.oldest_unwritten()
        if chunk is None:
            return self._end_spilling()
        count = len(chunk.items)
        self._memory.enter(chunk.items, chunk.size)  # and no call after it, as in `_refill`
        chunk.items = []
        spill.moved += chunk.cost
        spill.items -= count
        spill.bytes -= chunk.size
        return True

    def _end_spilling(self) -> bool:
        """Move what did not fill a chunk to memory. The spill is empty then, and new items go to memory again."""
        spill = self._spill
        moved = spill.items > 0
        self._memory.enter(spill.filling, spill.filling_bytes)
        spill.filling = []
        spill.filling_bytes = spill.items = spill.bytes = 0
        if not self._refusing:
            self._spilling = False
            self._report("drained")
        return moved
