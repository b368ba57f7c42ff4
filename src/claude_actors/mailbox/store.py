"""The queue inside a mailbox: items in memory, behind them the spill, and what is done when both limits meet.

Two locks, so that no producer waits for a consumer that was suspended while it held one: `_putting` guards what producers
change, `_taking` keeps consumers apart, and a consumer enters `_putting` only to refill memory from the spill (always in
the order `_taking`, `_putting`). Disk reads happen outside `_putting`. Knows nothing of waiters.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, Final

from claude_actors.errors import MailboxOverflow, SpillFailed
from claude_actors.mailbox.limits import MailboxCounts, MailboxLimits, Overflow, OverflowKind, OverflowReport
from claude_actors.mailbox.spill import Spill

NOTHING: Final[Any] = object()


class Store:
    """Hold items in order within limits. Every method is safe from any thread; none waits for another side."""

    def __init__(self, name: str, limits: MailboxLimits, policy: Overflow, nominal_size: int | None) -> None:
        self._name, self._limits, self._policy, self._nominal_size = name, limits, policy, nominal_size
        self._memory: deque[Any] = deque()
        self._oldest: Iterator[Any] = map(deque.popleft, repeat(self._memory))
        self._spill = Spill(limits.spill_directory, limits.max_spill_bytes)
        self._putting, self._taking = threading.Lock(), threading.Lock()
        self._spilling = self._refusing = False
        self.closed = False
        self.error: BaseException | None = None
        self.reports: deque[OverflowReport] = deque()
        # Producers' counts, and consumers' counts: each is written under one lock only and read without.
        self._put = self._entered_bytes = self._dropped = self._dropped_bytes = self._refused = 0
        self._next_drop_report = 1
        self._taken = self._taken_bytes = 0

    def __len__(self) -> int:
        # Read in this order, else a take between the reads could make the sum negative.
        gone = self._taken + self._dropped
        return self._put - gone

    @property
    def memory_bytes(self) -> int:
        gone = self._taken_bytes + self._dropped_bytes
        return self._entered_bytes - gone

    def counts(self) -> MailboxCounts:
        taken, dropped = self._taken, self._dropped
        return MailboxCounts(
            waiting=len(self),
            memory_bytes=self.memory_bytes,
            spilled_items=self._spill.items,
            spilled_bytes=self._spill.bytes,
            put=self._put,
            taken=taken,
            dropped=dropped,
            refused=self._refused,
            closed=self.closed,
        )

    # --- producers ---

    def put(self, items: Sequence[Any]) -> int:
        """Take in what the policy allows; return how many items were."""
        with self._putting:
            if self.closed or self._refusing:
                self._refused += len(items)
                return 0
            size = self._size(items)
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
                self._enter([item], self._size([item]))
            self._close(error)
            return True

    def close(self, error: BaseException | None) -> bool:
        """Take in nothing more; False if it was closed already."""
        with self._putting:
            return not self.closed and self._close(error)

    def _close(self, error: BaseException | None) -> bool:
        self.error = error  # before `closed`, which consumers read without the lock
        self.closed = True
        return True

    def _size(self, items: Sequence[Any]) -> int:
        return sum(map(len, items)) if self._nominal_size is None else len(items) * self._nominal_size

    def _fits(self, count: int, size: int) -> bool:
        limits = self._limits
        return len(self._memory) + count <= limits.max_items and self.memory_bytes + size <= limits.max_bytes

    def _enter(self, items: Sequence[Any], size: int) -> None:
        # Counted first: a consumer may take the items before the next line has run, and no count may seem negative.
        self._put += len(items)
        self._entered_bytes += size
        self._memory.extend(items)

    # --- what is done when it is full ---

    def _overflow(self, items: Sequence[Any]) -> int:
        match self._policy:
            case "drop_oldest":
                return self._drop_for(items)
            case "spill":
                head, tail = ([], list(items)) if self._spilling else self._split(items)
                return len(head) + self._spill_over(tail)
            case "fail":
                head, tail = self._split(items)
                return len(head) + self._refuse(len(tail), MailboxOverflow(mailbox=self._name, limits=self._named()))

    def _split(self, items: Sequence[Any]) -> tuple[Sequence[Any], list[Any]]:
        """Let in as many as fit (one at least when memory is empty); return those and the others."""
        for index, item in enumerate(items):
            size = self._size([item])
            if self._memory and not self._fits(1, size):
                return items[:index], list(items[index:])
            self._enter([item], size)
        return items, []

    def _spill_over(self, items: list[bytes]) -> int:
        if not items:
            return 0
        if not self._spilling:
            self._spilling = True
            self._report("spilling")
        count = self._spill.append(items)
        self._put += count
        if self._spill.failure is not None:
            self._refuse(len(items) - count, self._spill.failure, "spill_failed")
        return count

    def _refuse(self, count: int, error: MailboxOverflow | SpillFailed, kind: OverflowKind = "refusing") -> int:
        if count or kind == "spill_failed":
            self._refusing = True
            self._refused += count
            self._report(kind, error)
        return 0

    def _drop_for(self, items: Sequence[Any]) -> int:
        """Make room first and then let in, so that a consumer who empties it meanwhile costs no newer item."""
        count, size = len(items), self._size(items)
        first = max(0, count - self._limits.max_items)
        kept = deque(items[first:])
        size = self._size(kept)
        while len(kept) > 1 and size > self._limits.max_bytes:
            size -= self._size([kept.popleft()])
        while self._memory and not self._fits(len(kept), size):
            try:
                gone = self._memory.popleft()
            except IndexError:
                break
            self._dropped_bytes += self._size([gone])
            self._dropped += 1
        never_entered = count - len(kept)
        self._put += never_entered
        self._dropped += never_entered
        self._enter(kept, size)
        self._report_drops()
        return len(kept)

    def _report_drops(self) -> None:
        if self._dropped >= self._next_drop_report:
            self._next_drop_report = 2 * self._dropped
            self._report("dropping")

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

    def _named(self) -> dict[str, int]:
        return {"max_items": self._limits.max_items, "max_bytes": self._limits.max_bytes}

    # --- consumers ---

    def has_items(self) -> bool:
        return bool(self._memory) or self._spill.items > 0

    def take(self) -> Any:
        """Return the oldest item or NOTHING. A KeyboardInterrupt anywhere in here leaves the item inside."""
        item, counted = NOTHING, False
        try:
            with self._taking:
                if not self._memory and not (self._spilling and self._refill()):
                    return NOTHING
                # A signal handler runs after a call, never between the steps of a `for`: the item is never nowhere.
                for item in self._oldest:  # noqa: B007
                    break
                size = len(item) if self._nominal_size is None else self._nominal_size
                self._taken += 1
                self._taken_bytes += size
                counted = True
        except IndexError:  # dropped to make room for items that are just about to enter
            return NOTHING
        except BaseException:
            if item is not NOTHING:
                self.give_back(item, counted)
            raise
        return item

    def give_back(self, item: Any, counted: bool = True) -> None:
        """Put an item that was taken but not delivered back to the front."""
        with self._taking:
            if counted:
                self._taken -= 1
                self._taken_bytes -= self._size([item])
            self._memory.appendleft(item)

    def discard(self) -> int:
        """Drop everything that waits, at once, files included; return how many items that were."""
        with self._taking, self._putting:
            self.closed = True
            count = len(self._memory) + self._spill.items
            self._dropped += count
            self._dropped_bytes = self._entered_bytes - self._taken_bytes
            self._memory.clear()
            self._spill.clear()
            self._spilling = False
            return count

    def _refill(self) -> bool:
        """Move the oldest spilled chunk to memory; False if there is none. Raises SpillFailed if it cannot be read."""
        spill = self._spill
        with self._putting:
            spill.release_read_segments()
            if not spill.segments:
                return self._end_spilling()
            segment = spill.segments[0]
        try:
            items, size, end = segment.read()
        except OSError as error:
            raise SpillFailed(reason=str(error)) from error
        count = len(items)
        with self._putting:
            # No call until the items are in memory: a signal handler that raised between would lose or repeat them.
            # Memory first: a consumer that sees both empty goes to sleep.
            self._entered_bytes += size
            self._memory += items
            segment.read_to = end
            spill.items -= count
            spill.bytes -= size
            spill.release_read_segments()
        return True

    def _end_spilling(self) -> bool:
        """Move what had not filled a chunk yet to memory: then the spill is empty, and new items go to memory again."""
        spill = self._spill
        moved = spill.items > 0
        self._entered_bytes += spill.filling_bytes
        self._memory += spill.filling
        spill.filling = []
        spill.filling_bytes = spill.items = spill.bytes = 0
        if not self._refusing:
            self._spilling = False
            self._report("drained")
        return moved
