"""Timers of the reactor: a heap with lazy cancelling and bounded garbage.

Decides when which function is due. It has no thread and no clock of its own: the reactor passes the time in. Adding and
cancelling are safe from any thread; everything else belongs to the reactor's thread.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Final

_COMPACT_AT_LEAST: Final = 64


class TimerHandle:
    """One timer; `cancel()` may be called from any thread, at any time, any number of times."""

    __slots__ = ("_function", "when")

    def __init__(self, when: float, function: Callable[[], object]) -> None:
        self.when = when
        self._function: Callable[[], object] | None = function

    @property
    def active(self) -> bool:
        """Tell whether it has neither run nor been cancelled."""
        return self._function is not None

    def cancel(self) -> None:
        """Make it never run, unless it is running already."""
        self._function = None

    def take(self) -> Callable[[], object] | None:
        """Give the function, once, to whoever runs it."""
        function, self._function = self._function, None
        return function


class TimerHeap:
    """All timers of one reactor."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, TimerHandle]] = []
        self._numbers = count()
        self._compact_at = _COMPACT_AT_LEAST
        # Other threads only append here: a list that heapq is working on cannot be shared.
        self.incoming: deque[TimerHandle] = deque()

    def __len__(self) -> int:
        return len(self._heap) + len(self.incoming)

    def next_deadline(self) -> float | None:
        """Take in what was added and say when the next live timer is due."""
        while self.incoming:
            handle = self.incoming.popleft()
            heapq.heappush(self._heap, (handle.when, next(self._numbers), handle))
        if len(self._heap) > self._compact_at:
            self._compact()
        while self._heap and not self._heap[0][2].active:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now: float) -> Callable[[], object] | None:
        """Give the next function that is due, or None."""
        while self._heap and self._heap[0][0] <= now:
            function = heapq.heappop(self._heap)[2].take()
            if function is not None:
                return function
        return None

    def _compact(self) -> None:
        self._heap = [entry for entry in self._heap if entry[2].active]
        heapq.heapify(self._heap)
        self._compact_at = max(_COMPACT_AT_LEAST, 2 * len(self._heap))
