"""What a session counts over its life; read by `snapshot()` from any thread."""

from __future__ import annotations

import msgspec


class Counters(msgspec.Struct):
    """Totals since the process started; only the machine adds to them."""

    messages: int = 0
    junk_lines: int = 0
    discarded_lines: int = 0
    requests_sent: int = 0
    requests_timed_out: int = 0
    late_responses: int = 0
    callbacks_started: int = 0
    callbacks_answered: int = 0
    callbacks_timed_out: int = 0
    callbacks_crashed: int = 0
    callbacks_cancelled: int = 0
    callbacks_refused: int = 0
    late_answers: int = 0
    turns_finished: int = 0
    dropped_after_end: int = 0
