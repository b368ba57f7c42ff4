"""Which events are worth a line in the log, even where nobody reads `events()`: callbacks that gave no good answer.

No line holds what a callback raised or was given: the text of an exception may quote a prompt or a tool's input. Each
names its session, since a service may have hundreds.
"""

from __future__ import annotations

from claude_actors.actors.contained import warn
from claude_actors.events import (
    CallbackAbandoned,
    CallbackCrashed,
    CallbackRefused,
    CallbackTimedOut,
    CallbackWarned,
    Event,
)


def log_event(event: Event, session_id: str | None, pid: int | None) -> None:
    """Log the event if it is one of those. `session_id` is None before the first turn. Never blocks, never raises."""
    match event:
        case CallbackTimedOut(kind, name, id, after):
            warn("callback_timed_out", session_id=session_id, pid=pid, kind=kind, name=name, request_id=id, after=after)
        case CallbackCrashed(kind, name, id, reason):
            # The name of the exception stands first.
            error = reason.partition(":")[0]
            warn("callback_crashed", session_id=session_id, pid=pid, kind=kind, name=name, request_id=id, error=error)
        case CallbackRefused(kind, name, id, reason):
            warn("callback_refused", session_id=session_id, pid=pid, kind=kind, name=name, request_id=id, reason=reason)
        case CallbackWarned(kind, name, id, text):
            warn(
                "callback_result_not_used",
                session_id=session_id,
                pid=pid,
                kind=kind,
                name=name,
                request_id=id,
                warning=text,
            )
        case CallbackAbandoned(kind, name, id, abandoned):
            warn(
                "callback_abandoned",
                session_id=session_id,
                pid=pid,
                kind=kind,
                name=name,
                request_id=id,
                abandoned=abandoned,
            )
        case _:
            return
