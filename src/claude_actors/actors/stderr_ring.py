"""The last lines of a program's error output, bounded in number and length."""

from __future__ import annotations

from collections import deque
from typing import Final

_LONGEST_LINE: Final = 4096


class StderrRing:
    """Cuts error output into lines and keeps the last `size` of them; whatever is written, memory stays flat."""

    def __init__(self, size: int = 100) -> None:
        self._lines: deque[str] = deque(maxlen=size)
        self._partial = b""

    @property
    def tail(self) -> tuple[str, ...]:
        """Give the kept lines, oldest first, with an unfinished last line."""
        return (*self._lines, *_decoded([self._partial])) if self._partial else tuple(self._lines)

    def feed(self, chunk: bytes) -> tuple[str, ...]:
        """Take a chunk and give the lines that it ends; long lines are cut."""
        *ended, rest = chunk.split(b"\n")
        if ended:
            ended[0] = self._partial + ended[0]
            self._partial = b""
        self._partial = (self._partial + rest)[: _LONGEST_LINE + 1]
        lines = _decoded(ended)
        self._lines.extend(lines)
        return lines

    def finish(self) -> tuple[str, ...]:
        """End an unfinished last line and give it, if there is one."""
        return self.feed(b"\n") if self._partial else ()


def _decoded(lines: list[bytes]) -> tuple[str, ...]:
    return tuple(_cut(line.rstrip(b"\r")) for line in lines if line.strip())


def _cut(line: bytes) -> str:
    text = line[:_LONGEST_LINE].decode("utf-8", "replace")
    return text + "…" if len(line) > _LONGEST_LINE else text
