"""What a running callback knows of its own call: whose it is, how long it has, and whether it is still wanted.

A thread cannot be killed, so a callback that overruns is only told so here: it should look at `cancelled` now and then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

# One for all calls: it is held for a comparison. A lock, or an Event, for each call would cost a tenth of a round trip.
_CANCELLING: Final = threading.Lock()


class CallbackContext:
    """Describe one call of a callback; every member is safe in every thread."""

    __slots__ = ("_clock", "_gate", "_reason", "deadline", "request_id", "session", "session_id", "tool_use_id")

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
        self._gate: threading.Event | None = None
        self._reason: str | None = None

    def remaining(self) -> float | None:
        """Return the seconds left before the fallback answers instead (never negative), or None without a deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - self._clock())

    @property
    def cancelled(self) -> bool:
        """True once no answer of this callback can be used any more."""
        return self._reason is not None

    @property
    def cancel_reason(self) -> str | None:
        """Why the callback was cancelled, or None while it is wanted."""
        return self._reason

    def wait_cancelled(self, timeout: float | None = None) -> bool:
        """Block until the call is cancelled or `timeout` seconds have passed; return whether it is cancelled."""
        with _CANCELLING:
            if self._reason is not None:
                return True
            self._gate = gate = self._gate or threading.Event()
        return gate.wait(timeout)

    def _cancel(self, reason: str) -> None:
        """Mark the call as no longer wanted; the first reason stays."""
        with _CANCELLING:
            if self._reason is None:
                self._reason = reason
        if self._gate is not None:
            self._gate.set()

    def __repr__(self) -> str:
        state = f"cancelled: {self._reason}" if self.cancelled else "running"
        return f"<CallbackContext {self.request_id} {state}>"
