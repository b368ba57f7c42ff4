"""The rules of the end: one outcome, everything told, nothing after it."""

from __future__ import annotations

import msgspec
import pytest
from support.machine_driver import Driver

from claude_actors import events
from claude_actors.errors import MailboxOverflow, SessionCrashed, SessionEnded, SpawnFailed, WriteFailed
from claude_actors.protocol import effects, inputs
from claude_actors.protocol.framing import LineDiscarded, LineGrowing
from claude_actors.protocol.lifecycle import State
from claude_actors.protocol.outcome import Completed, Failed, Stopped


def test_exit_zero_with_nothing_owed_completes_the_session() -> None:
    driver = Driver().running()
    driver.feed(inputs.PortExited(0, None))
    assert driver.end().outcome == Completed(0)
    assert driver.machine.state is State.STOPPED


@pytest.mark.parametrize(("code", "signal"), [(1, None), (None, 9), (143, None)])
def test_any_other_exit_is_a_crash_with_its_reason(code: int | None, signal: int | None) -> None:
    driver = Driver().running()
    driver.feed(inputs.StderrReceived(("last words",)))
    driver.feed(inputs.PortExited(code, signal))
    outcome = driver.end().outcome
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, SessionCrashed)
    assert (outcome.error.code, outcome.error.signal) == (code, signal)
    assert outcome.error.stderr_tail == ("last words",)
    assert driver.machine.state is State.FAILED


def test_exit_zero_with_an_open_turn_is_a_crash_and_hands_the_prompt_back() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.line({"type": "command_lifecycle", "command_uuid": "p1", "state": "started"})
    driver.feed(inputs.PortExited(0, None))
    end = driver.end()
    assert isinstance(end.outcome, Failed)
    (turn,) = end.unanswered
    assert (turn.uuid, turn.written, turn.started) == ("p1", True, True)


@pytest.mark.parametrize("when", ["starting", "init_sent", "running"])
def test_a_stop_is_safe_in_every_state_and_happens_once(when: str) -> None:
    driver = Driver()
    if when == "init_sent":
        driver.feed(inputs.PortSpawned(1))
    elif when == "running":
        driver.running()
    driver.feed(inputs.StopRequested("bye"))
    assert driver.feed(inputs.StopRequested("again")) == []
    assert driver.end().outcome == Stopped("bye")
    assert driver.machine.state is State.STOPPED
    assert len(driver.of(effects.StopPort)) == 1


def test_a_stop_in_a_turn_interrupts_it_so_that_the_cli_need_not_finish_it_first() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.feed(inputs.StopRequested("bye"))
    (stop,) = driver.of(effects.StopPort)
    assert stop.last_line is not None
    assert msgspec.json.decode(stop.last_line)["request"] == {"subtype": "interrupt"}


@pytest.mark.parametrize("in_turn", [True, False])
def test_any_other_end_sends_nothing_more(in_turn: bool) -> None:
    driver = Driver().running()
    if in_turn:
        driver.prompt("p1")
    failure = inputs.FailureRequested(MailboxOverflow(mailbox="messages", limits={}))
    driver.feed(failure if in_turn else inputs.StopRequested("bye"))
    assert driver.of(effects.StopPort) == [effects.StopPort()]


def test_a_mailbox_that_must_not_overflow_fails_the_session_with_that_error() -> None:
    driver = Driver().running()
    driver.operation(1)
    error = MailboxOverflow(mailbox="messages", limits={})
    driver.feed(inputs.FailureRequested(error))
    assert driver.end().outcome == Failed(error)
    (failed,) = driver.of(effects.FailOperation)
    assert failed.error.__cause__ is error
    assert len(driver.of(effects.StopPort)) == 1


def test_a_broken_pipe_fails_the_session_with_that_error_if_no_exit_explains_it() -> None:
    driver = Driver().running()
    error = WriteFailed("stuck")
    assert driver.feed(inputs.PortWriteFailed(error)) == [effects.SetTimer("broken", 101.0)]
    assert driver.feed(inputs.PortWriteFailed(WriteFailed("stuck again"))) == []
    driver.feed(inputs.TimerFired("broken"))
    assert driver.end().outcome == Failed(error)
    assert len(driver.of(effects.StopPort)) == 1


