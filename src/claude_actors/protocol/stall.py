"""Noticing a turn in which nothing is heard although nothing explains the silence.

It only reports: a healthy session may be silent while a tool, a task or a callback works, and is never touched here.
"""

from __future__ import annotations

from claude_actors import events
from claude_actors.protocol.effects import ClearTimer, Effect, EmitEvent, SetTimer

STALL_TIMER = "stall"


class StallWatch:
    """Looks every `after` seconds while a turn is open; without `after` it does nothing."""

    def __init__(self, after: float | None) -> None:
        self._after = after
        self._last_heard = 0.0
        self._armed = False

    def heard(self, now: float) -> None:
        """Note that the CLI gave a sign of life."""
        self._last_heard = now

    def arm(self, now: float, out: list[Effect]) -> None:
        """Begin to look, for a prompt that goes out now."""
        self._last_heard = now
        if self._after is not None and not self._armed:
            self._look_again(now + self._after, out)

    def look(self, now: float, out: list[Effect], *, turn_open: bool, explained: bool) -> None:
        """Report the silence if there is one, and look again as long as a turn is open."""
        self._armed = False
        if self._after is None or not turn_open:
            return
        silent_for = now - self._last_heard
        if silent_for < self._after:
            self._look_again(self._last_heard + self._after, out)
            return
        if not explained:
            out.append(EmitEvent(events.TurnStalled(silent_for)))
        self._look_again(now + self._after, out)

    def disarm(self, out: list[Effect]) -> None:
        """Look no more."""
        if self._armed:
            self._armed = False
            out.append(ClearTimer(STALL_TIMER))

    def _look_again(self, at: float, out: list[Effect]) -> None:
        self._armed = True
        out.append(SetTimer(STALL_TIMER, at))
