"""A file that one process has for itself: appended to, synced, read, and replaced as a whole.

It knows bytes and the disk, and nothing of what the lines mean. One thread writes; whoever reads in another keeps
`exchange` and `close` away meanwhile.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Generator, Iterable
from contextlib import suppress

from claude_actors.fleet.errors import JournalFailed, JournalLocked

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
_BUFFERED = 1024 * 1024


class LockedFile:
    """An open file with a lock on it. The constructor raises JournalLocked or JournalFailed, all else OSError."""

    def __init__(self, path: str, *, sync: bool) -> None:
        self.path = path
        # A process may change its directory, and a link must not be replaced by a file.
        self._place = os.path.realpath(path)
        self._sync = sync
        self._fd, self._next = self._open(), -1
        self.end = 0
        with suppress(OSError):
            os.unlink(self._new_place)  # a crash has left it

    @property
    def _new_place(self) -> str:
        return f"{self._place}.compacting"

    def _open(self) -> int:
        while True:
            try:
                # O_NONBLOCK: a pipe in its place must not make us wait.
                fd = os.open(self._place, _FLAGS | os.O_NONBLOCK, 0o600)
            except OSError as error:
                raise JournalFailed(path=self.path, reason=error.strerror or str(error)) from error
            try:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise JournalFailed(path=self.path, reason="it is no regular file")
                self._lock(fd)
                if self._is_current(fd):
                    return fd
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)

    def _lock(self, fd: int) -> None:
        try:
            # Of the open file and not of the process, so that two fleets of one process exclude each other too.
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JournalLocked(path=self.path) from None

    def _is_current(self, fd: int) -> bool:
        """Say whether the file still has its name: its last writer may have replaced it before we had the lock."""
        try:
            return os.path.samestat(os.fstat(fd), os.stat(self._place))
        except FileNotFoundError:
            return False

    # --- reading ---

    def lines(self) -> Generator[bytes, None, None]:
        """Give all lines from the first."""
        with os.fdopen(os.dup(self._fd), "rb", buffering=_BUFFERED) as file:
            file.seek(0)
            yield from file

    def read_at(self, offset: int, length: int) -> bytes:
        """Read a part."""
        return os.pread(self._fd, length, offset)

    # --- writing ---

    def append(self, data: bytes) -> None:
        """Write behind the rest, and wait for the disk if that is wanted."""
        _write(self._fd, data)
        if self._sync:
            os.fsync(self._fd)
        self.end += len(data)

    def cut(self) -> None:
        """Take away what stands behind the end."""
        os.ftruncate(self._fd, self.end)

    def prepare(self, lines: Iterable[bytes]) -> None:
        """Write a new file of these lines, locked and safe, that can take the place of this one by `exchange`."""
        old = os.fstat(self._fd)
        self._next = os.open(self._new_place, _FLAGS | os.O_TRUNC, 0o600)
        try:
            self._lock(self._next)
            with suppress(PermissionError):
                os.fchown(self._next, old.st_uid, old.st_gid)
            os.fchmod(self._next, stat.S_IMODE(old.st_mode))
            for data in _in_pieces(lines):
                _write(self._next, data)
            # In any case: a name must not point to what the disk does not have.
            os.fsync(self._next)
        except BaseException:
            self.discard()
            raise

    def exchange(self) -> None:
        """Put the prepared file in the place of the old one. Whoever is killed here leaves one of them, whole."""
        try:
            end = os.fstat(self._next).st_size
            os.rename(self._new_place, self._place)
        except BaseException:
            self.discard()
            raise
        os.close(self._fd)
        self._fd, self._next, self.end = self._next, -1, end

    def discard(self) -> None:
        """Remove the prepared file, and go on with the old one."""
        os.close(self._next)
        self._next = -1
        with suppress(OSError):
            os.unlink(self._new_place)

    def sync_directory(self) -> None:
        """Wait until the disk has the file's name."""
        if not self._sync:
            return
        directory = os.open(os.path.dirname(self._place), os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def close(self) -> None:
        """Let go of the file and its lock."""
        os.close(self._fd)
        self._fd = -1

    def forget(self) -> None:
        """Let go of it in the child of a fork; the parent keeps it and its lock."""
        for fd in (self._fd, self._next):
            if fd >= 0:
                os.close(fd)


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _in_pieces(lines: Iterable[bytes]) -> Generator[bytes, None, None]:
    piece: list[bytes] = []
    size = 0
    for line in lines:
        piece.append(line)
        size += len(line)
        if size >= _BUFFERED:
            yield b"".join(piece)
            piece, size = [], 0
    yield b"".join(piece)
