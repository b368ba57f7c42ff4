"""What a fleet looks like at one moment: plain numbers, taken without waiting for anybody."""

from __future__ import annotations

import time
from collections import Counter

import msgspec

from claude_actors.fleet.inputs import FleetLimits
from claude_actors.fleet.job import JobSnapshot
from claude_actors.fleet.roster import FleetCounters, Roster
from claude_actors.fleet.slots import SlotState
from claude_actors.fleet.spending import Spent


class SlotSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One session of a fleet: `idle` ones wait for a task, `ending` ones have given their place away."""

    number: int
    state: SlotState
    pid: int | None
    session_id: str | None
    job: str | None
    conversation: str | None
    age: float


class FleetSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One look at a fleet; numbers may be a moment apart from each other.

    `states` counts the unfinished jobs by state and the idle sessions as `idle`; `limited_until` is Unix time.
    """

    states: dict[str, int]
    jobs: tuple[JobSnapshot, ...]
    sessions: tuple[SlotSnapshot, ...]
    queued: int
    submitters_waiting: int
    limited_until: float | None
    paused: bool
    closing: bool
    limits: FleetLimits
    spent: Spent
    counters: FleetCounters


def take_snapshot(roster: Roster) -> FleetSnapshot:
    """Read the roster. Any thread; never blocks."""
    state, now = roster.state, time.monotonic()
    jobs = tuple(job.snapshot() for job in list(roster.jobs.values()))
    states: Counter[str] = Counter(job.state for job in jobs)
    return FleetSnapshot(
        states={**states, "idle": state.slots.idle},
        jobs=jobs,
        sessions=tuple(_slots(roster, now)),
        queued=len(state.waiting),
        submitters_waiting=roster.places.waiting,
        limited_until=state.gate.resets_at if state.gate.is_limited(now) else None,
        paused=state.gate.held,
        closing=state.closing,
        limits=state.limits,
        spent=state.spent,
        counters=msgspec.structs.replace(roster.counters),
    )


def _slots(roster: Roster, now: float) -> list[SlotSnapshot]:
    shown = []
    for slot in roster.state.slots:
        feed = roster.feeds.get(slot.number)
        shown.append(
            SlotSnapshot(
                number=slot.number,
                state=slot.state,
                pid=None if feed is None else feed.session.pid,
                session_id=slot.session_id,
                job=slot.job,
                conversation=slot.conversation,
                age=now - slot.born,
            )
        )
    return shown
