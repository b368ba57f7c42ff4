"""The desk for requests that we send: gives them out, matches the responses, times them out, fails the rest.

It must not know the lifecycle: the machine decides when something may be sent at all.
"""

from __future__ import annotations

from claude_actors.errors import ControlError, EncodingFailed, RequestFailed, RequestTimeout, TooManyPendingRequests
from claude_actors.protocol.counters import Counters
from claude_actors.protocol.effects import ClearTimer, CompleteOperation, Effect, FailOperation, SetTimer, WriteLine
from claude_actors.protocol.inputs import OperationRequested
from claude_actors.protocol.requests import RequestTable
from claude_actors.wire.codec import ControlResponse, encode_cancel, encode_request

TIMER_PREFIX = "request:"


class RequestDesk:
    """Turns operations into requests and responses into outcomes; each operation gets exactly one."""

    def __init__(self, *, salt: str, limit: int, counters: Counters) -> None:
        self._table = RequestTable(salt=salt, limit=limit)
        self._counters = counters

    def __len__(self) -> int:
        return len(self._table)

    def send(self, wanted: OperationRequested, now: float, out: list[Effect]) -> None:
        """Write the request, or fail its operation at once: too many are pending, or it cannot be JSON."""
        try:
            pending = self._table.open(wanted.operation, wanted.request.subtype, wanted.timeout)
        except TooManyPendingRequests as error:
            out.append(FailOperation(wanted.operation, error))
            return
        try:
            line = encode_request(pending.request_id, wanted.request)
        except EncodingFailed as error:
            self._table.take(pending.request_id)
            out.append(FailOperation(wanted.operation, error))
            return
        self._counters.requests_sent += 1
        out.append(WriteLine(line))
        out.append(SetTimer(TIMER_PREFIX + pending.request_id, now + wanted.timeout))

    def answered(self, response: ControlResponse, out: list[Effect]) -> None:
        """Give the response to its operation; one that nobody waits for is only counted."""
        pending = self._table.take(response.request_id)
        if pending is None:
            self._counters.late_responses += 1
            return
        out.append(ClearTimer(TIMER_PREFIX + pending.request_id))
        if response.success:
            out.append(CompleteOperation(pending.operation, response.response))
            return
        reason = response.error or "no reason given"
        error = RequestFailed(subtype=pending.subtype, reason=reason, code=response.error_code)
        out.append(FailOperation(pending.operation, error))

    def timed_out(self, request_id: str, out: list[Effect]) -> None:
        """Fail the operation and tell the CLI that no answer is wanted any more."""
        pending = self._table.take(request_id)
        if pending is None:
            return
        self._counters.requests_timed_out += 1
        out.append(WriteLine(encode_cancel(request_id)))
        out.append(FailOperation(pending.operation, RequestTimeout(subtype=pending.subtype, after=pending.timeout)))

    def fail_all(self, error: ControlError, out: list[Effect]) -> None:
        """Fail everything that is pending with the reason of the end."""
        for pending in self._table.take_all():
            out.append(ClearTimer(TIMER_PREFIX + pending.request_id))
            out.append(FailOperation(pending.operation, error))
