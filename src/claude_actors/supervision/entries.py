"""One child as its supervisor knows it: its phase, what is wanted of it, and who waits for that.

Pure bookkeeping, with the two rules of order: who may be started next, who must be stopped next.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, Literal, TypeAlias

from claude_actors.supervision.specs import ChildSpec, Strategy

ChildState: TypeAlias = Literal["starting", "running", "restarting", "stopping", "stopped"]


class Phase(Enum):
    """Where a child is."""

    DOWN = "down"
    STARTING = "starting"
    UP = "up"
    # Its start has not returned, and when it does the child is to be stopped.
    ABORTING = "aborting"
    STOPPING = "stopping"


_STATES: dict[Phase, ChildState] = {
    Phase.STARTING: "starting",
    Phase.UP: "running",
    Phase.ABORTING: "stopping",
    Phase.STOPPING: "stopping",
}


class Entry:
    """One child: what it is and what is to become of it."""

    def __init__(self, spec: ChildSpec, *, opener: Any = None, kept: bool = True) -> None:
        self.spec = spec
        self.phase = Phase.DOWN
        self.wanted = True
        # It is up, or on its way there, but must go down before it is started anew.
        self.again = False
        self.due = 0.0
        self.deadline: float | None = None
        self.run = 0
        self.attempts = 0
        self.starts = 0
        self.streak = 0
        self.up_since: float | None = None
        self.reason: BaseException | None = None
        # Who asked for this start and hears of it; the spec of a start that fails is kept only if it was known before.
        self.opener = opener
        self.kept = kept
        self.closers: list[Any] = []

    @property
    def id(self) -> str:
        """Give the child's id."""
        return self.spec.id

    @property
    def state(self) -> ChildState:
        """Say where the child is, for people."""
        if self.phase is Phase.DOWN:
            return ("restarting" if self.attempts else "starting") if self.wanted else "stopped"
        return _STATES[self.phase]

    @property
    def restarts(self) -> int:
        """Count the starts after the first, failed ones too."""
        return max(0, self.attempts - 1)

    @property
    def must_stop(self) -> bool:
        """Tell whether its stop is still to be begun."""
        return self.phase in (Phase.UP, Phase.STARTING) and (self.again or not self.wanted)

    @property
    def may_start(self) -> bool:
        """Tell whether its start is still to be begun."""
        return self.phase is Phase.DOWN and self.wanted


def next_stop(entries: Iterable[Entry], *, one_at_a_time: bool) -> Entry | None:
    """Give the child whose stop is to be begun now: the last started first, each when the one after it is down."""
    known = list(entries)
    if one_at_a_time and any(entry.phase in (Phase.STOPPING, Phase.ABORTING) for entry in known):
        return None
    return next((entry for entry in reversed(known) if entry.must_stop), None)


def next_starts(entries: Iterable[Entry], strategy: Strategy, now: float, *, first_starts: bool) -> list[Entry]:
    """Give the children whose start is to be begun now.

    With `one_for_one`, children are started again independently of each other, and only the `first_starts` of a tree
    are in order. A group is started in order, one after another, when all of it that had to is down and none must wait.
    """
    known = list(entries)
    waiting = [entry for entry in known if entry.may_start]
    if strategy != "one_for_one":
        busy = any(entry.phase not in (Phase.DOWN, Phase.UP) for entry in known)
        return [] if busy or not waiting or max(entry.due for entry in waiting) > now else waiting[:1]
    due = [entry for entry in waiting if entry.due <= now]
    if not first_starts:
        return due
    again = [entry for entry in due if entry.starts]
    if any(entry.phase is Phase.STARTING and not entry.starts for entry in known):
        return again
    return [*again, *[entry for entry in due if not entry.starts][:1]]
