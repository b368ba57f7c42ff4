"""One anonymous file of a spill: chunks of byte strings, appended by the writer and read back in order.

It has no name from the start, so that nothing is left even after SIGKILL. Not thread-safe: the spill says who may do
what. Every call here may take as long as the disk likes.
"""

from __future__ import annotations

import os
import weakref
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from struct import Struct
from typing import Final

_HEADER: Final = Struct("=II")
_LARGE_TEMPORARY_FILES: Final = "/var/tmp"


class Segment:
    """What lies between `read_to` and `written_to` is there to be read.

    Its descriptor is closed when nothing refers to the segment any more, a read under way included: closing by hand
    could turn that read to a file that has meanwhile got the same number.
    """

    __slots__ = ("__weakref__", "_descriptor", "read_to", "written_to")

    def __init__(self, directory: str | None) -> None:
        self._descriptor = open_anonymous(directory)
        weakref.finalize(self, os.close, self._descriptor).atexit = False
        self.read_to = 0
        self.written_to = 0

    def write(self, chunks: Iterable[Sequence[bytes]]) -> list[int]:
        """Write chunks behind what is there, or raise OSError; return where each begins and where the last ends.

        They are there to be read only when `written_to` has been moved behind them.
        """
        pieces: list[bytes] = []
        cuts = [self.written_to]
        for items in chunks:
            lengths = array("I", map(len, items))
            size = sum(lengths)
            pieces += (_HEADER.pack(len(items), size), lengths.tobytes(), *items)
            cuts.append(cuts[-1] + _HEADER.size + len(items) * lengths.itemsize + size)
        rest, offset = memoryview(b"".join(pieces)), self.written_to
        while rest:
            count = os.pwrite(self._descriptor, rest, offset)
            rest, offset = rest[count:], offset + count
        return cuts

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
