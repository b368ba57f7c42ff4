"""What the fleet machine is told, and what it wants done: also the messages of the fleet's actor.

Plain values. Inputs are past tense or requests, effects imperative.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from claude_actors.errors import ClaudeActorsError, InvalidOptions
from claude_actors.fleet.entry import Entry
from claude_actors.fleet.errors import TaskCancelled
from claude_actors.fleet.slots import WarmPolicy
from claude_actors.fleet.spending import Budget, Spent
from claude_actors.options import Options


class FleetLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What bounds a fleet; all of it can be changed while it runs.

    `max_starting`: how many sessions may be on their way at a time; a start takes a lot of CPU, and too many at once
    would all be late. `queue`: how many tasks may wait. None is no bound. `budget`: what all tasks together may use.
    """

    max_sessions: int = 4
    max_starting: int | None = None
    queue: int | None = 1000
    budget: Budget = Budget()
    warm: WarmPolicy = WarmPolicy()

    def __post_init__(self) -> None:
        if self.max_sessions < 1:
            raise InvalidOptions("Fleet: max_sessions must be at least 1")
        for name in ("queue", "max_starting"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidOptions(f"Fleet: {name} must be at least 1, or None for no bound")
        for kind in ("turns", "tokens", "usd"):
            value = getattr(self.budget, kind)
            if value is not None and not value >= 0:
                raise InvalidOptions(f"Fleet: a budget of {kind} must not be negative, or None for no limit")


# --- inputs ---


class TasksSubmitted(msgspec.Struct, frozen=True):
    """New tasks are there."""

    entries: tuple[Entry, ...]


class CancelRequested(msgspec.Struct, frozen=True):
    """Somebody does not want a task any more; with `error`, because it cannot go on."""

    job: str
    error: ClaudeActorsError | None = None


class SlotRunning(msgspec.Struct, frozen=True):
    """A session has accepted initialize."""

    slot: int


class SlotNamed(msgspec.Struct, frozen=True):
    """A session has told the id of its conversation."""

    slot: int
    session_id: str


class SlotAsked(msgspec.Struct, frozen=True):
    """A session began (`waits`) or ceased to wait for somebody's permission."""

    slot: int
    waits: bool


class TurnSettled(msgspec.Struct, frozen=True):
    """A task's turn is over: with a result (`line`), which may stand for an `error`, or with an error alone."""

    slot: int
    job: str
    line: bytes | None = None
    error: ClaudeActorsError | None = None
    spent: Spent = Spent()


class SlotEnded(msgspec.Struct, frozen=True):
    """Nothing is left of a session."""

    slot: int
    error: ClaudeActorsError | None = None


class TokensUsedUp(msgspec.Struct, frozen=True):
    """A task has used all the tokens that it may, in a turn that is still open."""

    slot: int
    job: str
    spent: Spent


class LimitSeen(msgspec.Struct, frozen=True):
    """A session was told that a rate limit is used up, until this Unix time."""

    resets_at: float


class LimitsChanged(msgspec.Struct, frozen=True):
    """Other bounds hold from now on."""

    limits: FleetLimits


class HoldRequested(msgspec.Struct, frozen=True):
    """Start no tasks (`hold`), or start them again."""

    hold: bool


class DrainRequested(msgspec.Struct, frozen=True):
    """End when everything is done; with `leave_queued`, when everything that runs now is."""

    leave_queued: bool = False


class StopRequested(msgspec.Struct, frozen=True):
    """End now; unfinished tasks end with this error and stay unfinished in the journal."""

    error: ClaudeActorsError


class Ticked(msgspec.Struct, frozen=True):
    """A time that the machine asked for has come."""


Input: TypeAlias = (
    TasksSubmitted
    | CancelRequested
    | SlotRunning
    | SlotNamed
    | SlotAsked
    | TurnSettled
    | SlotEnded
    | TokensUsedUp
    | LimitSeen
    | LimitsChanged
    | HoldRequested
    | DrainRequested
    | StopRequested
    | Ticked
)


class TaskWithdrawn(TaskCancelled):
    """Why a task is cancelled that was not submitted after all. Nobody has its job, so nobody sees this."""


# --- effects ---

Outcome: TypeAlias = Literal["done", "failed", "cancelled", "stopped"]
"""How a task ends; `stopped` is not put on record, so that a later fleet goes on with the task."""


class StartSlot(msgspec.Struct, frozen=True):
    """Start a session with these options."""

    slot: int
    options: Options


class SendPrompt(msgspec.Struct, frozen=True):
    """Send the task's prompt in this session; `again` if the conversation has seen it before."""

    slot: int
    job: str
    again: bool
    tokens_left: int | None


class EndSlot(msgspec.Struct, frozen=True):
    """End a session and all that it started."""

    slot: int
    reason: str


class NoteAttempt(msgspec.Struct, frozen=True):
    """Put on record that an attempt begins."""

    job: str


class NoteFailure(msgspec.Struct, frozen=True):
    """Put on record that an attempt failed and another will follow."""

    job: str
    error: ClaudeActorsError


class NoteLimit(msgspec.Struct, frozen=True):
    """Put on record until when the fleet must not start anything."""

    resets_at: float


class FreePlace(msgspec.Struct, frozen=True):
    """Let another task into the queue."""

    job: str


class FinishJob(msgspec.Struct, frozen=True):
    """Report a task's end: `done` with a result line, else with an error."""

    job: str
    outcome: Outcome
    line: bytes | None = None
    error: ClaudeActorsError | None = None


Effect: TypeAlias = StartSlot | SendPrompt | EndSlot | NoteAttempt | NoteFailure | NoteLimit | FreePlace | FinishJob
