"""Writes log events in a thread of its own, because a log handler is the host program's code and may block.

Events wait in a bounded queue; what does not fit is counted, and said as soon as there is room. The thread starts with
an event and ends when none is left. No lock is held around a handler, nor taken where a signal handler could need it.
"""

from __future__ import annotations

import atexit
import contextvars
import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from claude_actors.logs import Log, get_logger

MOST_WAITING: Final = 1000
_LAST_FLUSH: Final = 1.0


class BackgroundLog:
    """Hands events to a `Log`, in order, from one thread at a time. Every method is safe in every thread."""

    def __init__(self, log: Log, most_waiting: int = MOST_WAITING) -> None:
        self._log = log
        self._most_waiting = most_waiting
        self._waiting: deque[Callable[[], object]] = deque()
        # Who holds it writes. Taken by the thread that starts the writer, released by the writer.
        self._writing = threading.Lock()
        self._counting = threading.RLock()
        self.dropped = 0
        self._untold = 0

    def write(self, level: int, event: str, data: dict[str, Any]) -> None:
        """Queue an event. Never blocks, never raises."""
        if self._log.wants(level):
            self.run(lambda: self._log.write(level, event, data))

    def run(self, job: Callable[[], object]) -> None:
        """Queue anything that writes a log, with the context variables of this thread. Never blocks, never raises."""
        if len(self._waiting) >= self._most_waiting:
            with self._counting:
                self.dropped += 1
                self._untold += 1
            return
        context = contextvars.copy_context()
        self._waiting.append(lambda: context.run(job))
        if self._writing.acquire(blocking=False):
            self._start_writer()

    def flush(self, timeout: float = 30.0) -> bool:
        """Block until everything so far is written; False if a handler did not let that happen in time."""
        if not self._writing.acquire(timeout=timeout):
            return False
        self._write_all()
        return True

    def forget(self) -> None:
        """Forget everything in the child of a fork: the parent writes it."""
        self.__init__(self._log, self._most_waiting)  # type: ignore[misc]

    def _start_writer(self) -> None:
        try:
            threading.Thread(target=self._write_all, name="claude-actors-log", daemon=True).start()
        except BaseException:
            # No more threads, or the interpreter is ending: what waits is written by a later writer or the last flush.
            self._writing.release()

    def _write_all(self) -> None:
        while True:
            while self._waiting:
                self._write(self._waiting.popleft())
                self._tell_dropped()
            self._writing.release()
            # Whoever queued an event while we held the lock has left it to us.
            if not self._waiting or not self._writing.acquire(blocking=False):
                return

    def _write(self, job: Callable[[], object]) -> None:
        try:
            job()
        except BaseException:
            # A handler of the host program failed: there is nobody left to tell.
            return

    def _tell_dropped(self) -> None:
        with self._counting:
            untold, self._untold = self._untold, 0
        if untold:
            self._write(lambda: self._log.warning("log_events_dropped", count=untold))


class HandOver(logging.Filter):
    """Has records of a standard logger written in the background if they come from a thread that must not wait."""

    def __init__(self, log: BackgroundLog, must_not_wait: Callable[[], bool]) -> None:
        super().__init__()
        self._log = log
        self._must_not_wait = must_not_wait

    def filter(self, record: logging.LogRecord) -> bool:
        """Let a record pass that its own thread may write; the others come here again from the background."""
        if not self._must_not_wait():
            return True
        self._log.run(lambda: logging.getLogger(record.name).handle(record))
        return False


BACKGROUND_LOG: Final = BackgroundLog(get_logger())

# Exit hooks run last in, first out: those of the runtime, which may log, are all added after this one.
atexit.register(BACKGROUND_LOG.flush, _LAST_FLUSH)
os.register_at_fork(after_in_child=BACKGROUND_LOG.forget)
