"""Whatever happens in whatever order: no task is lost or ends twice, no bound is passed, no busy session is ended."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from support.fleet_driver import CRASH, RESULT, FleetDriver

from claude_actors import errors
from claude_actors.fleet import Budget, FleetLimits, FleetStopped, Spent, WarmPolicy, inputs
from claude_actors.fleet.inputs import EndSlot, FinishJob, Input, SendPrompt, StartSlot

FAILURES: list[errors.ClaudeActorsError] = [
    CRASH,
    errors.ExitedDuringStart(code=1, signal=None),
    errors.ResumeFailed(code=1, signal=None),
    errors.Overloaded(subtype="success", reason="529", status=529),
    errors.AuthenticationFailed(subtype="success", reason="401", status=401),
    errors.RateLimited(subtype="success", reason="429"),
    errors.RateLimited(subtype="success", reason="429", resets_at=1_000_030.0),
]
WARM = WarmPolicy(ready=1, max_idle=2, idle_ttl=20.0, max_age=60.0)


class Fleets(RuleBasedStateMachine):
    """Submits, breaks, waits; looks after every step that the promises hold."""

    def __init__(self) -> None:
        super().__init__()
        self.fleet = FleetDriver(max_sessions=2, max_starting=2, warm=WARM)
        self.submitted = 0
        self.served: dict[int, set[str]] = {}

    def do(self, event: Input) -> None:
        fleet = self.fleet
        jobs_before = {slot.number: slot.job for slot in fleet.state.slots}
        conversations = {job: entry.conversation for job, entry in fleet.state.jobs.items()}
        if isinstance(event, inputs.TasksSubmitted):
            conversations |= {entry.id: entry.conversation for entry in event.entries}
        effects = fleet.step(event)
        over = {effect.job for effect in effects if isinstance(effect, FinishJob)}
        parted = isinstance(event, inputs.TurnSettled | inputs.SlotEnded)
        for effect in effects:
            if isinstance(effect, StartSlot):
                self.served[effect.slot] = set()
            elif isinstance(effect, SendPrompt):
                self.served[effect.slot].add(conversations[effect.job] or effect.job)
            elif isinstance(effect, EndSlot):
                job = jobs_before.get(effect.slot)
                assert job is None or job in over or (parted and event.slot == effect.slot)  # type: ignore[union-attr]

    # --- what happens ---

    @rule(
        priority=st.integers(-1, 1),
        conversation=st.sampled_from([None, None, "k", "m"]),
        retries=st.integers(0, 2),
        budget=st.sampled_from([Budget(), Budget(tokens=25), Budget(turns=2), Budget(usd=0.2)]),
        timeout=st.sampled_from([None, 15.0]),
    )
    @precondition(lambda self: not self.fleet.state.closing)
    def submit(
        self, priority: int, conversation: str | None, retries: int, budget: Budget, timeout: float | None
    ) -> None:
        entry = self.fleet.entry(
            f"job{self.submitted}",
            priority=priority,
            conversation=conversation,
            retries=retries,
            budget=budget,
            timeout=timeout,
        )
        self.submitted += 1
        self.do(inputs.TasksSubmitted((entry,)))

    @rule(data=st.data(), error=st.none() | st.sampled_from(FAILURES), with_result=st.booleans())
    @precondition(lambda self: bool(self.fleet.working))
    def settle(self, data: st.DataObject, error: errors.ClaudeActorsError | None, with_result: bool) -> None:
        slot = self.fleet.slot_of(data.draw(st.sampled_from(self.fleet.working)))
        assert slot.job is not None
        line = RESULT if with_result or error is None else None
        self.do(inputs.TurnSettled(slot.number, slot.job, line=line, error=error, spent=Spent(1, 10, 0.1)))

    @rule(data=st.data(), error=st.none() | st.just(CRASH))
    @precondition(lambda self: len(self.fleet.state.slots) > 0)
    def session_ends(self, data: st.DataObject, error: errors.ClaudeActorsError | None) -> None:
        self.do(inputs.SlotEnded(data.draw(self._slots()), error))

    @rule(data=st.data(), what=st.sampled_from([inputs.SlotRunning, None, True, False]))
    @precondition(lambda self: len(self.fleet.state.slots) > 0)
    def session_tells(self, data: st.DataObject, what: object) -> None:
        number = data.draw(self._slots())
        if isinstance(what, bool):
            self.do(inputs.SlotAsked(number, what))
        else:
            self.do(inputs.SlotRunning(number) if what else inputs.SlotNamed(number, f"named {number}"))

    @rule(data=st.data())
    @precondition(lambda self: bool(self.fleet.working))
    def tokens_run_out(self, data: st.DataObject) -> None:
        slot = self.fleet.slot_of(data.draw(st.sampled_from(self.fleet.working)))
        assert slot.job is not None
        self.do(inputs.TokensUsedUp(slot.number, slot.job, Spent(1, 30)))

    @rule(data=st.data())
    @precondition(lambda self: bool(self.fleet.state.jobs))
    def cancel(self, data: st.DataObject) -> None:
        self.do(inputs.CancelRequested(data.draw(st.sampled_from(sorted(self.fleet.state.jobs)))))

    @rule(seconds=st.sampled_from([0.5, 1.0, 5.0, 70.0]))
    def time_passes(self, seconds: float) -> None:
        end = self.fleet.now + seconds
        for _ in range(1000):
            wake = self.fleet.machine.next_wake(self.fleet.now)
            if wake is None or wake > end:
                break
            self.fleet.at(wake)
            self.do(inputs.Ticked())
        else:
            raise AssertionError("the machine wants to be woken without end")
        self.fleet.at(end)
        self.do(inputs.Ticked())

    @rule(max_sessions=st.integers(1, 4), hold=st.booleans())
    def bounds_change(self, max_sessions: int, hold: bool) -> None:
        self.do(inputs.LimitsChanged(FleetLimits(max_sessions=max_sessions, max_starting=2, warm=WARM)))
        self.do(inputs.HoldRequested(hold))

    @rule(how=st.sampled_from([inputs.DrainRequested(), inputs.DrainRequested(True)]))
    def drain(self, how: Input) -> None:
        self.do(how)

    @rule()
    def stop(self) -> None:
        self.do(inputs.StopRequested(FleetStopped()))

    def _slots(self) -> st.SearchStrategy[int]:
        return st.sampled_from([slot.number for slot in self.fleet.state.slots])

    # --- what holds ---

    @invariant()
    def every_task_is_in_exactly_one_place(self) -> None:
        state = self.fleet.state
        waiting = {entry.id for entry in state.waiting.entries()}
        working = set(self.fleet.working)
        ended = [finish.job for finish in self.fleet.finished]
        assert len(ended) == len(set(ended))
        assert not waiting & working
        assert waiting | working == set(state.jobs)
        assert set(state.jobs).isdisjoint(ended)
        assert len(state.jobs) + len(ended) == self.submitted

    @invariant()
    def a_session_serves_one_task_or_one_conversation(self) -> None:
        assert all(len(keys) <= 1 for keys in self.served.values())

    @invariant()
    def no_conversation_has_two_processes_that_could_write_to_it(self) -> None:
        ids = [slot.session_id for slot in self.fleet.state.slots if slot.session_id is not None]
        assert len(ids) == len(set(ids))

    @invariant()
    def not_too_many_sessions_start_at_once(self) -> None:
        assert self.fleet.state.slots.starting <= 2

    @invariant()
    def the_number_of_sessions_is_bounded(self) -> None:
        slots = self.fleet.state.slots
        busy = sum(slot.job is not None for slot in slots)
        assert slots.live <= max(busy, self.fleet.state.limits.max_sessions)

    def teardown(self) -> None:
        """Let everything that is left succeed: the fleet must come to its end."""
        self.do(inputs.HoldRequested(False))
        self.do(inputs.DrainRequested())
        for _ in range(200):
            if self.fleet.machine.is_over:
                break
            for job in self.fleet.working:
                slot = self.fleet.slot_of(job)
                self.do(inputs.TurnSettled(slot.number, job, line=RESULT, spent=Spent(1, 10, 0.1)))
            for slot in [slot for slot in self.fleet.state.slots if slot.state == "ending"]:
                self.do(inputs.SlotEnded(slot.number))
            self.time_passes(5.0)
        assert self.fleet.is_over()
        assert len(self.fleet.finished) == self.submitted


TestFleets = Fleets.TestCase
TestFleets.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
