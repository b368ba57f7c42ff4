"""Files that only the child may read: the place for configuration that must not stand on a command line.

Each launch has its own directory (mode 0700) with files of mode 0600, made when the first is needed and removed when
the session ends. What a killed process has left behind is removed by the next one that needs such files.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import threading
import time
from pathlib import Path
from typing import Final

PREFIX: Final = "claude-actors-private-"
# A directory this young may be one whose owner has made it and not yet locked it.
SETTLED_AFTER: Final = 60.0


class PrivateFiles:
    """The private files of one launch. Filled by one thread; `remove` may be called from any, and twice."""

    def __init__(self, *, owner: str | None = None) -> None:
        self._owner = owner
        self._directory: Path | None = None
        self._lock_fd: int | None = None
        self._removing = threading.Lock()
        self._paths: list[Path] = []

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(self._paths)

    def write(self, name: str, content: str) -> Path:
        """Write `content` to a new file and return its path. Blocks on the disk; raises OSError."""
        path = self._ensure_directory() / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
        self._hand_over(path)
        self._paths.append(path)
        return path

    def remove(self) -> None:
        """Remove the files and their directory; what is gone already is no error."""
        with self._removing:
            if self._directory is not None:
                import shutil  # with its archives, 5 ms that few programs need

                shutil.rmtree(self._directory, ignore_errors=True)
            if self._lock_fd is not None:
                os.close(self._lock_fd)
            self._directory = self._lock_fd = None

    def _ensure_directory(self) -> Path:
        if self._directory is None:
            import tempfile

            remove_abandoned()
            self._directory = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lock_fd = os.open(self._directory, os.O_RDONLY)
            with contextlib.suppress(OSError):
                # Where locks do not work, nobody can take the directory for abandoned either.
                fcntl.flock(self._lock_fd, fcntl.LOCK_SH)
            self._hand_over(self._directory)
        return self._directory

    def _hand_over(self, path: Path) -> None:
        # A child that runs as another user could not read what only we may read.
        if self._owner is not None:
            os.chown(path, pwd.getpwnam(self._owner).pw_uid, -1)


def remove_abandoned() -> None:
    """Remove the directories whose owner was killed: the kernel has let go of its lock."""
    import shutil
    import tempfile

    for directory in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            if time.time() - directory.stat().st_mtime > SETTLED_AFTER and _is_unlocked(directory):
                shutil.rmtree(directory, ignore_errors=True)
        except OSError:
            # Somebody else's, or gone by now.
            continue


def _is_unlocked(directory: Path) -> bool:
    descriptor = os.open(directory, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
