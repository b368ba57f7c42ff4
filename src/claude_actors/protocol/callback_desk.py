"""The desk for requests that the CLI sends: first event wins, exactly one answer, none for what was withdrawn.

It must not know the lifecycle or run anything; finished, failed, timed out, cancelled and stopped all end up here.
"""

from __future__ import annotations

from collections.abc import Collection

from claude_actors import events
from claude_actors.protocol.callbacks import CallbackRules, CallbackTable, PendingCallback
from claude_actors.protocol.counters import Counters
from claude_actors.protocol.effects import (
    CancelCallback,
    ClearTimer,
    Effect,
    EmitEvent,
    SetTimer,
    StartCallback,
    WriteLine,
)
from claude_actors.wire.codec import ControlRequest, encode_error, encode_success
from claude_actors.wire.control import HookCallback, UnknownRequest

CALLBACK_TIMER = "callbacks"


class CallbackDesk:
    """Decides every request of the CLI exactly once."""

    def __init__(self, *, rules: CallbackRules, limit: int, counters: Counters) -> None:
        self._table = CallbackTable(rules=rules, limit=limit)
        self._counters = counters
        # One timer for all, for the earliest: nearly every callback answers long before, and would only clear its own.
        self._deadlines: dict[str, float] = {}
        self._alarm: float | None = None

    def __len__(self) -> int:
        return len(self._table)

    @property
    def deadlines(self) -> Collection[float]:
        """When the pending callbacks are overdue, those that ever are."""
        return self._deadlines.values()

    def requested(self, frame: ControlRequest, now: float, out: list[Effect]) -> None:
        """Start the callback, or answer at once: unknown requests, unknown hooks, too many pending."""
        if frame.request_id in self._table:
            return  # The same request again: the answer that is on its way serves both.
        pending = self._table.describe(frame.request_id, frame.request)
        if pending is None:
            self._refuse(frame, out)
        elif self._table.is_full:
            self._turn_away(pending, "too many callbacks are pending", out)
        else:
            self._start(pending, now, out)

    def malformed(self, request_id: str, reason: str, out: list[Effect]) -> None:
        """Refuse a request that cannot be read, unless one of the same id is still to be answered."""
        if request_id not in self._table:
            out.append(WriteLine(encode_error(request_id, f"malformed control request: {reason}")))

    def finished(self, request_id: str, line: bytes, out: list[Effect]) -> None:
        """Send the callback's answer if nothing has decided the request before."""
        if self._take(request_id) is None:
            self._counters.late_answers += 1
            return
        self._counters.callbacks_answered += 1
        out.append(WriteLine(line))

    def failed(self, request_id: str, reason: str, out: list[Effect]) -> None:
        """Send the fallback for a callback that raised or answered nonsense."""
        pending = self._take(request_id)
        if pending is None:
            self._counters.late_answers += 1
            return
        self._counters.callbacks_crashed += 1
        out.append(_fallback(pending))
        out.append(EmitEvent(events.CallbackCrashed(pending.kind, pending.name, request_id, reason)))

    def rejected(self, request_id: str, reason: str, out: list[Effect]) -> None:
        """Send the fallback for a callback that could not be started."""
        pending = self._take(request_id)
        if pending is not None:
            self._turn_away(pending, reason, out)

    def look(self, now: float, out: list[Effect]) -> None:
        """Decide what is overdue, now that the timer is."""
        self._alarm = None
        for request_id in [request_id for request_id, deadline in self._deadlines.items() if deadline <= now]:
            self._timed_out(request_id, out)
        if self._deadlines:
            self._set_alarm(min(self._deadlines.values()), out)

    def _timed_out(self, request_id: str, out: list[Effect]) -> None:
        """Send the fallback and tell the callback that it is too late."""
        pending = self._take(request_id)
        assert pending is not None
        self._counters.callbacks_timed_out += 1
        out.append(_fallback(pending))
        out.append(CancelCallback(request_id, "timed_out"))
        timed_out = events.CallbackTimedOut(pending.kind, pending.name, request_id, pending.timeout or 0.0)
        out.append(EmitEvent(timed_out))

    def cancelled(self, request_id: str, out: list[Effect]) -> None:
        """Tell the callback that the CLI has withdrawn its request; a cancelled request gets no answer."""
        pending = self._take(request_id)
        if pending is None:
            return
        self._counters.callbacks_cancelled += 1
        out.append(CancelCallback(request_id, "cancelled"))
        out.append(EmitEvent(events.CallbackCancelled(pending.kind, pending.name, request_id)))

    def stop_all(self, out: list[Effect]) -> None:
        """Tell every callback that the session is over; there is nobody left to answer."""
        if self._alarm is not None:
            out.append(ClearTimer(CALLBACK_TIMER))
        self._deadlines.clear()
        self._alarm = None
        out.extend(CancelCallback(pending.request_id, "stopped") for pending in self._table.take_all())

    def _start(self, pending: PendingCallback, now: float, out: list[Effect]) -> None:
        self._table.add(pending)
        self._counters.callbacks_started += 1
        deadline = None if pending.timeout is None else now + pending.timeout
        if deadline is not None:
            self._deadlines[pending.request_id] = deadline
            if self._alarm is None or deadline < self._alarm:
                self._set_alarm(deadline, out)
        out.append(StartCallback(pending.request_id, pending.kind, pending.name, pending.request, deadline))

    def _turn_away(self, pending: PendingCallback, reason: str, out: list[Effect]) -> None:
        self._counters.callbacks_refused += 1
        out.append(_fallback(pending))
        out.append(EmitEvent(events.CallbackRefused(pending.kind, pending.name, pending.request_id, reason)))

    def _refuse(self, frame: ControlRequest, out: list[Effect]) -> None:
        subtype, reason = _why_refused(frame)
        out.append(WriteLine(encode_error(frame.request_id, reason)))
        out.append(EmitEvent(events.RequestRefused(subtype, reason)))

    def _take(self, request_id: str) -> PendingCallback | None:
        self._deadlines.pop(request_id, None)
        return self._table.take(request_id)

    def _set_alarm(self, at: float, out: list[Effect]) -> None:
        self._alarm = at
        out.append(SetTimer(CALLBACK_TIMER, at))


def _fallback(pending: PendingCallback) -> WriteLine:
    return WriteLine(encode_success(pending.request_id, dict(pending.fallback)))


def _why_refused(frame: ControlRequest) -> tuple[str, str]:
    request = frame.request
    if isinstance(request, HookCallback):
        return "hook_callback", f"no hook with callback_id {request.callback_id!r} is registered"
    subtype = request.subtype if isinstance(request, UnknownRequest) else type(request).__name__
    return subtype, f"unsupported control request subtype {subtype!r}"
