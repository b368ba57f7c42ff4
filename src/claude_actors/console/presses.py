"""Ctrl-C, counted: the first does one thing, the second another, and neither waits for the other.

Python runs a signal's handler in the main thread, when that next runs Python code: a press that comes just before it
falls asleep would sleep with it. So the interpreter itself writes each press to a pipe, and a thread reads it there.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self


class Presses:
    """Takes over Ctrl-C while its `with` block lasts; main thread only.

    The first press calls `first`, each later one `then`, in threads of their own, so that they may block for a while.
    Leaving the block waits for them.
    """

    def __init__(self, first: Callable[[], object], then: Callable[[], object]) -> None:
        self._first, self._then = first, then
        self._threads: list[threading.Thread] = []
        self.count = 0

    def __enter__(self) -> Self:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._start(self._serve)
        self._wakeup_before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._before = signal.signal(signal.SIGINT, lambda number, frame: None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._writer)
        # The first is the one that starts the others.
        for thread in self._threads:
            thread.join()
        os.close(self._reader)

    def _serve(self) -> None:
        while pressed := os.read(self._reader, 64):
            for _ in range(pressed.count(signal.SIGINT)):
                self.count += 1
                self._start(self._first if self.count == 1 else self._then)

    def _start(self, work: Callable[[], object]) -> None:
        thread = threading.Thread(target=work, name="claude-actors-presses", daemon=True)
        self._threads.append(thread)
        thread.start()
