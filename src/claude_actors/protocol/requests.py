"""Requests that we send: their ids, who waits for them, and what waits for the session to run.

It decides which response belongs to which operation and when there are too many; it knows no clock and writes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

from claude_actors.errors import ControlError, InitQueueOverflow, TooManyPendingRequests

T = TypeVar("T")


class PendingRequest(msgspec.Struct, frozen=True):
    """One request on the wire: which operation it serves and how long it may take."""

    request_id: str
    operation: int
    subtype: str
    timeout: float


class RequestTable:
    """The requests that are on the wire and not answered yet, at most `limit` of them."""

    def __init__(self, *, salt: str, limit: int) -> None:
        self._salt = salt
        self._limit = limit
        self._counter = 0
        self._pending: dict[str, PendingRequest] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def open(self, operation: int, subtype: str, timeout: float) -> PendingRequest:
        """Give the operation a request id, unique in the session; raise `TooManyPendingRequests` at the limit."""
        if len(self._pending) >= self._limit:
            raise TooManyPendingRequests(limit=self._limit)
        self._counter += 1
        pending = PendingRequest(f"req_{self._counter}_{self._salt}", operation, subtype, timeout)
        self._pending[pending.request_id] = pending
        return pending

    def take(self, request_id: str) -> PendingRequest | None:
        """Remove and return the request; None for an id that is unknown, answered already or timed out."""
        return self._pending.pop(request_id, None)

    def take_all(self) -> list[PendingRequest]:
        """Remove and return every request, oldest first."""
        taken = list(self._pending.values())
        self._pending.clear()
        return taken


class StartQueue(Generic[T]):
    """What was asked for before the session runs, in order, at most `limit` of it."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[T] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, item: T, *, beyond_limit: bool = False) -> ControlError | None:
        """Queue the item, or return the error that its caller gets at once."""
        if len(self._waiting) >= self._limit and not beyond_limit:
            return InitQueueOverflow(limit=self._limit)
        self._waiting.append(item)
        return None

    def drain(self) -> Iterator[T]:
        """Give and forget the items in order."""
        while self._waiting:
            yield self._waiting.popleft()
