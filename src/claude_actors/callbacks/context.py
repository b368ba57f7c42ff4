"""What a running callback knows of its own call: whose it is, how long it has, and whether it is still wanted.

A thread cannot be killed, so a callback that overruns is only told so here: it should look at `cancelled` now and then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any


class CallbackContext:
    """Describe one call of a callback; every member is safe in every thread."""

    __slots__ = ("_cancelled", "_clock", "_reason", "deadline", "request_id", "session", "session_id", "tool_use_id")

    def __init__(
        self,
        *,
        session: Any = None,
        request_id: str = "",
        deadline: float | None = None,
        session_id: str | None = None,
        tool_use_id: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.session = session
        self.request_id = request_id
        self.deadline = deadline
        self.session_id = session_id
        self.tool_use_id = tool_use_id
        self._clock = clock
        self._cancelled = threading.Event()
        self._reason: str | None = None

    def remaining(self) -> float | None:
        """Return the seconds left before the fallback answers instead (never negative), or None without a deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - self._clock())

    @property
    def cancelled(self) -> bool:
        """True once no answer of this callback can be used any more."""
        return self._cancelled.is_set()

    @property
    def cancel_reason(self) -> str | None:
        """Why the callback was cancelled, or None while it is wanted."""
        return self._reason

    def wait_cancelled(self, timeout: float | None = None) -> bool:
        """Block until the call is cancelled or `timeout` seconds have passed; return whether it is cancelled."""
        return self._cancelled.wait(timeout)

    def _cancel(self, reason: str) -> None:
        """Mark the call as no longer wanted; the first reason stays."""
        if not self._cancelled.is_set():
            self._reason = reason
            self._cancelled.set()

    def __repr__(self) -> str:
        state = f"cancelled: {self._reason}" if self.cancelled else "running"
        return f"<CallbackContext {self.request_id} {state}>"
