"""How many messages a consumer takes before it gives up the interpreter for a moment.

A thread that wakes waits up to 5 ms for the interpreter while another computes. Giving it up now and then keeps others
awake; it costs the consumer about 60 µs each time. Measured beside a flood: every 64 messages keep a callback's p50
a quarter and its p99 a third below what every 128 do, at six sevenths of the rate; every 16 cost two thirds of the
rate, every 256 are no help. A mere sched_yield is none either, for the thread gets the interpreter back before the
other is awake.
"""

from __future__ import annotations

import time
from typing import Final

OFTEN: Final = 64
SELDOM: Final = 192
_HURRY: Final = 0.25


class Pace:
    """One for the process: it is the same interpreter that all consumers give up."""

    __slots__ = ("_often_until",)

    def __init__(self) -> None:
        self._often_until = 0.0

    def hurry(self) -> None:
        """Have consumers give way often for a while, because somebody waits for an answer. Any thread."""
        self._often_until = time.monotonic() + _HURRY

    @property
    def items(self) -> int:
        """How many messages a consumer may take in a row now."""
        return OFTEN if time.monotonic() < self._often_until else SELDOM


PACE: Final = Pace()
