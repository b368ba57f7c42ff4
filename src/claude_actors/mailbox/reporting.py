"""Telling a mailbox's owner of overflow: in order, one at a time, outside every lock, whatever its code does."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from claude_actors.logs import get_logger
from claude_actors.mailbox.limits import OverflowReport


class Reporter:
    """Hand queued reports to the callback, from whichever thread comes by. The callback must not block."""

    def __init__(self, reports: deque[OverflowReport], callback: Callable[[OverflowReport], None] | None) -> None:
        self._reports, self._callback = reports, callback
        self._busy = threading.Lock()

    def deliver(self) -> None:
        """Call the owner with what is queued. Another thread that is at it, or a call from within, takes it over."""
        while self._reports and self._busy.acquire(blocking=False):
            try:
                self._call(self._reports.popleft())
            finally:
                self._busy.release()

    def _call(self, report: OverflowReport) -> None:
        try:
            if self._callback is not None:
                self._callback(report)
        except (Exception, SystemExit) as error:
            # What it raised may quote what it was given: that is for the debug level.
            get_logger().error("overflow_callback_failed", mailbox=report.mailbox, error=type(error).__name__)
            get_logger().debug("overflow_callback_traceback", mailbox=report.mailbox, exc_info=error)
