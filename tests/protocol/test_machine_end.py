"""The rules of the end: one outcome, everything told, nothing after it."""

from __future__ import annotations

import pytest
from support.machine_driver import Driver

from claude_actors import events
from claude_actors.errors import ClaudeActorsError, MailboxOverflow, SessionCrashed, SessionEnded, WriteFailed
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


@pytest.mark.parametrize("make", [inputs.PortWriteFailed, inputs.FailureRequested])
@pytest.mark.parametrize("error", [WriteFailed("stuck"), MailboxOverflow(mailbox="messages", limits={})])
def test_a_broken_pipe_or_mailbox_fails_the_session_with_that_error(
    make: type[inputs.PortWriteFailed] | type[inputs.FailureRequested], error: ClaudeActorsError
) -> None:
    driver = Driver().running()
    driver.operation(1)
    driver.feed(make(error))
    assert driver.end().outcome == Failed(error)
    assert len(driver.of(effects.StopPort)) == 1


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


def test_a_completed_session_says_so_to_who_still_waits() -> None:
    driver = Driver().running()
    driver.operation(1)
    driver.feed(inputs.FinishRequested())
    (failed,) = driver.of(effects.FailOperation)
    assert isinstance(failed.error, SessionEnded)
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
