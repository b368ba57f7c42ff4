"""Overflow on disk: byte strings in order, gathered in chunks, written to files behind the producer's back, read back.

A chunk that the disk has not taken yet is still read, from memory, so a slow disk holds up no reader; how much may wait
for the disk is bounded. Two sides: what producers change is guarded by the store; what moves from memory to disk and
away is guarded by `moving`, which nobody holds while a disk works. Knows nothing of limits in memory, policies or
waiters.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Final

from claude_actors.errors import SpillFailed
from claude_actors.mailbox.segment import Segment
from claude_actors.mailbox.spill_writer import SpillWriter, writer_for

CHUNK_BYTES: Final = 256 * 1024
CHUNK_ITEMS: Final = 4096
SEGMENT_BYTES: Final = 64 * 1024 * 1024
# What is written in one system call. More would hold the interpreter for longer while it is joined (about half a
# millisecond); less would let a busy producer run ahead, for the writer may wait 5 ms for the interpreter after each.
WRITE_BYTES: Final = 2 * 1024 * 1024
# What may wait for the disk: so much that one which works is never taken for one that hangs, however busy the machine.
MOST_UNWRITTEN: Final = 64 * 1024 * 1024
# What an item takes besides its bytes while it waits for the disk.
ITEM_COST: Final = 64
# A disk that has taken something within this time is at work.
AT_WORK: Final = 1.0
BEHIND: Final = 4 * 1024 * 1024


class Chunk:
    """Items that wait for the disk; none any more once they have been read or dropped."""

    __slots__ = ("cost", "items", "size")

    def __init__(self, items: list[bytes], size: int) -> None:
        self.items, self.size = items, size
        self.cost = size + ITEM_COST * len(items)


class Spill:
    """A queue of byte strings behind memory: chunks on disk, then those on their way there, then the unfilled one.

    No chunk is larger than given, but for a single larger item. After `failure` is set nothing more goes to disk; what
    was taken in stays readable.
    """

    def __init__(
        self,
        directory: str | None = None,
        max_bytes: int | None = None,
        chunk_items: int = CHUNK_ITEMS,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        self._directory, self._max_bytes = directory, max_bytes
        self._chunk_items, self._chunk_bytes = min(chunk_items, CHUNK_ITEMS), min(chunk_bytes, CHUNK_BYTES)
        self._writer: SpillWriter | None = None
        self._written_at = 0.0
        # The producers' side.
        self.filling: list[bytes] = []
        self.filling_bytes = 0
        self.items = 0
        self.bytes = 0
        self._sealed = 0
        # The other side. Producers append to `unwritten` too, which takes no lock.
        self.moving = threading.Lock()
        self.segments: deque[Segment] = deque()
        self.unwritten: deque[Chunk] = deque()
        self.moved = 0
        self.failure: SpillFailed | None = None

    # --- producers, one at a time ---

    def append(self, items: Sequence[bytes]) -> int:
        """Take in items until one cannot be kept; return how many were. Sets `failure`, never raises or waits."""
        # Once for all of them: they are in memory already, and between them the writer could do nothing.
        if self.unwritten_bytes > MOST_UNWRITTEN:
            self._fail(f"{self.unwritten_bytes} bytes wait for a disk that takes no more")
        return self._append(items)

    def append_last(self, item: bytes) -> None:
        """Take in one item whatever the state of the disk."""
        self._fill([item], len(item))

    @property
    def unwritten_bytes(self) -> int:
        """What waits for the disk, and its cost."""
        return self._sealed - self.moved

    def is_behind(self) -> bool:
        """Tell whether the disk is at work and slower than who puts. Never true for a disk that has stopped."""
        return self.unwritten_bytes >= BEHIND and time.monotonic() < self._written_at + AT_WORK

    def _append(self, items: Sequence[bytes]) -> int:
        size = sum(map(len, items))
        if len(items) > 1 and not (self._has_room(size) and self._fits_chunk(len(items), size)):
            half = len(items) // 2
            count = self._append(items[:half])
            return count if self.failure is not None else count + self._append(items[half:])
        if not self._has_room(size):
            self._fail(f"max_spill_bytes={self._max_bytes} is reached")
        if self.failure is not None:
            return 0
        if self.filling and not self._fits_chunk(len(self.filling) + len(items), self.filling_bytes + size):
            self._seal()
        self._fill(items, size)
        return len(items)

    def _has_room(self, size: int) -> bool:
        return self._max_bytes is None or self.bytes + size <= self._max_bytes

    def _fits_chunk(self, count: int, size: int) -> bool:
        return count <= self._chunk_items and size <= self._chunk_bytes

    def _fill(self, items: Sequence[bytes], size: int) -> None:
        self.filling += items
        self.filling_bytes += size
        self.items += len(items)
        self.bytes += size

    def _seal(self) -> None:
        chunk = Chunk(self.filling, self.filling_bytes)
        self.filling, self.filling_bytes = [], 0
        self._sealed += chunk.cost
        self.unwritten.append(chunk)
        if self._writer is None:
            self._writer = writer_for(self._directory)
        # One job for each chunk, so that mailboxes take turns; one that finds its chunk written or taken costs nothing.
        # A disk that hangs must not keep alive what its owner has let go of.
        self._writer.submit(partial(_write_if_alive, weakref.ref(self)))

    def _fail(self, reason: str, cause: BaseException | None = None) -> None:
        if self.failure is None:
            failure = SpillFailed(reason=reason)
            failure.__cause__ = cause
            self.failure = failure

    # --- the writer's thread ---

    def write(self) -> None:
        """Write what waits, a bounded part of it. Sets `failure`, never raises."""
        if self.failure is not None:
            return
        with self.moving:
            self._drop_empty()
            segment = self.segments[-1] if self.segments and self.segments[-1].written_to < SEGMENT_BYTES else None
            batch = self._next_batch(SEGMENT_BYTES - (segment.written_to if segment is not None else 0))
            contents = [chunk.items for chunk in batch]
        if not batch:
            return
        try:
            segment = segment or Segment(self._directory)
            cuts = segment.write(contents)
        except Exception as error:
            self._fail(str(error) or type(error).__name__, error)
            return
        self._written_at = time.monotonic()
        with self.moving:
            self._settle(segment, batch, cuts)

    def _next_batch(self, room: int) -> list[Chunk]:
        batch: list[Chunk] = []
        size = 0
        # By index, because producers append meanwhile.
        for index in range(len(self.unwritten)):
            chunk = self.unwritten[index]
            size += chunk.size
            if batch and size > min(room, WRITE_BYTES):
                break
            batch.append(chunk)
        return batch

    def _settle(self, segment: Segment, batch: list[Chunk], cuts: list[int]) -> None:
        """Let readers find on disk what they have not taken from memory meanwhile, the oldest first."""
        left = [chunk for chunk in batch if chunk.items]
        if left:
            if len(left) < len(batch):
                # Nothing older was on disk, or the reader would have taken that.
                segment.read_to = cuts[len(batch) - len(left)]
            segment.written_to = cuts[-1]
            if not self.segments or self.segments[-1] is not segment:
                self.segments.append(segment)
        for chunk in left:
            chunk.items = []
            self.moved += chunk.cost
        self._drop_empty()

    # --- consumers and the writer, with `moving` ---

    def oldest_segment(self) -> Segment | None:
        """Return the file to read next, None if nothing is on disk. Lets go of those that have been read."""
        while self.segments and self.segments[0].read_to == self.segments[0].written_to:
            self._let_go(self.segments.popleft())
        return self.segments[0] if self.segments else None

    def oldest_unwritten(self) -> Chunk | None:
        """Return the chunk to read next if nothing is on disk. Who takes it leaves it empty and counts it as moved."""
        self._drop_empty()
        return self.unwritten[0] if self.unwritten else None

    def clear(self) -> None:
        """Drop everything; the producers' side must stand still too."""
        while self.segments:
            self._let_go(self.segments.popleft())
        for chunk in self.unwritten:
            chunk.items = []
        self.unwritten.clear()
        self.moved = self._sealed
        self.filling = []
        self.filling_bytes = self.items = self.bytes = 0

    def _drop_empty(self) -> None:
        while self.unwritten and not self.unwritten[0].items:
            self.unwritten.popleft()

    def _let_go(self, segment: Segment) -> None:
        """Have the file closed by the writer: a close can take as long as a write."""
        if self._writer is not None:
            self._writer.submit(lambda: segment)


def _write_if_alive(reference: weakref.ref[Spill]) -> None:
    spill = reference()
    if spill is not None:
        spill.write()
