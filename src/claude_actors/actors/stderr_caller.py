"""Calls the user's `Options.stderr` with each line that the CLI writes there: in order, in a task's thread.

User code may be slow or hang, so lines wait in a bounded queue; what does not fit is counted and said in the log.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from claude_actors.actors.contained import run_user_code, warn
from claude_actors.actors.task_pool import PoolExhausted, TaskPool

_MOST_WAITING: Final = 10_000


class StderrCaller:
    """Passes lines on to one callback; without one it does nothing."""

    def __init__(self, callback: Callable[[str], object] | None, pool: TaskPool) -> None:
        self._callback = callback
        self._pool = pool
        self._lock = threading.Lock()
        self._waiting: deque[str] = deque()
        self._calling = False
        self.dropped = 0

    def pass_on(self, lines: tuple[str, ...]) -> None:
        """Queue the lines and see to it that a task calls the callback with them. Never blocks."""
        if self._callback is None:
            return
        with self._lock:
            room = _MOST_WAITING - len(self._waiting)
            self._waiting.extend(lines[:room])
            lost = len(lines) - min(room, len(lines))
            self.dropped += lost
            start, self._calling = not self._calling, True
        if lost:
            warn("stderr_lines_dropped", lost=lost, dropped=self.dropped)
        if start:
            self._start()

    def _start(self) -> None:
        try:
            self._pool.run(self._call)
        except PoolExhausted:
            # The lines stay; the next ones try again.
            with self._lock:
                self._calling = False

    def _call(self) -> None:
        """Runs in a task's thread."""
        assert self._callback is not None
        while True:
            with self._lock:
                if not self._waiting:
                    self._calling = False
                    return
                line = self._waiting.popleft()
            run_user_code("stderr_callback_failed", self._callback, line)
