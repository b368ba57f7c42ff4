"""Which task starts when: order, bounds, rate limits, budgets. No thread, no clock but the test's."""

from __future__ import annotations

import pytest
from support.fleet_driver import CRASH, OPTIONS, FleetDriver, only

from claude_actors import errors
from claude_actors.fleet import (
    Budget,
    FleetBudgetExhausted,
    FleetLimits,
    Spent,
    TaskBudgetExhausted,
    inputs,
)
from claude_actors.fleet.inputs import EndSlot, FreePlace, NoteAttempt, NoteLimit, SendPrompt, StartSlot
from claude_actors.options import Options

# --- admission ---


def test_a_task_gets_a_session_of_its_own_and_its_prompt_is_sent_at_once() -> None:
    fleet = FleetDriver()
    effects = fleet.submit("a")
    assert [type(effect) for effect in effects] == [StartSlot, NoteAttempt, SendPrompt]
    assert fleet.state_of("a") == "starting"
    fleet.runs("a")
    assert fleet.state_of("a") == "running"


def test_the_conversation_is_named_before_the_session_starts() -> None:
    fleet = FleetDriver()
    (start,) = only(StartSlot, fleet.submit("a"))
    assert start.options.session_id == fleet.state.jobs["a"].session_id is not None


def test_no_more_sessions_run_than_are_allowed() -> None:
    fleet = FleetDriver(max_sessions=2)
    for name in "abc":
        fleet.submit(name)
    assert fleet.working == ["a", "b"]
    fleet.done("a")
    assert fleet.working == ["b", "c"]


def test_the_most_important_task_starts_next() -> None:
    fleet = FleetDriver(max_sessions=1)
    fleet.submit("running")
    fleet.submit("low", priority=-1)
    fleet.submit("high", priority=9)
    fleet.done("running")
    assert fleet.working == ["high"]


def test_more_sessions_are_used_as_soon_as_they_are_allowed() -> None:
    fleet = FleetDriver(max_sessions=1)
    for name in "abc":
        fleet.submit(name)
    fleet.step(inputs.LimitsChanged(FleetLimits(max_sessions=3)))
    assert fleet.working == ["a", "b", "c"]


def test_fewer_sessions_are_reached_by_waiting_and_not_by_killing() -> None:
    fleet = FleetDriver(max_sessions=3)
    for name in "abcd":
        fleet.submit(name)
    effects = fleet.step(inputs.LimitsChanged(FleetLimits(max_sessions=1)))
    assert only(EndSlot, effects) == []
    fleet.done("a")
    fleet.done("b")
    assert fleet.working == ["c"]
    fleet.done("c")
    fleet.end_slots()
    assert fleet.working == ["d"]


def test_only_so_many_sessions_are_on_their_way_at_a_time() -> None:
    fleet = FleetDriver(max_sessions=5, max_starting=2)
    for name in "abcd":
        fleet.submit(name)
    assert fleet.working == ["a", "b"]
    fleet.runs("a")
    assert fleet.working == ["a", "b", "c"]
    fleet.fails("b", CRASH)
    assert fleet.working == ["a", "c", "d"]


def test_an_attempt_whose_options_are_unsound_fails_its_task_and_frees_its_conversation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise errors.InvalidOptions("unsound")

    fleet = FleetDriver()
    monkeypatch.setattr("claude_actors.fleet.admission.attempt_options", refuse)
    fleet.submit("a", conversation="k")
    monkeypatch.undo()
    assert isinstance(fleet.error_of("a"), errors.InvalidOptions)
    fleet.submit("b", conversation="k")
    assert fleet.working == ["b"]


def test_a_held_fleet_starts_nothing_until_it_is_let_go() -> None:
    fleet = FleetDriver()
    fleet.step(inputs.HoldRequested(True))
    assert fleet.submit("a") == []
    fleet.step(inputs.HoldRequested(False))
    assert fleet.working == ["a"]


def test_a_place_in_the_queue_is_given_back_once_when_the_task_leaves_it() -> None:
    fleet = FleetDriver(max_sessions=1)
    assert only(FreePlace, fleet.submit("a", holds_place=True)) == [FreePlace("a")]
    assert only(FreePlace, fleet.submit("b", holds_place=True)) == []
    fleet.runs("a")
    assert only(FreePlace, fleet.fails("a", CRASH)) == [FreePlace("b")]
    assert only(FreePlace, fleet.step(inputs.CancelRequested("b"))) == []


# --- rate limits ---


def limited(resets_at: float | None) -> errors.RateLimited:
    return errors.RateLimited(subtype="success", reason="429", resets_at=resets_at)


def test_a_rate_limit_stops_all_starts_until_the_time_that_was_told_and_costs_no_retry() -> None:
    fleet = FleetDriver(max_sessions=2)
    for name in "abc":
        fleet.submit(name, retries=0)
    fleet.runs("a")
    effects = fleet.fails("a", limited(fleet.wall + 60), with_result=True)
    assert only(NoteLimit, effects) == [NoteLimit(fleet.wall + 60)]
    fleet.done("b")
    fleet.end_slots()
    assert fleet.working == []
    fleet.pass_time(59.9)
    assert fleet.working == []
    fleet.pass_time(0.1)
    assert fleet.working == ["a", "c"]
    assert fleet.outcomes == {"b": "done"}


def test_a_rate_limit_without_a_time_is_a_failure_like_an_overload() -> None:
    fleet = FleetDriver()
    fleet.submit("a", retries=1)
    fleet.fails("a", limited(None), with_result=True)
    fleet.pass_time(1.0)
    fleet.fails("a", limited(None), with_result=True)
    assert fleet.outcomes == {"a": "failed"}


