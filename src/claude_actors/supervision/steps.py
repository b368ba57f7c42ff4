"""What goes into TreeMachine and what comes out: frozen values, nothing that acts.

A `run` numbers one start of one child, so that what comes late from an earlier one is not taken for the present one.
A `request` is whatever the caller hands in to be replied to.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from claude_actors.supervision.specs import ChildSpec

# --- in: commands ---


class StartChild(Struct, frozen=True):
    """Add a child and start it; replied with what its start returned."""

    spec: ChildSpec
    request: Any = None


class TerminateChild(Struct, frozen=True):
    """Stop a child and keep its spec; replied when it is down."""

    id: str
    request: Any = None


class RestartChild(Struct, frozen=True):
    """Start a stopped child; replied with what its start returned."""

    id: str
    request: Any = None


class DeleteChild(Struct, frozen=True):
    """Forget a stopped child."""

    id: str
    request: Any = None


class StopTree(Struct, frozen=True):
    """Stop every child, the last started first, and end."""


Command: TypeAlias = StartChild | TerminateChild | RestartChild | DeleteChild

# --- in: what happened ---


class Begun(Struct, frozen=True):
    """The supervisor runs: start the children."""


class ChildStarted(Struct, frozen=True):
    """A start returned; `target` is what users get, None if there is nothing to run."""

    run: int
    target: Any


class ChildStartFailed(Struct, frozen=True):
    """A start raised, or returned what cannot be supervised."""

    run: int
    error: BaseException


class ChildEnded(Struct, frozen=True):
    """A child is no more; `reason` is None for a normal end, else what it failed with."""

    run: int
    reason: BaseException | None


class TimePassed(Struct, frozen=True):
    """Look at what is due."""


Input: TypeAlias = Command | StopTree | Begun | ChildStarted | ChildStartFailed | ChildEnded | TimePassed

# --- out ---


class BeginStart(Struct, frozen=True):
    """Call the start function, in a thread where it may block."""

    run: int
    spec: ChildSpec


class AbortStart(Struct, frozen=True):
    """The child of a start that has not returned is no longer wanted; hurry it if you can."""

    run: int


class BeginStop(Struct, frozen=True):
    """Ask the child to end within `timeout` (None: however long it takes)."""

    run: int
    timeout: float | None


class Kill(Struct, frozen=True):
    """End the child by force as far as that is possible, and wait no more for it."""

    run: int


class Discard(Struct, frozen=True):
    """Stop a child whose start returned when nobody wanted it any more."""

    run: int


class Reply(Struct, frozen=True):
    """Answer a request."""

    request: Any
    value: Any = None
    error: BaseException | None = None


class ReportRestart(Struct, frozen=True):
    """A child failed or could not be started; these are started anew after `delay`."""

    failed: str
    ids: tuple[str, ...]
    reason: BaseException | None
    delay: float


class ReportStarted(Struct, frozen=True):
    """Every child was started once."""


class ReportEnded(Struct, frozen=True):
    """Nothing of the tree is left; `reason` is None if it was stopped on request."""

    reason: BaseException | None


Effect: TypeAlias = (
    BeginStart | AbortStart | BeginStop | Kill | Discard | Reply | ReportRestart | ReportStarted | ReportEnded
)
