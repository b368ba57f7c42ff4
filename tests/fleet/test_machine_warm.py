"""Sessions without a task: started in advance, kept for a conversation, and always giving way."""

from __future__ import annotations

from support.fleet_driver import CRASH, OPTIONS, FleetDriver, only

from claude_actors import errors
from claude_actors.fleet import Budget, FleetLimits, WarmPolicy, inputs
from claude_actors.fleet.inputs import EndSlot, SendPrompt, StartSlot
from claude_actors.options import Options

READY = WarmPolicy(ready=2, idle_ttl=100.0, max_age=1000.0)
KEEP = WarmPolicy(max_idle=2, idle_ttl=100.0, max_age=1000.0)


def warmed(**limits: object) -> FleetDriver:
    """A fleet whose sessions in advance are initialised."""
    fleet = FleetDriver(**{"warm": READY, **limits})  # type: ignore[arg-type]
    fleet.step(inputs.Ticked())
    for slot in fleet.state.slots:
        fleet.step(inputs.SlotRunning(slot.number))
    return fleet


def states(fleet: FleetDriver) -> list[str]:
    return [slot.state for slot in fleet.state.slots]


def test_sessions_are_initialised_in_advance() -> None:
    fleet = FleetDriver(warm=READY)
    assert len(only(StartSlot, fleet.step(inputs.Ticked()))) == 2
    for slot in fleet.state.slots:
        fleet.step(inputs.SlotRunning(slot.number))
    assert states(fleet) == ["idle", "idle"]


def test_a_task_takes_one_of_them_without_a_start_and_another_takes_its_place() -> None:
    fleet = warmed()
    effects = fleet.submit("a")
    assert isinstance(effects[1], SendPrompt)
    assert len(only(StartSlot, effects)) == 1
    assert fleet.state.jobs["a"].state == "running"
    assert states(fleet) == ["running", "idle", "starting"]


def test_no_session_ever_serves_two_tasks_that_share_no_conversation() -> None:
    fleet = warmed(max_sessions=2)
    used: list[int] = []
    for name in "abcdef":
        fleet.submit(name)
        used.append(fleet.slot_of(name).number)
        fleet.done(name)
        fleet.end_slots()
    assert len(set(used)) == len(used)


def test_they_are_not_started_while_tasks_wait() -> None:
    fleet = FleetDriver(warm=READY, max_sessions=2)
    fleet.step(inputs.HoldRequested(True))
    for slot in fleet.state.slots:
        fleet.step(inputs.SlotEnded(slot.number))
    fleet.submit("a")
    assert states(fleet) == []


def test_there_is_never_one_more_session_than_allowed_because_of_them() -> None:
    fleet = warmed(max_sessions=2)
    assert len(only(StartSlot, fleet.submit("a"))) == 0
    assert states(fleet) == ["running", "idle"]


def test_a_task_that_cannot_use_an_idle_session_takes_its_place_at_once() -> None:
    fleet = warmed(max_sessions=2)
    effects = fleet.submit("a", options=Options(model="haiku"))
    assert [type(effect) for effect in effects[:2]] == [EndSlot, StartSlot]
    assert fleet.working == ["a"]


def test_an_idle_session_ends_after_its_time_and_the_fleet_comes_to_rest() -> None:
    fleet = warmed()
    assert only(EndSlot, fleet.pass_time(99.9)) == []
    assert len(only(EndSlot, fleet.pass_time(0.1))) == 2
    fleet.end_slots()
    assert (states(fleet), fleet.machine.next_wake(fleet.now)) == ([], None)
    fleet.submit("a")
    assert len(states(fleet)) == 3


def test_a_session_in_advance_that_dies_is_not_replaced_until_tasks_come() -> None:
    fleet = warmed()
    (first, _) = list(fleet.state.slots)
    assert fleet.step(inputs.SlotEnded(first.number, CRASH)) == []
    fleet.submit("a")
    assert len(states(fleet)) == 3


def test_what_the_cli_must_be_told_at_its_start_needs_a_session_of_its_own() -> None:
    fleet = warmed()
    (start,) = [s for s in only(StartSlot, fleet.submit("a", budget=Budget(turns=3))) if s.options.max_turns]
    assert start.options.max_turns == 3


def test_a_smaller_pool_is_reached_at_once_because_nobody_uses_it() -> None:
    fleet = warmed()
    effects = fleet.step(inputs.LimitsChanged(FleetLimits(warm=WarmPolicy(ready=1, max_idle=0))))
    assert len(only(EndSlot, effects)) == 1


