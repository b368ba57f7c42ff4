"""FleetMachine: what follows each thing that happens to a fleet.

Pure: one input in, effects out; the time is an argument, and nothing here starts, waits or writes. Who starts when is
decided in `admission`, what a failure is worth in `retries`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from claude_actors.errors import ClaudeActorsError, SessionEnded
from claude_actors.fleet import inputs
from claude_actors.fleet.admission import Admission
from claude_actors.fleet.entry import Entry
from claude_actors.fleet.errors import FleetStopped, TaskBudgetExhausted, TaskCancelled, TaskTimeout
from claude_actors.fleet.inputs import Effect, Input
from claude_actors.fleet.retries import RetryPolicy, classify
from claude_actors.fleet.slots import Slot
from claude_actors.fleet.spending import Spent
from claude_actors.fleet.state import FleetState
from claude_actors.options import Options


class FleetMachine:
    """The decisions of one fleet. `new_id` makes conversation ids, `chance` random numbers from 0 to 1."""

    def __init__(
        self,
        state: FleetState,
        retry: RetryPolicy,
        defaults: Options,
        *,
        new_id: Callable[[], str],
        chance: Callable[[], float],
    ) -> None:
        self.state = state
        self._retry, self._chance = retry, chance
        self._admission = Admission(state, defaults, new_id)
        self._leaves_queued = False

    @property
    def is_over(self) -> bool:
        """Whether it was told to end, and everything has."""
        return self.state.closing and not self.state.jobs and not len(self.state.slots)

    def step(self, event: Input, now: float, wall: float) -> list[Effect]:
        """Take in one input at `now` (`wall` in Unix seconds) and return what is to be done, in order."""
        out: list[Effect] = []
        self._take_in(event, now, wall, out)
        self._check_deadlines(now, out)
        self._admission.admit(now, out)
        self._admission.tidy(now, out)
        return out

    def next_wake(self, now: float) -> float | None:
        """Return when the machine wants to be told the time."""
        state = self.state
        times = [state.waiting.next_due(), state.slots.next_expiry(state.limits.warm)]
        times += [entry.deadline for _, entry in state.working()]
        if len(state.waiting):
            times.append(state.gate.opens_at(now))
        return min((time for time in times if time is not None), default=None)

    def _take_in(self, event: Input, now: float, wall: float, out: list[Effect]) -> None:  # noqa: C901 - one case each
        state = self.state
        match event:
            case inputs.TasksSubmitted(entries):
                self._submitted(entries)
            case inputs.CancelRequested(job, error):
                self._cancelled(job, error, now, out)
            case inputs.SlotRunning(number):
                self._shows(number, waits=False, now=now)
            case inputs.SlotAsked(number, waits):
                self._shows(number, waits=waits, now=now)
            case inputs.SlotNamed(number, session_id):
                self._named(number, session_id)
            case inputs.TurnSettled():
                self._turn_settled(event, now, wall, out)
            case inputs.SlotEnded(number, error):
                self._slot_ended(number, error, now, wall, out)
            case inputs.TokensUsedUp(number, job, spent):
                self._tokens_used_up(number, job, spent, now, out)
            case inputs.LimitSeen(resets_at):
                self._limited(resets_at, now, wall, out)
            case inputs.LimitsChanged(limits):
                state.limits, state.stirred = limits, True
            case inputs.HoldRequested(hold):
                state.gate.held = hold
            case inputs.DrainRequested(leave_queued):
                self._drain(leave_queued, out)
            case inputs.StopRequested(error):
                self._stop(error, now, out)
            case inputs.Ticked():
                pass
            case _:
                assert_never(event)

    def _submitted(self, entries: tuple[Entry, ...]) -> None:
        for entry in entries:
            self.state.jobs[entry.id] = entry
            self.state.waiting.push(entry)
        self.state.stirred = True

    def _cancelled(self, job: str, error: ClaudeActorsError | None, now: float, out: list[Effect]) -> None:
        entry = self.state.jobs.get(job)
        if entry is not None:
            error = error or TaskCancelled(task_id=job)
            outcome: inputs.Outcome = "cancelled" if isinstance(error, TaskCancelled) else "failed"
            self.state.cut_short(entry, outcome, error, now, out)

    # --- what sessions tell ---

    def _shows(self, number: int, *, waits: bool, now: float) -> None:
        slot = self.state.slots.get(number)
        if slot is None or slot.state == "ending":
            return
        if slot.job is not None:
            self.state.slots.show(slot, "needs_input" if waits else "running", now)
            self.state.jobs[slot.job].state = "needs_input" if waits else "running"
        elif slot.state == "starting":
            self.state.slots.show(slot, "idle", now)

    def _named(self, number: int, session_id: str) -> None:
        slot = self.state.slots.get(number)
        if slot is None:
            return
        slot.session_id = session_id
        if slot.job is not None:
            self.state.jobs[slot.job].session_id = session_id

    def _turn_settled(self, event: inputs.TurnSettled, now: float, wall: float, out: list[Effect]) -> None:
        state = self.state
        state.spent += event.spent
        slot = state.slots.get(event.slot)
        if slot is None or slot.job != event.job:
            return  # the task has ended already, and its session is about to
        entry = state.part(slot, now)
        entry.spent += event.spent
        if event.line is not None:
            self._rest(slot, entry, now, out)
        else:
            state.end_slot(slot, "its turn has no result", out)
        if event.error is None:
            state.gate.succeeded()
            state.finish(entry, "done", out, line=event.line)
        else:
            self._attempt_failed(entry, event.error, event.line, now, wall, out)

    def _rest(self, slot: Slot, entry: Entry, now: float, out: list[Effect]) -> None:
        """Keep the session for its conversation, or end it."""
        if entry.conversation is not None and slot.session_id is not None:
            self.state.conversations[entry.conversation] = slot.session_id
        self.state.slots.show(slot, "idle", now)
        if not self.state.slots.may_keep(slot, self.state.limits.warm, now):
            self.state.end_slot(slot, "its task is over", out)

    def _slot_ended(
        self, number: int, error: ClaudeActorsError | None, now: float, wall: float, out: list[Effect]
    ) -> None:
        slot = self.state.slots.get(number)
        if slot is not None and slot.job is not None:
            entry = self.state.part(slot, now)
            self._attempt_failed(entry, error or SessionEnded(), None, now, wall, out)
        self.state.slots.remove(number)
        self.state.waiting.bring_back()

    def _tokens_used_up(self, number: int, job: str, spent: Spent, now: float, out: list[Effect]) -> None:
        self.state.spent += spent
        slot, entry = self.state.slots.get(number), self.state.jobs.get(job)
        if slot is None or entry is None or slot.job != job or entry.budget.tokens is None:
            return
        entry.spent += spent
        limit, used = entry.budget.tokens, entry.spent.tokens
        error = TaskBudgetExhausted(task_id=job, budget="tokens", limit=limit, used=used)
        self.state.cut_short(entry, "failed", error, now, out)

    def _limited(self, resets_at: float, now: float, wall: float, out: list[Effect]) -> None:
        news = self.state.gate.close_until(resets_at, now, wall)
        if news is not None:
            out.append(inputs.NoteLimit(news))

    # --- endings ---

    def _attempt_failed(
        self, entry: Entry, error: ClaudeActorsError, line: bytes | None, now: float, wall: float, out: list[Effect]
    ) -> None:
        verdict = classify(error)
        if verdict == "fresh" and (entry.resume is None or entry.conversation in self.state.conversations):
            verdict = "fail"  # it was not we who wanted it resumed, or the task is nothing without what came before
        if verdict == "limit":
            verdict = "limit" if self._met_limit(error, now, wall, out) else "retry"
        if verdict == "stop":
            self.state.finish(entry, "stopped", out, error=error)
            return
        if verdict == "fail" or (verdict == "retry" and entry.failures >= entry.retries):
            self.state.finish(entry, "failed", out, line=line, error=error)
            return
        if verdict == "fresh" or not entry.may_resume:
            entry.resume = None
        elif entry.state != "starting":
            entry.resume = entry.session_id
        due = None
        if verdict == "retry":
            entry.failures += 1
            due = now + self._retry.backoff.delay(entry.failures, self._chance())
        self._wait_again(entry, due, error, out)

    def _met_limit(self, error: ClaudeActorsError, now: float, wall: float, out: list[Effect]) -> bool:
        """Close the gate; say whether it is known when it opens."""
        gate, before = self.state.gate, self.state.gate.resets_at
        known = gate.limited(error, now, wall)
        if known and gate.resets_at is not None and gate.resets_at != before:
            out.append(inputs.NoteLimit(gate.resets_at))
        return known

    def _wait_again(self, entry: Entry, due: float | None, error: ClaudeActorsError, out: list[Effect]) -> None:
        entry.state = "queued"
        out.append(inputs.NoteFailure(entry.id, error))
        if self._leaves_queued:
            self.state.finish(entry, "stopped", out, error=FleetStopped())
        else:
            self.state.waiting.push(entry, due=due)

    def _check_deadlines(self, now: float, out: list[Effect]) -> None:
        for _, entry in self.state.working():
            if entry.deadline is not None and entry.deadline <= now:
                error = TaskTimeout(task_id=entry.id, after=entry.timeout or 0.0)
                self.state.cut_short(entry, "failed", error, now, out)

    def _drain(self, leave_queued: bool, out: list[Effect]) -> None:
        self.state.closing = True
        self.state.gate.held = False
        if leave_queued:
            self._leaves_queued = True
            self.state.abandon_waiting(FleetStopped("the fleet ended before it came to the task"), out)

    def _stop(self, error: ClaudeActorsError, now: float, out: list[Effect]) -> None:
        self.state.closing = True
        for entry in list(self.state.jobs.values()):
            self.state.cut_short(entry, "stopped", error, now, out)
