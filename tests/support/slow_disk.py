"""A disk at a gate: writes of spill files hang until the test lets them go on."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from claude_actors.mailbox.spill_writer import writer_for

DEADLINE = 30.0


class HungDisk:
    """Stands in for `os.pwrite` (and `os.pread`, if asked). Files in directories that are spared are not held up."""

    def __init__(self) -> None:
        self._pwrite, self._pread = os.pwrite, os.pread
        self._arrived: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._leave: queue.SimpleQueue[OSError | None] = queue.SimpleQueue()
        self._hanging = True
        self._hanging_reads = False
        # What is in memory cannot hang.
        self._spared = ["/memfd:"]

    def hangs(self) -> None:
        """Wait until a call stands at the gate."""
        self._arrived.get(timeout=DEADLINE)

    def goes_on(self, error: OSError | None = None, *, once: bool = False) -> None:
        """Let the call at the gate go on, or fail, and with `once=False` all that come later go on without a gate."""
        self._hanging = self._hanging and once
        self._hanging_reads = self._hanging_reads and once
        self._leave.put(error)

    def is_idle(self) -> None:
        """Wait until everything that was submitted for the default directory has been written."""
        done = threading.Event()
        writer_for(None).submit(done.set)
        assert done.wait(DEADLINE)

    def hang_reads(self) -> None:
        """Hold up reads too, from now on."""
        self._hanging_reads = True
        while not self._leave.empty():
            self._leave.get()

    def spare(self, directory: Path) -> None:
        self._spared.append(str(directory))

    def spare_all(self) -> None:
        self._hanging = False

    def pwrite(self, descriptor: int, data: bytes, offset: int) -> int:
        if self._hanging and not self._is_spared(descriptor):
            self._wait()
        return self._pwrite(descriptor, data, offset)

    def pread(self, descriptor: int, size: int, offset: int) -> bytes:
        if self._hanging_reads:
            self._wait()
        return self._pread(descriptor, size, offset)

    def _wait(self) -> None:
        self._arrived.put(None)
        error = self._leave.get(timeout=DEADLINE)
        if error is not None:
            raise error

    def _is_spared(self, descriptor: int) -> bool:
        name = os.readlink(f"/proc/self/fd/{descriptor}")
        return any(name.startswith(directory) for directory in self._spared)


@contextmanager
def hung_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[HungDisk]:
    """Have every write to a spill file hang from the first on; at the end everything goes on."""
    disk = HungDisk()
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", disk.pwrite)
        patch.setattr(os, "pread", disk.pread)
        yield disk
        disk.goes_on()
        disk.is_idle()
