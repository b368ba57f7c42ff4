"""The table in which the warden finds who is alive, when this process is dead: rows in a file without a name.

It decides which row is whose. Writing one is a copy in memory: nobody is woken by it, and nothing is lost on the way.
"""

from __future__ import annotations

import os
import threading

from claude_actors.actors import fds
from claude_actors.actors.contained import warn
from claude_actors.actors.warden import ROW, row


class WardTable:
    """Rows by cookie. Any thread may use every member, and none blocks; raises OSError where it cannot be made."""

    def __init__(self) -> None:
        self.fd = fds.own(_nameless_file())
        self._rows: dict[str, int] = {}
        self._free: list[int] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, cookie: str) -> None:
        """Give the cookie a row."""
        with self._lock:
            number = self._rows[cookie] = self._free.pop() if self._free else len(self._rows)
        self._write(number, row(0, cookie))

    def set_group(self, cookie: str, group: int) -> None:
        """Keep the group of the cookie's first bearer beside it; 0 forgets it."""
        number = self._rows.get(cookie)
        if number is not None:
            self._write(number, row(group, cookie))

    def remove(self, cookie: str) -> None:
        """Blank the cookie's row; idempotent."""
        with self._lock:
            number = self._rows.get(cookie)
            if number is not None:
                self._write(number, b" " * ROW)
                del self._rows[cookie]
                self._free.append(number)

    def close(self) -> None:
        """Close the file, which then is only the warden's."""
        fds.close(self.fd)

    def _write(self, number: int, content: bytes) -> None:
        try:
            os.pwrite(self.fd, content, number * ROW)
        except OSError as error:
            warn("warden_not_told", reason=str(error), risk="a SIGKILL of this process may leave a CLI running")


def _nameless_file() -> int:
    # Not mapped into memory: a SIGKILL can cut a copy in half, but no system call.
    if hasattr(os, "memfd_create"):
        return os.memfd_create("claude-actors-wards", os.MFD_CLOEXEC)
    import tempfile  # only here, for its import takes as long as that of a tenth of this library

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
