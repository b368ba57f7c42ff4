"""The bell that wakes the reactor out of its selector, from any thread and from signal handlers."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Final

from claude_actors.actors import fds

_RING: Final = (1).to_bytes(8, "little")


class WakeUp:
    """An eventfd, or a pipe where there is none."""

    def __init__(self) -> None:
        if hasattr(os, "eventfd"):
            self.reader = self._writer = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        else:
            self.reader, self._writer = os.pipe()
            os.set_blocking(self.reader, False)
            os.set_blocking(self._writer, False)
        fds.own(self.reader)
        fds.own(self._writer)
        # A ring that was about to happen must not be written to whatever file gets our number after close(). Reentrant,
        # because a signal handler may ring in the middle of a ring.
        self._lock = threading.RLock()
        self._closed = False

    def ring(self) -> None:
        """Wake the sleeper; harmless when it is awake or gone."""
        with self._lock:
            if not self._closed:
                with suppress(BlockingIOError):
                    os.write(self._writer, _RING)

    def clear(self, _events: int = 0) -> None:
        """Forget the rings so far."""
        with suppress(BlockingIOError):
            os.read(self.reader, 4096)

    def disarm(self) -> None:
        """Do nothing from now on; for the child of a fork, where the lock may be held for ever."""
        self._lock = threading.RLock()
        self._closed = True

    def close(self) -> None:
        """Close the descriptors; later rings do nothing."""
        with self._lock:
            self._closed = True
            for fd in {self.reader, self._writer}:
                fds.close(fd)