# --- conversations ---


def test_the_next_task_of_a_conversation_goes_on_in_its_session() -> None:
    fleet = FleetDriver(warm=KEEP)
    fleet.submit("a", conversation="k")
    fleet.runs("a")
    slot = fleet.slot_of("a").number
    assert only(EndSlot, fleet.done("a")) == []
    assert states(fleet) == ["idle"]
    effects = fleet.submit("b", conversation="k")
    assert only(StartSlot, effects) == []
    assert fleet.slot_of("b").number == slot


def test_tasks_of_one_conversation_never_run_side_by_side() -> None:
    fleet = FleetDriver(warm=KEEP)
    fleet.submit("a", conversation="k")
    fleet.submit("b", conversation="k")
    fleet.submit("c")
    assert fleet.working == ["a", "c"]
    fleet.done("a")
    assert fleet.working == ["b", "c"]


def test_a_conversation_whose_session_gave_way_is_resumed() -> None:
    fleet = FleetDriver(max_sessions=1, warm=KEEP)
    fleet.submit("a", conversation="k")
    fleet.runs("a")
    conversation = fleet.state.jobs["a"].session_id
    fleet.done("a")
    assert len(only(EndSlot, fleet.submit("other"))) == 1
    fleet.end_slots()
    fleet.done("other")
    (start,) = only(StartSlot, fleet.submit("b", conversation="k"))
    assert start.options.resume == conversation


def test_a_conversation_that_goes_on_with_other_options_has_only_one_process() -> None:
    fleet = FleetDriver(warm=KEEP)
    fleet.submit("a", conversation="k")
    fleet.runs("a")
    conversation, slot = fleet.state.jobs["a"].session_id, fleet.slot_of("a").number
    fleet.done("a")
    effects = fleet.submit("b", conversation="k", options=OPTIONS.replace(model="haiku"))
    assert [end.slot for end in only(EndSlot, effects)] == [slot]
    assert only(StartSlot, effects) == []
    fleet.submit("somebody else")
    assert fleet.working == ["somebody else"]
    assert only(StartSlot, fleet.end_slots())[0].options.resume == conversation


def test_a_task_is_nothing_without_the_conversation_before_it() -> None:
    fleet = FleetDriver(warm=WarmPolicy(max_idle=0))
    fleet.submit("a", conversation="k")
    fleet.runs("a")
    fleet.done("a")
    fleet.end_slots()
    fleet.submit("b", conversation="k")
    fleet.fails("b", errors.ResumeFailed(code=1, signal=None))
    assert fleet.outcomes == {"a": "done", "b": "failed"}


def test_the_first_task_of_a_conversation_may_begin_it_again() -> None:
    fleet = FleetDriver(warm=KEEP)
    fleet.submit("a", conversation="k")
    fleet.runs("a")
    fleet.fails("a", CRASH)
    fleet.pass_time(1.0)
    (start,) = only(StartSlot, fleet.fails("a", errors.ResumeFailed(code=1, signal=None)))
    assert start.options.resume is None


def test_an_overloaded_turn_of_a_conversation_is_tried_again_in_its_session() -> None:
    fleet = FleetDriver(warm=KEEP)
    fleet.submit("a", conversation="k")
    fleet.runs("a")
    slot = fleet.slot_of("a").number
    fleet.fails("a", errors.Overloaded(subtype="success", reason="529", status=529), with_result=True)
    effects = fleet.pass_time(1.0)
    assert only(StartSlot, effects) == []
    assert fleet.slot_of("a").number == slot


def test_a_session_past_its_age_is_recycled_at_the_end_of_its_turn_and_not_before() -> None:
    fleet = FleetDriver(warm=KEEP)
    fleet.submit("a", conversation="k")
    fleet.runs("a")
    assert fleet.pass_time(2000.0) == []
    assert len(only(EndSlot, fleet.done("a"))) == 1


def test_draining_ends_idle_sessions_once_nothing_waits() -> None:
    fleet = FleetDriver(max_sessions=2, warm=KEEP)
    fleet.submit("a", conversation="k")
    fleet.runs("a")
    fleet.done("a")
    assert len(only(EndSlot, fleet.step(inputs.DrainRequested()))) == 1
    fleet.end_slots()
    assert fleet.is_over()
