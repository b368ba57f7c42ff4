"""Plays the world around a FleetMachine: a clock, sessions that do as the test says, and a list of what was wanted."""

from __future__ import annotations

import itertools
from typing import Any, TypeVar

import msgspec

from claude_actors.errors import ClaudeActorsError, SessionCrashed
from claude_actors.fleet import inputs
from claude_actors.fleet.entry import Entry
from claude_actors.fleet.inputs import Effect, FinishJob, FleetLimits, Input
from claude_actors.fleet.machine import FleetMachine
from claude_actors.fleet.retries import RetryPolicy
from claude_actors.fleet.slots import Slot
from claude_actors.fleet.spending import Spent
from claude_actors.fleet.state import FleetState
from claude_actors.options import Options
from claude_actors.protocol.restarts import Backoff

E = TypeVar("E", bound=msgspec.Struct)

OPTIONS = Options()
STEADY = RetryPolicy(retries=2, backoff=Backoff(first=1.0, most=60.0, jitter=0.0))
RESULT = b'{"type":"result","subtype":"success","result":"ok"}'
SPENT = Spent(1, 10, 0.1)
CRASH = SessionCrashed(code=None, signal=9)


class FleetDriver:
    """One machine with a clock in the test's hand; `finished` collects every end."""

    def __init__(self, retry: RetryPolicy = STEADY, **limits: Any) -> None:
        self.now, self.wall = 100.0, 1_000_000.0
        self.state = FleetState(FleetLimits(**limits), retry.backoff)
        ids = itertools.count(1)
        self.machine = FleetMachine(
            self.state, retry, OPTIONS, new_id=lambda: f"00000000-0000-4000-8000-{next(ids):012d}", chance=lambda: 0.0
        )
        self._numbers = itertools.count(1)
        self.finished: list[FinishJob] = []

    def step(self, event: Input) -> list[Effect]:
        effects = self.machine.step(event, self.now, self.wall)
        self.finished += [effect for effect in effects if isinstance(effect, FinishJob)]
        return effects

    def pass_time(self, seconds: float) -> list[Effect]:
        """Let time pass, waking the machine as often as it asks for."""
        end, effects = self.now + seconds, list[Effect]()
        while (wake := self.machine.next_wake(self.now)) is not None and wake <= end:
            self.at(max(wake, self.now))
            effects += self.step(inputs.Ticked())
        self.at(end)
        return effects + self.step(inputs.Ticked())

    def at(self, when: float) -> None:
        """Set both clocks forward."""
        self.wall += when - self.now
        self.now = when

    def is_over(self) -> bool:
        return self.machine.is_over

    # --- tasks ---

    def entry(self, job: str, **fields: Any) -> Entry:
        return Entry(**{"id": job, "number": next(self._numbers), "options": OPTIONS, "retries": 2, **fields})

    def submit(self, job: str, **fields: Any) -> list[Effect]:
        return self.step(inputs.TasksSubmitted((self.entry(job, **fields),)))

    def slot_of(self, job: str) -> Slot:
        return next(slot for slot in self.state.slots if slot.job == job)

    def state_of(self, job: str) -> str:
        return self.state.jobs[job].state

    @property
    def working(self) -> list[str]:
        """The tasks that are in a session, in the order of their sessions."""
        return [slot.job for slot in self.state.slots if slot.job is not None]

    @property
    def outcomes(self) -> dict[str, str]:
        return {finish.job: finish.outcome for finish in self.finished}

    def error_of(self, job: str) -> BaseException | None:
        return next(finish.error for finish in self.finished if finish.job == job)

    # --- sessions ---

    def runs(self, job: str) -> list[Effect]:
        return self.step(inputs.SlotRunning(self.slot_of(job).number))

    def done(self, job: str, spent: Spent = SPENT) -> list[Effect]:
        return self.step(inputs.TurnSettled(self.slot_of(job).number, job, line=RESULT, spent=spent))

    def fails(self, job: str, error: ClaudeActorsError, *, with_result: bool = False) -> list[Effect]:
        """End the turn with an error, and the session too unless the error came as a result."""
        slot = self.slot_of(job).number
        line = RESULT if with_result else None
        effects = self.step(inputs.TurnSettled(slot, job, line=line, error=error))
        return effects + ([] if with_result else self.step(inputs.SlotEnded(slot, error)))

    def end_slots(self) -> list[Effect]:
        """Let every session that was told to end be gone."""
        effects: list[Effect] = []
        for slot in self.state.slots:
            if slot.state == "ending":
                effects += self.step(inputs.SlotEnded(slot.number))
        return effects


def only(kind: type[E], effects: list[Effect]) -> list[E]:
    """The effects of one kind, in order."""
    return [effect for effect in effects if isinstance(effect, kind)]
