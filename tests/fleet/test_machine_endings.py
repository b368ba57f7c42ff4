"""What follows the end of an attempt, of a task, of a fleet. No thread, no clock but the test's."""

from __future__ import annotations

import pytest
from support.fleet_driver import CRASH, RESULT, FleetDriver, only

from claude_actors import errors
from claude_actors.fleet import (
    FleetStopped,
    TaskCancelled,
    TaskTimeout,
    inputs,
)
from claude_actors.fleet.inputs import EndSlot, NoteFailure, SendPrompt, StartSlot
from claude_actors.options import Options

# --- endings ---


def test_a_task_that_is_done_is_reported_with_its_result_and_its_session_ends() -> None:
    fleet = FleetDriver()
    fleet.submit("a")
    effects = fleet.done("a")
    assert fleet.finished == [inputs.FinishJob("a", "done", RESULT)]
    assert len(only(EndSlot, effects)) == 1
    assert fleet.state.jobs == {}


def test_a_second_end_of_the_same_turn_changes_nothing() -> None:
    fleet = FleetDriver()
    fleet.submit("a")
    slot = fleet.slot_of("a").number
    fleet.done("a")
    fleet.step(inputs.TurnSettled(slot, "a", line=RESULT))
    fleet.step(inputs.SlotEnded(slot, CRASH))
    assert len(fleet.finished) == 1


def test_a_crash_is_tried_again_after_a_backoff_and_resumes_the_conversation() -> None:
    fleet = FleetDriver()
    fleet.submit("a")
    first = fleet.state.jobs["a"].session_id
    fleet.runs("a")
    effects = fleet.fails("a", CRASH)
    assert only(NoteFailure, effects) == [NoteFailure("a", CRASH)]
    assert fleet.state_of("a") == "queued"
    assert only(StartSlot, fleet.pass_time(0.99)) == []
    effects = fleet.pass_time(0.01)
    (start,) = only(StartSlot, effects)
    (send,) = only(SendPrompt, effects)
    assert (start.options.resume, start.options.session_id, send.again) == (first, None, True)


def test_retries_wait_longer_each_time_and_have_an_end() -> None:
    fleet = FleetDriver()
    fleet.submit("a", retries=2)
    for wait in (1.0, 2.0):
        fleet.runs("a")
        fleet.fails("a", CRASH)
        assert fleet.machine.next_wake(fleet.now) == fleet.now + wait
        fleet.pass_time(wait)
    fleet.fails("a", CRASH)
    assert fleet.outcomes == {"a": "failed"}
    assert fleet.error_of("a") is CRASH


def test_a_session_that_never_ran_has_no_conversation_to_resume() -> None:
    fleet = FleetDriver()
    fleet.submit("a")
    fleet.fails("a", errors.ExitedDuringStart(code=1, signal=None))
    (start,) = only(StartSlot, fleet.pass_time(1.0))
    assert start.options.resume is None


def test_a_task_that_may_not_resume_begins_anew() -> None:
    fleet = FleetDriver()
    fleet.submit("a", may_resume=False)
    first = fleet.state.jobs["a"].session_id
    fleet.runs("a")
    fleet.fails("a", CRASH)
    effects = fleet.pass_time(1.0)
    (start,) = only(StartSlot, effects)
    assert start.options.resume is None
    assert start.options.session_id not in (None, first)
    assert not only(SendPrompt, effects)[0].again


def test_a_conversation_that_cannot_be_resumed_is_begun_anew_at_once_and_for_free() -> None:
    fleet = FleetDriver()
    fleet.submit("a", retries=1)
    fleet.runs("a")
    fleet.fails("a", CRASH)
    fleet.pass_time(1.0)
    effects = fleet.fails("a", errors.ResumeFailed(code=1, signal=None))
    (start,) = only(StartSlot, effects)
    assert start.options.resume is None
    assert fleet.state.jobs["a"].failures == 1


def test_a_resume_that_the_task_itself_wanted_fails_it() -> None:
    fleet = FleetDriver()
    fleet.submit("a", options=Options(resume="mine"))
    fleet.fails("a", errors.ResumeFailed(code=1, signal=None))
    assert fleet.outcomes == {"a": "failed"}


def test_what_cannot_pass_fails_at_once() -> None:
    fleet = FleetDriver()
    fleet.submit("a")
    fleet.runs("a")
    error = errors.AuthenticationFailed(subtype="success", reason="401", status=401)
    fleet.fails("a", error, with_result=True)
    assert fleet.outcomes == {"a": "failed"}
    assert fleet.finished[0].line == RESULT


def test_a_task_whose_session_somebody_else_stopped_is_left_unfinished() -> None:
    fleet = FleetDriver()
    fleet.submit("a")
    fleet.fails("a", errors.SessionStoppedError("stopped"))
    assert fleet.outcomes == {"a": "stopped"}


def test_a_session_that_ends_without_a_word_about_its_turn_counts_as_a_crash() -> None:
    fleet = FleetDriver()
    fleet.submit("a")
    fleet.step(inputs.SlotEnded(fleet.slot_of("a").number))
    assert fleet.state.jobs["a"].failures == 1


