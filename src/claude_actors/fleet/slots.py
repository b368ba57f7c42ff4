"""The sessions of a fleet: which are free for a task, which may be ended, and when idle ones have had their time.

Pure bookkeeping. A session that has served a task is never given to another, except to the next task of the same
conversation. Idle sessions are those that nobody uses: initialised and never used, or kept for their conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from claude_actors.errors import InvalidOptions
from claude_actors.fleet.entry import Entry
from claude_actors.options import Options

SlotState: TypeAlias = Literal["starting", "idle", "running", "needs_input", "ending"]


class WarmPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions are kept without a task.

    `ready`: how many are started and initialised in advance for tasks with the fleet's own options. `max_idle`: how
    many idle ones there may be in all (`ready` at least). `idle_ttl` and `max_age`: how many seconds one may be idle,
    and live, before it is ended. An idle session always gives way to a task that waits.
    """

    ready: int = 0
    max_idle: int = 4
    idle_ttl: float = 300.0
    max_age: float = 3600.0

    def __post_init__(self) -> None:
        if self.ready < 0 or self.max_idle < 0 or self.idle_ttl <= 0 or self.max_age <= 0:
            raise InvalidOptions("WarmPolicy: counts must not be negative, times must be positive")

    @property
    def most_idle(self) -> int:
        """How many idle sessions there may be; what is to be ready may be."""
        return max(self.ready, self.max_idle)


class Slot(msgspec.Struct, kw_only=True, eq=False):
    """One session; `job` is the task that it works for, `conversation` the key that it belongs to.

    Written by its SlotTable only, which counts by state.
    """

    number: int
    options: Options
    born: float
    state: SlotState = "starting"
    job: str | None = None
    conversation: str | None = None
    session_id: str | None = None
    idle_since: float = 0.0
    used: bool = False


class SlotTable:
    """All sessions from their start until nothing is left of them.

    A session is working (it has a task), free (it has none and may be used, or ended, at will) or ending. They are kept
    apart, because every step asks for the free ones and there are few of them.
    """

    def __init__(self) -> None:
        self._slots: dict[int, Slot] = {}
        self._working: dict[int, Slot] = {}
        self._free: dict[int, Slot] = {}
        self._ending: dict[int, Slot] = {}
        self._starting: set[int] = set()
        self._numbers = 0

    def __iter__(self) -> Iterator[Slot]:
        return iter(list(self._slots.values()))

    def __len__(self) -> int:
        return len(self._slots)

    def get(self, number: int) -> Slot | None:
        """Return a session, None if it is gone."""
        return self._slots.get(number)

    def working(self) -> list[Slot]:
        """Return those that have a task."""
        return list(self._working.values())

    def free(self) -> list[Slot]:
        """Return those that nobody uses, starting ones too."""
        return list(self._free.values())

    # --- what becomes of them ---

    def add(self, options: Options, now: float, *, session_id: str | None) -> Slot:
        """Note a session that is about to start."""
        self._numbers += 1
        slot = Slot(number=self._numbers, options=options, born=now, session_id=session_id, idle_since=now)
        self._slots[slot.number] = self._free[slot.number] = slot
        self._starting.add(slot.number)
        return slot

    def occupy(self, slot: Slot, job: str, conversation: str | None) -> None:
        """Give a free session a task."""
        slot.job, slot.conversation, slot.used = job, conversation, True
        self._working[slot.number] = self._free.pop(slot.number)
        if slot.state == "idle":
            slot.state = "running"

    def vacate(self, slot: Slot) -> None:
        """Take its task from a session, which is free then."""
        slot.job = None
        self._free[slot.number] = self._working.pop(slot.number)

    def show(self, slot: Slot, state: SlotState, now: float) -> None:
        """Note what a session is doing."""
        self._starting.discard(slot.number)
        if state == "idle":
            slot.idle_since = now
        elif state == "ending":
            self._ending[slot.number] = self._free.pop(slot.number)
        slot.state = state

    def remove(self, number: int) -> None:
        """Forget a session of which nothing is left."""
        for table in (self._slots, self._working, self._free, self._ending):
            table.pop(number, None)
        self._starting.discard(number)

    # --- how many ---

    @property
    def live(self) -> int:
        """Count those that are not ending."""
        return len(self._slots) - len(self._ending)

    @property
    def idle(self) -> int:
        """Count those that no task has."""
        return len(self._free)

    @property
    def starting(self) -> int:
        """Count those that are on their way."""
        return len(self._starting)

    def unused(self) -> int:
        """Count those that are ready, or will be, for any task with their options."""
        return sum(not slot.used for slot in self.free())

    def has_room(self, max_sessions: int) -> bool:
        """Say whether one more may start.

        One that is ending gives its place away at once, but so many that end slowly must not pile up.
        """
        return self.live < max_sessions and len(self._slots) < 2 * max_sessions

    # --- which ---

    def is_ending(self, session_id: str | None) -> bool:
        """Say whether a process that is about to end may still write to this conversation."""
        return session_id is not None and any(slot.session_id == session_id for slot in self._ending.values())

    def fitting(self, entry: Entry) -> Slot | None:
        """Return an idle session that the entry's next attempt can use as it is."""
        if entry.budget.turns is not None or entry.budget.usd is not None:
            return None  # these are told to the CLI when it starts
        found = (slot for slot in self.free() if _fits(slot, entry))
        return min(found, key=lambda slot: (slot.state != "idle", slot.born), default=None)

    def of_conversation(self, key: str) -> Slot | None:
        """Return the idle session that is kept for this conversation."""
        return next((slot for slot in self.free() if slot.conversation == key), None)

    def to_evict(self) -> Slot | None:
        """Return the idle session that gives way first: one never used, then the one idle the longest."""
        return min(self.free(), key=lambda slot: (slot.used, slot.idle_since), default=None)

    def expired(self, policy: WarmPolicy, now: float) -> list[Slot]:
        """Return the idle sessions whose time is over."""
        return [slot for slot in self.free() if _expires(slot, policy) <= now]

    def next_expiry(self, policy: WarmPolicy) -> float | None:
        """Return when the next idle session's time is over."""
        return min((_expires(slot, policy) for slot in self.free()), default=None)

    def may_keep(self, slot: Slot, policy: WarmPolicy, now: float) -> bool:
        """Say whether a session that has become idle may stay, for the next task of its conversation."""
        return slot.conversation is not None and self.idle <= policy.most_idle and _expires(slot, policy) > now


def _fits(slot: Slot, entry: Entry) -> bool:
    if slot.options != entry.options:
        return False
    if not slot.used:
        return entry.resume is None
    return slot.conversation is not None and slot.conversation == entry.conversation and slot.session_id == entry.resume


def _expires(slot: Slot, policy: WarmPolicy) -> float:
    return min(slot.idle_since + policy.idle_ttl, slot.born + policy.max_age)
