"""Where the results of a fleet go: JSON lines in a file, or on standard output, each as soon as its task is over.

On a terminal that shows the table they wait for its end, so that neither disturbs the other.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from claude_actors import InvalidOptions
from claude_actors.console.fleet_run import TaskOutcome


class Results:
    """Writes outcomes; a context manager that writes what waited and closes the file.

    Entering raises InvalidOptions for a file that cannot be opened, all else OSError.
    """

    def __init__(self, path: Path | None, *, hold: bool) -> None:
        self._path, self._hold = path, hold
        self._held: list[bytes] = []
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        if self._path is not None:
            try:
                self._file = self._path.open("wb")
            except OSError as error:
                raise InvalidOptions(f"{self._path}: {error.strerror or error}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for line in self._held:
            self._put(line)
        if self._file is not None:
            self._file.close()

    def write(self, outcome: TaskOutcome) -> None:
        """Write one outcome."""
        line = msgspec.json.encode(outcome) + b"\n"
        if self._hold:
            self._held.append(line)
        else:
            self._put(line)

    def _put(self, line: bytes) -> None:
        file = self._file or sys.stdout.buffer
        file.write(line)
        file.flush()
