"""What the parts of the fleet machine share: the tasks, the sessions, and the few steps that keep both consistent.

A task is in exactly one place: waiting, in a session, or finished and forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping

from claude_actors.errors import ClaudeActorsError
from claude_actors.fleet.entry import Entry
from claude_actors.fleet.gate import Gate
from claude_actors.fleet.inputs import Effect, EndSlot, FinishJob, FleetLimits, FreePlace, Outcome
from claude_actors.fleet.slots import Slot, SlotTable
from claude_actors.fleet.spending import Spent
from claude_actors.fleet.waiting import WaitingTasks
from claude_actors.protocol.restarts import Backoff


class FleetState:
    """The facts of one fleet. Written by the machine, read by anybody."""

    def __init__(
        self,
        limits: FleetLimits,
        backoff: Backoff,
        *,
        conversations: Mapping[str, str] | None = None,
        spent: Spent | None = None,
    ) -> None:
        self.limits = limits
        self.jobs: dict[str, Entry] = {}
        self.waiting = WaitingTasks()
        self.slots = SlotTable()
        self.gate = Gate(backoff)
        # The last id of each conversation that has had a turn.
        self.conversations = dict(conversations or {})
        self.spent = spent or Spent()
        self.closing = False
        # Set when tasks come or go: only then are sessions started in advance, so that a fleet at rest comes to rest.
        self.stirred = True

    def working(self) -> list[tuple[Slot, Entry]]:
        """Return the sessions that have a task, with it."""
        return [(slot, self.jobs[str(slot.job)]) for slot in self.slots.working()]

    def part(self, slot: Slot, now: float) -> Entry:
        """Take the task from its session."""
        assert slot.job is not None
        entry = self.jobs[slot.job]
        entry.worked = entry.work_time(now)
        entry.began = entry.deadline = entry.slot = None
        self.slots.vacate(slot)
        self.waiting.release(entry.conversation)
        return entry

    def end_slot(self, slot: Slot, reason: str, out: list[Effect]) -> None:
        """Begin to end a session that has no task; its place is free at once."""
        self.slots.show(slot, "ending", 0.0)
        out.append(EndSlot(slot.number, reason))

    def free_place(self, entry: Entry, out: list[Effect]) -> None:
        """Let another task into the queue, once for each that was let in."""
        if entry.holds_place:
            entry.holds_place = False
            out.append(FreePlace(entry.id))

    def finish(
        self,
        entry: Entry,
        outcome: Outcome,
        out: list[Effect],
        *,
        line: bytes | None = None,
        error: ClaudeActorsError | None = None,
    ) -> None:
        """End a task that is neither waiting nor in a session any more."""
        del self.jobs[entry.id]
        entry.state = outcome
        self.free_place(entry, out)
        out.append(FinishJob(entry.id, outcome, line, error))
        self.stirred = True

    def cut_short(
        self, entry: Entry, outcome: Outcome, error: ClaudeActorsError, now: float, out: list[Effect]
    ) -> None:
        """End a task wherever it is; a session that works for it ends too."""
        slot = None if entry.slot is None else self.slots.get(entry.slot)
        if slot is None:
            self.waiting.remove(entry)
        else:
            self.part(slot, now)
            self.end_slot(slot, f"its task ended: {outcome}", out)
        self.finish(entry, outcome, out, error=error)

    def abandon_waiting(self, error: ClaudeActorsError, out: list[Effect]) -> None:
        """End every task that waits, as unfinished."""
        for entry in self.waiting.entries():
            self.waiting.remove(entry)
            self.finish(entry, "stopped", out, error=error)