def test_a_limit_event_stops_starts_while_its_own_turn_goes_on() -> None:
    fleet = FleetDriver(max_sessions=1)
    fleet.submit("a")
    fleet.submit("b")
    assert only(NoteLimit, fleet.step(inputs.LimitSeen(fleet.wall + 60))) == [NoteLimit(fleet.wall + 60)]
    assert fleet.step(inputs.LimitSeen(fleet.wall + 60)) == []
    fleet.done("a")
    assert fleet.working == []
    fleet.pass_time(60.0)
    assert fleet.working == ["b"]


# --- budgets ---


def test_every_attempt_is_told_what_is_left_of_the_tasks_budget() -> None:
    fleet = FleetDriver()
    (start,) = only(StartSlot, fleet.submit("a", budget=Budget(10, 1000, 1.0)))
    assert (start.options.max_turns, start.options.max_budget_usd) == (10, 1.0)
    fleet.runs("a")
    slot = fleet.slot_of("a").number
    fleet.step(inputs.TurnSettled(slot, "a", error=CRASH, spent=Spent(4, 300, 0.25)))
    fleet.end_slots()
    effects = fleet.pass_time(1.0)
    (start,) = only(StartSlot, effects)
    assert (start.options.max_turns, start.options.max_budget_usd) == (6, 0.75)
    assert only(SendPrompt, effects)[0].tokens_left == 700


def test_a_stricter_limit_in_the_options_holds() -> None:
    fleet = FleetDriver()
    own = OPTIONS.replace(max_turns=3, max_budget_usd=0.1)
    (start,) = only(StartSlot, fleet.submit("a", options=own, budget=Budget(10, None, 1.0)))
    assert (start.options.max_turns, start.options.max_budget_usd) == (3, 0.1)


@pytest.mark.parametrize(
    ("budget", "kind"), [(Budget(turns=4), "turns"), (Budget(tokens=300), "tokens"), (Budget(usd=0.25), "usd")]
)
def test_a_task_that_has_used_up_a_budget_is_not_tried_again(budget: Budget, kind: str) -> None:
    fleet = FleetDriver()
    fleet.submit("a", budget=budget)
    fleet.runs("a")
    slot = fleet.slot_of("a").number
    fleet.step(inputs.TurnSettled(slot, "a", error=CRASH, spent=Spent(4, 300, 0.25)))
    fleet.pass_time(1.0)
    error = fleet.error_of("a")
    assert isinstance(error, TaskBudgetExhausted)
    assert error.budget == kind


def test_a_task_that_is_done_at_the_end_of_its_budget_is_done() -> None:
    fleet = FleetDriver()
    fleet.submit("a", budget=Budget(tokens=300))
    fleet.done("a", Spent(1, 500, 0.1))
    assert fleet.outcomes == {"a": "done"}


def test_tokens_that_run_out_in_an_open_turn_end_it() -> None:
    fleet = FleetDriver()
    fleet.submit("a", budget=Budget(tokens=300))
    fleet.runs("a")
    slot = fleet.slot_of("a").number
    effects = fleet.step(inputs.TokensUsedUp(slot, "a", Spent(2, 310)))
    assert only(EndSlot, effects) == [EndSlot(slot, "its task ended: failed")]
    error = fleet.error_of("a")
    assert isinstance(error, TaskBudgetExhausted)
    assert (error.budget, error.limit, error.used) == ("tokens", 300, 310)
    fleet.step(inputs.TurnSettled(slot, "a", error=CRASH, spent=Spent(0, 5)))
    assert fleet.state.spent.tokens == 315


def test_when_the_fleets_budget_is_used_up_what_waits_is_left_unfinished_and_what_runs_goes_on() -> None:
    fleet = FleetDriver(max_sessions=2, budget=Budget(tokens=100))
    for name in "abc":
        fleet.submit(name)
    fleet.done("a", Spent(1, 100, 0.1))
    assert fleet.outcomes == {"a": "done", "c": "stopped"}
    assert isinstance(fleet.error_of("c"), FleetBudgetExhausted)
    fleet.done("b")
    fleet.submit("d")
    assert fleet.outcomes == {"a": "done", "b": "done", "c": "stopped", "d": "stopped"}


def test_a_larger_budget_lets_the_fleet_go_on() -> None:
    fleet = FleetDriver(budget=Budget(turns=1))
    fleet.submit("a")
    fleet.done("a")
    fleet.step(inputs.LimitsChanged(FleetLimits(budget=Budget(turns=5))))
    fleet.submit("b")
    assert fleet.working == ["b"]


# --- what it shows ---


def test_a_session_that_asks_for_permission_shows_that_its_task_needs_input() -> None:
    fleet = FleetDriver()
    fleet.submit("a")
    fleet.runs("a")
    slot = fleet.slot_of("a").number
    fleet.step(inputs.SlotAsked(slot, True))
    assert (fleet.state_of("a"), fleet.slot_of("a").state) == ("needs_input", "needs_input")
    fleet.step(inputs.SlotAsked(slot, False))
    assert fleet.state_of("a") == "running"


def test_a_conversation_that_got_another_name_is_resumed_under_that() -> None:
    fleet = FleetDriver()
    fleet.submit("a", options=Options(resume="parent", fork_session=True))
    fleet.runs("a")
    fleet.step(inputs.SlotNamed(fleet.slot_of("a").number, "child"))
    fleet.fails("a", CRASH)
    (start,) = only(StartSlot, fleet.pass_time(1.0))
    assert (start.options.resume, start.options.fork_session) == ("child", False)