def test_a_broken_pipe_is_explained_by_the_exit_that_follows_and_the_last_frames_are_read() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.feed(inputs.PortWriteFailed(WriteFailed("broken pipe")))
    driver.line({"type": "result", "user_message_uuid": "p1"})
    driver.feed(inputs.PortExited(None, 9, ("killed",)))
    outcome = driver.end().outcome
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, SessionCrashed)
    assert outcome.error.signal == 9
    assert [done.uuid for done in driver.of(effects.CompleteTurn)] == ["p1"]
    assert driver.timers == set()


def test_a_timer_of_a_broken_pipe_that_was_never_set_means_nothing() -> None:
    assert Driver().running().feed(inputs.TimerFired("broken")) == []


def test_an_end_that_the_table_does_not_foresee_is_an_end_all_the_same() -> None:
    driver = Driver().running()
    error = SpawnFailed(program="claude", reason="gone")
    driver.feed(inputs.PortStartFailed(error))
    assert driver.end().outcome == Failed(error)
    assert driver.machine.state is State.FAILED


def test_late_frames_and_endings_change_nothing_after_the_end() -> None:
    driver = Driver().running()
    driver.feed(inputs.StopRequested())
    before = len(driver.log)
    driver.line({"type": "assistant"})
    driver.feed(inputs.PortExited(0, None))
    driver.feed(inputs.TimerFired("initialize"))
    assert len(driver.log) == before
    assert driver.machine.counters.dropped_after_end == 3


def test_who_comes_after_the_end_is_told_so_and_nothing_is_written() -> None:
    driver = Driver().running()
    driver.feed(inputs.StopRequested())
    (failed,) = driver.operation(1)
    (refused,) = driver.prompt("p1")
    assert isinstance(failed, effects.FailOperation)
    assert isinstance(refused, effects.RefuseTurn)
    assert isinstance(failed.error, SessionEnded)


def test_nothing_in_the_batch_after_a_refused_initialize_is_read() -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(1))
    refusal = {
        "type": "control_response",
        "response": {"subtype": "error", "request_id": "req_0_abcd1234", "error": "no"},
    }
    out = driver.line(refusal, {"type": "assistant"})
    assert isinstance(out[-1], effects.EndSession)
    assert driver.of(effects.DeliverMessages) == []


def test_a_session_is_let_go_after_the_answers_that_callers_wait_for() -> None:
    driver = Driver().running()
    driver.operation(1)
    driver.feed(inputs.FinishRequested())
    assert driver.of(effects.EndSession) == []
    driver.respond("req_1_abcd1234", {})
    assert driver.of(effects.FailOperation) == []
    assert driver.end().outcome == Completed()


def test_each_change_of_state_is_told() -> None:
    driver = Driver().running()
    driver.feed(inputs.StopRequested())
    told = [(changed.previous, changed.state) for changed in driver.events(events.LifecycleChanged)]
    assert told == [("starting", "init_sent"), ("init_sent", "running"), ("running", "stopped")]


def test_stderr_becomes_an_event_only_on_request() -> None:
    silent, told = Driver().running(), Driver(stderr_events=True).running()
    for driver in (silent, told):
        driver.feed(inputs.StderrReceived(("careful",)))
    assert silent.events(events.StderrReceived) == []
    assert told.events(events.StderrReceived) == [events.StderrReceived(("careful",))]


def test_a_line_that_is_too_long_is_reported_with_its_size() -> None:
    driver = Driver().running()
    driver.feed(inputs.FramesReceived([LineGrowing(2_000_000), LineDiscarded(70_000_000)]))
    assert driver.events(events.LineGrowing) == [events.LineGrowing(2_000_000)]
    (discarded,) = driver.events(events.LineDiscarded)
    assert (discarded.size, discarded.limit) == (70_000_000, 16 * 1024 * 1024)
