"""Overflow on disk: byte strings in order, written in chunks to anonymous temporary files, read back a chunk at a time.

A segment's file has no name from the start, so that nothing is left even after SIGKILL, and is closed as soon as it has
been read. Not thread-safe: the store says which lock guards what. Knows nothing of limits, policies or waiters.
"""

from __future__ import annotations

import os
import weakref
from array import array
from collections import deque
from collections.abc import Sequence
from itertools import accumulate, pairwise
from struct import Struct
from typing import Final

from claude_actors.errors import SpillFailed

CHUNK_BYTES: Final = 256 * 1024
CHUNK_ITEMS: Final = 4096
SEGMENT_BYTES: Final = 64 * 1024 * 1024

_HEADER: Final = Struct("=II")
_LARGE_TEMPORARY_FILES: Final = "/var/tmp"


class Segment:
    """One anonymous file, appended to until it is full, then only read.

    Its descriptor is closed when nothing refers to the segment any more, a read under way included: closing by hand
    could turn that read to a file that has meanwhile got the same number.
    """

    __slots__ = ("__weakref__", "_descriptor", "read_to", "written_to")

    def __init__(self, directory: str | None) -> None:
        self._descriptor = open_anonymous(directory)
        weakref.finalize(self, os.close, self._descriptor).atexit = False
        self.read_to = 0
        self.written_to = 0

    def write(self, items: list[bytes]) -> None:
        """Append one chunk, or raise OSError with the segment as it was before."""
        lengths = array("I", map(len, items)).tobytes()
        body = b"".join([_HEADER.pack(len(items), sum(map(len, items))), lengths, *items])
        rest, offset = memoryview(body), self.written_to
        while rest:
            count = os.pwrite(self._descriptor, rest, offset)
            rest, offset = rest[count:], offset + count
        self.written_to = offset

    def read(self) -> tuple[list[bytes], int, int]:
        """Return the first unread chunk, its payload bytes and where it ends; consumes nothing."""
        count, size = _HEADER.unpack(self._read_exactly(_HEADER.size, self.read_to))
        start = self.read_to + _HEADER.size
        lengths = array("I")
        end = start + count * lengths.itemsize + size
        body = self._read_exactly(end - start, start)
        lengths.frombytes(body[: -size or None])
        cuts = accumulate(lengths, initial=count * lengths.itemsize)
        return [body[a:b] for a, b in pairwise(cuts)], size, end

    def _read_exactly(self, size: int, offset: int) -> bytes:
        data = os.pread(self._descriptor, size, offset)
        if len(data) != size:  # Linux returns at most 2 GiB at once
            parts = [data]
            while size > (have := sum(map(len, parts))):
                parts.append(os.pread(self._descriptor, size - have, offset + have))
                if not parts[-1]:
                    raise OSError(f"the spill file ends at {offset + have}, {size - have} bytes early")
            data = b"".join(parts)
        return data


class Spill:
    """A queue of byte strings behind memory: chunks on disk, then those that do not fill a chunk yet.

    After `failure` is set nothing more goes to disk; what was taken in stays readable.
    """

    def __init__(self, directory: str | None = None, max_bytes: int | None = None) -> None:
        self._directory, self._max_bytes = directory, max_bytes
        self.segments: deque[Segment] = deque()
        self.filling: list[bytes] = []
        self.filling_bytes = 0
        self.items = 0
        self.bytes = 0
        self.failure: SpillFailed | None = None

    def append(self, items: Sequence[bytes]) -> int:
        """Take in items until they cannot be written; return how many were. Sets `failure`, never raises."""
        size = sum(map(len, items))
        if len(items) > 1 and (size > CHUNK_BYTES or len(items) > CHUNK_ITEMS):
            middle = len(items) // 2
            count = self.append(items[:middle])
            return count if self.failure is not None else count + self.append(items[middle:])
        self._fill(items, size)
        if self.filling_bytes >= CHUNK_BYTES or len(self.filling) >= CHUNK_ITEMS:
            self._write_chunk()
        return len(items)

    def append_last(self, item: bytes) -> None:
        """Take in one item whatever the state of the disk."""
        self._fill([item], len(item))

    def _fill(self, items: Sequence[bytes], size: int) -> None:
        self.filling += items
        self.filling_bytes += size
        self.items += len(items)
        self.bytes += size

    def release_read_segments(self) -> None:
        """Let go of the files that have been read to their end."""
        while self.segments and self.segments[0].read_to == self.segments[0].written_to:
            self.segments.popleft()

    def clear(self) -> None:
        self.segments.clear()
        self.filling = []
        self.filling_bytes = self.items = self.bytes = 0

    def _write_chunk(self) -> None:
        try:
            if self._max_bytes is not None and self.bytes > self._max_bytes:
                raise OSError(f"max_spill_bytes={self._max_bytes} is reached")
            if not self.segments or self.segments[-1].written_to >= SEGMENT_BYTES:
                self.segments.append(Segment(self._directory))
            self.segments[-1].write(self.filling)
        except OSError as error:
            self.failure = SpillFailed(reason=str(error))
            self.failure.__cause__ = error
        else:
            self.filling = []
            self.filling_bytes = 0


def open_anonymous(directory: str | None) -> int:
    """Open a read-write file that has no name and return its descriptor; raises OSError.

    Without a directory: where TMPDIR says, else /var/tmp (/tmp is memory on many systems), else what `tempfile` finds.
    """
    if directory is None and not os.environ.get("TMPDIR"):
        try:
            return _open_in(_LARGE_TEMPORARY_FILES)
        except OSError:
            pass
    return _open_in(directory)


def _open_in(directory: str | None) -> int:
    import tempfile  # 17 ms that most programs never need

    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        return os.dup(file.fileno())
