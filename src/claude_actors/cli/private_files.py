"""Files that only the child may read: the place for configuration that must not stand on a command line.

Each launch has its own directory (mode 0700) with files of mode 0600, made when the first is needed and removed when
the session ends. What goes into them is decided elsewhere.
"""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from pathlib import Path


class PrivateFiles:
    """The private files of one launch. Not thread-safe until filled; `remove` may be called from any thread, twice."""

    def __init__(self, *, owner: str | None = None) -> None:
        self._owner = owner
        self._directory: Path | None = None
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
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)

    def _ensure_directory(self) -> Path:
        if self._directory is None:
            self._directory = Path(tempfile.mkdtemp(prefix="claude-actors-"))
            self._hand_over(self._directory)
        return self._directory

    def _hand_over(self, path: Path) -> None:
        # A child that runs as another user could not read what only we may read.
        if self._owner is not None:
            os.chown(path, pwd.getpwnam(self._owner).pw_uid, -1)