@pytest.mark.parametrize("where", ["queued", "delayed", "starting", "running"])
def test_a_cancelled_task_ends_wherever_it_is(where: str) -> None:
    fleet = FleetDriver(max_sessions=1)
    if where == "queued":
        fleet.submit("other")
    fleet.submit("a")
    if where in ("running", "delayed"):
        fleet.runs("a")
    if where == "delayed":
        fleet.fails("a", CRASH)
    effects = fleet.step(inputs.CancelRequested("a"))
    assert fleet.outcomes == {"a": "cancelled"}
    assert isinstance(fleet.error_of("a"), TaskCancelled)
    assert len(only(EndSlot, effects)) == (where in ("starting", "running"))
    fleet.pass_time(100.0)
    assert "a" not in fleet.working


def test_an_id_can_be_used_again_after_a_cancel_and_only_the_new_task_runs() -> None:
    fleet = FleetDriver(max_sessions=1)
    for job in ("first", "second", "a"):
        fleet.submit(job)
    fleet.step(inputs.CancelRequested("a"))
    fleet.submit("a")
    for job in ("first", "second"):
        fleet.runs(job)
        fleet.done(job)
        fleet.end_slots()
    fleet.runs("a")
    assert fleet.state.jobs["a"].state == "running"
    effects = fleet.step(inputs.CancelRequested("a"))
    assert len(only(EndSlot, effects)) == 1
    assert fleet.state.working() == []


def test_cancelling_what_is_not_there_changes_nothing() -> None:
    assert FleetDriver().step(inputs.CancelRequested("nobody")) == []


def test_a_conversation_is_not_resumed_while_its_last_process_may_still_write_to_it() -> None:
    fleet = FleetDriver()
    fleet.submit("a")
    fleet.runs("a")
    fleet.fails("a", errors.Overloaded(subtype="success", reason="529", status=529), with_result=True)
    fleet.pass_time(10.0)
    assert fleet.working == []
    fleet.submit("b")
    assert fleet.working == ["b"]
    fleet.end_slots()
    assert fleet.working == ["b", "a"]


# --- time ---


def test_a_task_that_works_too_long_is_stopped() -> None:
    fleet = FleetDriver()
    fleet.submit("a", timeout=10.0)
    fleet.runs("a")
    assert fleet.pass_time(9.9) == []
    effects = fleet.pass_time(0.1)
    assert len(only(EndSlot, effects)) == 1
    assert isinstance(fleet.error_of("a"), TaskTimeout)


def test_waiting_does_not_count_for_the_timeout_but_all_attempts_do() -> None:
    fleet = FleetDriver(max_sessions=1)
    fleet.submit("other")
    fleet.submit("a", timeout=10.0)
    fleet.pass_time(1000.0)
    fleet.done("other")
    fleet.runs("a")
    fleet.pass_time(6.0)
    fleet.fails("a", CRASH)
    fleet.pass_time(1.0)
    assert fleet.working == ["a"]
    fleet.pass_time(3.9)
    assert fleet.outcomes == {"other": "done"}
    fleet.pass_time(0.1)
    assert fleet.outcomes == {"other": "done", "a": "failed"}


# --- the end of the fleet ---


def test_a_drained_fleet_ends_when_everything_is_done() -> None:
    fleet = FleetDriver(max_sessions=1)
    fleet.submit("a")
    fleet.submit("b")
    fleet.step(inputs.DrainRequested())
    fleet.done("a")
    assert not fleet.is_over()
    fleet.done("b")
    assert not fleet.is_over()
    fleet.end_slots()
    assert fleet.is_over()
    assert fleet.outcomes == {"a": "done", "b": "done"}


def test_draining_lets_a_held_fleet_go() -> None:
    fleet = FleetDriver()
    fleet.step(inputs.HoldRequested(True))
    fleet.submit("a")
    fleet.step(inputs.DrainRequested())
    assert fleet.working == ["a"]


def test_a_fleet_that_leaves_its_queue_finishes_only_what_runs() -> None:
    fleet = FleetDriver(max_sessions=2)
    for name in "abc":
        fleet.submit(name)
    fleet.runs("a")
    fleet.step(inputs.DrainRequested(leave_queued=True))
    assert fleet.outcomes == {"c": "stopped"}
    fleet.fails("a", CRASH)
    fleet.done("b")
    assert fleet.outcomes == {"c": "stopped", "a": "stopped", "b": "done"}


def test_a_stopped_fleet_ends_every_session_and_leaves_every_task_unfinished() -> None:
    fleet = FleetDriver(max_sessions=2)
    for name in "abc":
        fleet.submit(name)
    effects = fleet.step(inputs.StopRequested(FleetStopped()))
    assert len(only(EndSlot, effects)) == 2
    assert fleet.outcomes == {"a": "stopped", "b": "stopped", "c": "stopped"}
    fleet.end_slots()
    assert fleet.is_over()
