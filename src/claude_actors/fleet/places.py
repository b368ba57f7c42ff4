"""The places of the admission queue: who may submit now, who waits, in order.

Any thread; nothing here blocks, and no lock is held while somebody is woken.
"""

from __future__ import annotations

import threading
from collections import deque

from claude_actors.errors import ClaudeActorsError
from claude_actors.mailbox.promise import Promise


class QueuePlaces:
    """So many tasks may wait at a time (None: any number); who comes when it is full waits for a ticket."""

    def __init__(self, limit: int | None) -> None:
        self._lock = threading.Lock()
        self._limit = limit
        self._taken = 0
        self._tickets: deque[Promise[None]] = deque()
        self._closed: ClaudeActorsError | None = None

    @property
    def taken(self) -> int:
        """How many are taken."""
        return self._taken

    @property
    def waiting(self) -> int:
        """How many tickets wait."""
        return len(self._tickets)

    def take(self) -> bool:
        """Take a place if there is one and nobody waits for it."""
        with self._lock:
            if self._tickets or not self._has_room() or self._closed is not None:
                return False
            self._taken += 1
            return True

    def ticket(self) -> Promise[None]:
        """Return a ticket that is settled when its holder has a place, and fails when there will be none."""
        ticket: Promise[None] = Promise()
        with self._lock:
            self._tickets.append(ticket)
        self._hand_out()
        return ticket

    def withdraw(self, ticket: Promise[None]) -> bool:
        """Give up waiting; False if the ticket has its place already."""
        with self._lock:
            try:
                self._tickets.remove(ticket)
            except ValueError:
                return False
            return True

    def give_back(self) -> None:
        """Free a place."""
        with self._lock:
            self._taken -= 1
        self._hand_out()

    def resize(self, limit: int | None) -> None:
        """Allow more or fewer; those that have a place keep it."""
        with self._lock:
            self._limit = limit
        self._hand_out()

    def close(self, error: ClaudeActorsError) -> None:
        """Fail everybody who waits, and all who come."""
        with self._lock:
            self._closed = self._closed or error
        self._hand_out()

    def _has_room(self) -> bool:
        return self._limit is None or self._taken < self._limit

    def _hand_out(self) -> None:
        served: list[Promise[None]] = []
        with self._lock:
            closed = self._closed
            while self._tickets and (closed is not None or self._has_room()):
                served.append(self._tickets.popleft())
                self._taken += closed is None
        for ticket in served:
            ticket.settle(None) if closed is None else ticket.fail(closed)
