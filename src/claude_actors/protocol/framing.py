"""Chunks of any size in, whole lines out: bounded, and linear in the bytes fed whatever the chunking.

It knows nothing of JSON. Each byte is searched once when it comes and copied once, when its line ends. A long line is
gathered while it comes instead, in a bytearray that is then the line: so it is never in memory twice.
"""

from __future__ import annotations

from io import BytesIO
from itertools import islice
from typing import Final, TypeAlias

import msgspec

MIB: Final = 1024 * 1024
MAX_LINE: Final = 16 * MIB
WARN_AT: Final = MIB
# A line of this size is long. (Measured: gathering costs a tenth more than joining at the end does.)
_LONG: Final = MIB // 4


class LineDiscarded(msgspec.Struct, frozen=True):
    """A line over the limit was thrown away up to its newline; `size` is all of it, in bytes."""

    size: int


class LineGrowing(msgspec.Struct, frozen=True):
    """An unfinished line has passed the warning size; said once a line. `size` is what of it has come so far."""

    size: int


Framed: TypeAlias = bytes | bytearray | LineDiscarded | LineGrowing


class LineBuffer:
    """Cut a stream into lines without the white space at their ends, skipping blank ones."""

    def __init__(self, max_line: int = MAX_LINE, warn_at: int = WARN_AT) -> None:
        self._max_line = max_line
        self._warn_at = warn_at
        self._gathered = bytearray()
        self._parts: list[bytes] = []
        self._size = 0
        self._discarding = False
        self._warned = False

    @property
    def pending(self) -> int:
        """Count the bytes that are held of an unfinished line."""
        return 0 if self._discarding else self._size

    def feed(self, chunk: bytes) -> list[Framed]:
        """Take a chunk and return the lines that it ends, and reports of discarded or growing ones, in order."""
        # A file in memory finds the ends of lines four times as fast as `split` does.
        pieces = BytesIO(chunk).readlines()
        tail = b"" if not pieces or pieces[-1].endswith(b"\n") else pieces.pop()
        framed: list[Framed] = []
        # Only a chunk beyond the limit can hold a whole line beyond it.
        one_by_one = len(pieces) if len(chunk) > self._max_line else 1 if self._size else 0
        for piece in pieces[:one_by_one]:
            self._hold(piece.removesuffix(b"\n"))
            self._end_line(framed)
        framed.extend(filter(None, map(bytes.rstrip, islice(pieces, one_by_one, None))))
        self._hold(tail)
        self._warn(framed)
        return framed

    def finish(self) -> list[Framed]:
        """Return what an unfinished last line comes to: itself, or the report that it was discarded, or nothing."""
        framed: list[Framed] = []
        self._end_line(framed)
        return framed

    def _hold(self, part: bytes) -> None:
        if not part:
            return
        self._size += len(part)
        if self._size > self._max_line:
            self._discarding = True
            self._gathered = bytearray()
            self._parts.clear()
            return
        if self._gathered:
            self._gathered += part
        else:
            self._parts.append(part)
            if self._size >= _LONG:
                self._gather()

    def _end_line(self, framed: list[Framed]) -> None:
        if self._discarding:
            framed.append(LineDiscarded(self._size))
        else:
            line = self._whole_line()
            if line:
                framed.append(line)
        self._parts.clear()
        self._size = 0
        self._discarding = self._warned = False

    def _whole_line(self) -> bytes | bytearray:
        if not self._gathered:
            return b"".join(self._parts).rstrip()
        line, self._gathered = self._gathered, bytearray()
        if line.endswith(b"\r"):
            del line[-1:]
        if line[-1:].isspace():
            # It makes a copy, which only odd lines should cost.
            del line[len(line.rstrip()) :]
        return line

    def _gather(self) -> None:
        for part in self._parts:
            self._gathered += part
        self._parts.clear()

    def _warn(self, framed: list[Framed]) -> None:
        if self._size > self._warn_at and not self._warned and not self._discarding:
            self._warned = True
            framed.append(LineGrowing(self._size))
