"""Named gates at which scripted replies stand still until a test opens them.

In-process and thread-safe. A gate exists from its first mention and stays open once it is open.
"""

from __future__ import annotations

import threading


class Gates:
    """A set of gates by name; any thread may use any of it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open: set[str] = set()
        self._reached: set[str] = set()
        self._closing = False

    def open(self, name: str) -> None:
        """Let everybody pass who stands before this gate or comes to it later."""
        with self._changed:
            self._open.add(name)
            self._changed.notify_all()

    def wait_reached(self, name: str, timeout: float = 30.0) -> None:
        """Block until somebody has come to this gate; raise `TimeoutError` after `timeout` seconds."""
        with self._changed:
            if not self._changed.wait_for(lambda: name in self._reached, timeout):
                raise TimeoutError(f"nobody came to gate {name!r} within {timeout} s")

    def pass_through(self, name: str) -> bool:
        """Stand before the gate until it opens; false when everything is being closed instead."""
        with self._changed:
            self._reached.add(name)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._closing or name in self._open)
            return not self._closing

    def pause(self, seconds: float) -> bool:
        """Stand still for some seconds; false when everything is being closed meanwhile."""
        with self._changed:
            return not self._changed.wait_for(lambda: self._closing, seconds)

    def close(self) -> None:
        """Send everybody away who stands before a gate."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
