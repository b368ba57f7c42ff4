"""Which waiting task starts now, in which session, and which idle sessions stay.

Pure decisions over the fleet's state. The task whose turn it is may use an idle session that fits it, or make any idle
session give way; sessions that work or wait for somebody's permission are never touched.
"""

from __future__ import annotations

from collections.abc import Callable

from claude_actors.errors import ClaudeActorsError
from claude_actors.fleet.attempts import attempt_options, chooses_conversation
from claude_actors.fleet.entry import Entry
from claude_actors.fleet.errors import FleetBudgetExhausted, TaskBudgetExhausted
from claude_actors.fleet.inputs import Effect, NoteAttempt, SendPrompt, StartSlot
from claude_actors.fleet.slots import Slot
from claude_actors.fleet.state import FleetState
from claude_actors.options import Options


class Admission:
    """Starts attempts, and sessions in advance with `defaults`; `new_id` makes conversation ids."""

    def __init__(self, state: FleetState, defaults: Options, new_id: Callable[[], str]) -> None:
        self._state, self._defaults, self._new_id = state, defaults, new_id

    def admit(self, now: float, out: list[Effect]) -> None:
        """Start whatever can start now."""
        state = self._state
        while (entry := state.waiting.peek(now)) is not None and not state.gate.is_closed(now):
            used_up = state.limits.budget.exhausted(state.spent)
            if used_up is not None:
                error = FleetBudgetExhausted(budget=used_up.budget, limit=used_up.limit, used=used_up.used)
                state.abandon_waiting(error, out)
            elif not self._start(entry, now, out):
                return

    def tidy(self, now: float, out: list[Effect]) -> None:
        """End idle sessions that are over their time or their number, and start some in advance."""
        state = self._state
        for slot in state.slots.expired(state.limits.warm, now):
            state.end_slot(slot, "it was idle for long enough", out)
        limits = state.limits
        while state.slots.live > limits.max_sessions or state.slots.idle > limits.warm.most_idle:
            idle = state.slots.to_evict()
            if idle is None:
                break
            state.end_slot(idle, "there are too many sessions", out)
        if state.closing:
            self._end_idle(out)
        elif state.stirred and not len(state.waiting) and not state.gate.is_closed(now):
            state.stirred = False
            self._start_in_advance(now, out)

    # --- starting ---

    def _start(self, entry: Entry, now: float, out: list[Effect]) -> bool:
        """Start an attempt if there is a session for it, or room for one; False if the task must go on waiting."""
        state = self._state
        used_up = entry.budget.exhausted(entry.spent)
        if used_up is not None:
            limit, used = used_up.limit, used_up.used
            error = TaskBudgetExhausted(task_id=entry.id, budget=used_up.budget, limit=limit, used=used)
            state.cut_short(entry, "failed", error, now, out)
            return True
        if entry.conversation is not None:
            entry.resume = state.conversations.get(entry.conversation, entry.resume)
        slot = state.slots.fitting(entry)
        if slot is None and self._is_in_use(entry, out):
            state.waiting.set_aside(entry)
            return True
        if slot is None and not self._make_room(out):
            return False
        state.waiting.pop(entry)
        slot = slot or self._new_slot(entry, now, out)
        if slot is not None:
            self._begin(entry, slot, now, out)
        return True

    def _is_in_use(self, entry: Entry, out: list[Effect]) -> bool:
        """Say whether another process may still write to the conversation, which two must not; end one that is idle."""
        own = None if entry.conversation is None else self._state.slots.of_conversation(entry.conversation)
        if own is not None:
            self._state.end_slot(own, "its conversation goes on with other options", out)
        return self._state.slots.is_ending(entry.resume)

    def _make_room(self, out: list[Effect]) -> bool:
        state = self._state
        if not self._may_start():
            return False
        while state.slots.live >= state.limits.max_sessions and (idle := state.slots.to_evict()) is not None:
            state.end_slot(idle, "another task needs its place", out)
        return state.slots.has_room(state.limits.max_sessions)

    def _may_start(self) -> bool:
        most = self._state.limits.max_starting
        return most is None or self._state.slots.starting < most

    def _new_slot(self, entry: Entry, now: float, out: list[Effect]) -> Slot | None:
        begins = entry.resume is None and not chooses_conversation(entry.options)
        session_id = self._new_id() if begins else entry.resume
        left = entry.budget.left(entry.spent)
        try:
            if begins:
                options = attempt_options(entry.options, session_id=session_id, left=left)
            else:
                options = attempt_options(entry.options, resume=entry.resume, left=left)
        except ClaudeActorsError as error:
            self._state.waiting.release(entry.conversation)
            self._state.finish(entry, "failed", out, error=error)
            return None
        slot = self._state.slots.add(entry.options, now, session_id=session_id)
        out.append(StartSlot(slot.number, options))
        return slot

    def _begin(self, entry: Entry, slot: Slot, now: float, out: list[Effect]) -> None:
        self._state.slots.occupy(slot, entry.id, entry.conversation)
        entry.state = "starting" if slot.state == "starting" else "running"
        entry.attempt += 1
        entry.slot, entry.session_id, entry.began = slot.number, slot.session_id, now
        entry.deadline = None if entry.timeout is None else now + entry.timeout - entry.worked
        self._state.free_place(entry, out)
        again = entry.attempt > 1 and entry.resume is not None
        out.append(NoteAttempt(entry.id))
        out.append(SendPrompt(slot.number, entry.id, again, entry.budget.left(entry.spent).tokens))
        self._state.stirred = True

    # --- idle sessions ---

    def _start_in_advance(self, now: float, out: list[Effect]) -> None:
        state = self._state
        while state.slots.unused() < state.limits.warm.ready and state.slots.has_room(state.limits.max_sessions):
            if not self._may_start():
                state.stirred = True  # the next one to arrive lets another go
                return
            session_id = None if chooses_conversation(self._defaults) else self._new_id()
            slot = state.slots.add(self._defaults, now, session_id=session_id)
            out.append(StartSlot(slot.number, attempt_options(self._defaults, session_id=session_id)))

    def _end_idle(self, out: list[Effect]) -> None:
        """Once nothing waits, nobody needs an idle session any more."""
        if not len(self._state.waiting):
            for slot in self._state.slots.free():
                self._state.end_slot(slot, "the fleet ends", out)
