"""The rules of starting: what confirms, what refuses, what waits."""

from __future__ import annotations

import pytest
from support.machine_driver import Driver

from claude_actors import events
from claude_actors.errors import (
    CLINotFound,
    EncodingFailed,
    ExitedDuringStart,
    InitializationFailed,
    InitializationTimeout,
    InitQueueOverflow,
    ResumeFailed,
    SessionEnded,
    UnsupportedVersion,
    WriteFailed,
)
from claude_actors.protocol import effects, inputs
from claude_actors.protocol.lifecycle import State
from claude_actors.protocol.outcome import Failed
from claude_actors.wire.codec import decode_line
from claude_actors.wire.control import Initialize


def _error(driver: Driver) -> BaseException:
    outcome = driver.end().outcome
    assert isinstance(outcome, Failed)
    return outcome.error


def test_initialize_is_the_first_line_written() -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(42))
    (frame,) = driver.written()
    assert frame["type"] == "control_request"
    assert frame["request"]["subtype"] == "initialize"
    assert frame["request_id"] == "req_0_abcd1234"
    assert driver.machine.state is State.INIT_SENT
    assert driver.machine.pid == 42


def test_a_process_is_initialized_once() -> None:
    driver = Driver().running()
    assert driver.feed(inputs.PortSpawned(43)) == []
    assert driver.machine.pid == 42


def test_the_matching_success_makes_the_session_run_whatever_its_payload() -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(None))
    driver.respond("req_0_abcd1234")
    assert driver.machine.state is State.RUNNING
    (started,) = driver.events(events.SessionStarted)
    assert started.server_info.raw == {}
    assert not started.resumed


def test_the_server_info_keeps_what_it_does_not_know() -> None:
    driver = Driver(resumed_session_id="s1").running()
    (started,) = driver.events(events.SessionStarted)
    assert started.server_info.pid == 42
    assert started.resumed


@pytest.mark.parametrize(
    ("subtype", "fields"),
    [
        ("hook_callback", {"callback_id": "hook_0", "input": {}}),
        ("can_use_tool", {"tool_name": "Bash", "input": {}}),
        ("mcp_message", {"server_name": "local", "message": {"id": "a:0", "method": "initialize"}}),
    ],
)
def test_a_request_of_the_cli_proves_acceptance_before_the_answer(subtype: str, fields: dict[str, object]) -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(1))
    driver.ask("r1", subtype, **fields)
    assert driver.machine.state is State.RUNNING
    assert driver.machine.server_info is None
    assert len(driver.of(effects.StartCallback)) == 1
    driver.respond("req_0_abcd1234", {"pid": 7})
    (started,) = driver.events(events.SessionStarted)
    assert started.server_info.pid == 7


def test_a_regular_message_or_another_request_proves_nothing() -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(1))
    driver.line({"type": "system", "subtype": "init", "session_id": "s"}, {"type": "keep_alive"})
    driver.ask("r1", "elicitation", mcp_server_name="x", message="?")
    assert driver.machine.state is State.INIT_SENT


def test_an_error_response_fails_the_start() -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(1))
    driver.feed(inputs.StderrReceived(("bad hooks",)))
    driver.refuse("req_0_abcd1234", "no")
    error = _error(driver)
    assert isinstance(error, InitializationFailed)
    assert error.reason == "no"
    assert error.stderr_tail == ("bad hooks",)
    assert driver.machine.state is State.FAILED
    assert len(driver.of(effects.StopPort)) == 1


def test_an_initialize_that_cannot_be_written_fails_the_start_with_that_error() -> None:
    driver = Driver()
    driver.feed(inputs.Prepared(Initialize(hooks={"Stop": object()}), 3.0))
    driver.feed(inputs.PortSpawned(1))
    assert isinstance(_error(driver), EncodingFailed)
    assert (driver.written(), driver.timers) == ([], set())
    assert len(driver.of(effects.StopPort)) == 1


def test_a_refusal_that_lists_pending_permissions_is_a_refusal_and_asks_nobody() -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(1))
    driver.feed(inputs.FramesReceived([REFUSED]))
    assert isinstance(_error(driver), InitializationFailed)
    assert driver.of(effects.StartCallback) == []


def test_a_broken_pipe_during_start_does_not_hide_why_the_process_ended() -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(1))
    driver.feed(inputs.PortWriteFailed(WriteFailed("broken pipe")))
    driver.feed(inputs.PortExited(1, None, ("error: unknown option '--x'",)))
    assert isinstance(_error(driver), UnsupportedVersion)
    assert driver.timers == set()


def test_a_conversation_that_cannot_be_resumed_is_named() -> None:
    driver = Driver(resumed_session_id="s1")
    driver.feed(inputs.PortSpawned(1))
    driver.line({"type": "result", "is_error": True, "errors": ["No conversation found with session ID: s1"]})
    driver.feed(inputs.PortExited(1, None, ("No conversation found with session ID: s1",)))
    assert isinstance(_error(driver), ResumeFailed)


def test_a_refusal_after_an_early_request_still_fails_the_session() -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(1))
    driver.hook("r1")
    driver.refuse("req_0_abcd1234", "no")
    assert isinstance(_error(driver), InitializationFailed)
    assert driver.machine.state is State.FAILED


def test_silence_fails_the_start_with_what_was_printed() -> None:
    driver = Driver()
    driver.feed(inputs.Prepared(Initialize(title="mine"), 3.0))
    driver.feed(inputs.PortSpawned(1))
    assert driver.written()[0]["request"]["title"] == "mine"
    assert effects.SetTimer("initialize", 103.0) in driver.log
    driver.feed(inputs.StderrReceived(("warming up",)))
    driver.feed(inputs.TimerFired("initialize"))
    error = _error(driver)
    assert isinstance(error, InitializationTimeout)
    assert (error.after, error.stderr_tail) == (3.0, ("warming up",))


def test_the_initialize_timer_means_nothing_once_the_session_runs() -> None:
    driver = Driver().running()
    assert driver.feed(inputs.TimerFired("initialize")) == []
    assert driver.machine.state is State.RUNNING


def test_an_exit_during_start_carries_code_and_output() -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(1))
    driver.feed(inputs.PortExited(3, None, ("boom",)))
    error = _error(driver)
    assert isinstance(error, ExitedDuringStart)
    assert (error.code, error.signal, error.stderr_tail) == (3, None, ("boom",))
    assert driver.of(effects.StopPort) == []


REFUSED = decode_line(
    b'{"type":"control_response","response":{"subtype":"error","request_id":"req_0_abcd1234","error":"no",'
    b'"pending_permission_requests":[{"request_id":"r1","request":{"subtype":"can_use_tool"}}]}}'
)


@pytest.mark.parametrize(
    "ending",
    [inputs.PortExited(1, None, ()), inputs.TimerFired("initialize"), inputs.FramesReceived([REFUSED])],
    ids=["exit", "timeout", "refusal"],
)
def test_unknown_option_output_names_the_version_whatever_ends_the_start(ending: inputs.Input) -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(1))
    driver.feed(inputs.StderrReceived(("error: unknown option '--x'",)))
    driver.feed(ending)
    error = _error(driver)
    assert isinstance(error, UnsupportedVersion)
    assert "--x" in str(error)


def test_a_program_that_cannot_be_started_fails_with_that_error() -> None:
    driver = Driver()
    missing = CLINotFound(searched=["PATH"])
    driver.feed(inputs.PortStartFailed(missing))
    assert _error(driver) is missing
    assert driver.of(effects.StopPort) == []


def test_what_is_asked_before_running_is_sent_in_order_and_without_waiting() -> None:
    driver = Driver()
    driver.prompt("p1")
    driver.feed(inputs.PortSpawned(1))
    driver.operation(1)
    driver.prompt("p2")
    assert len(driver.written()) == 1
    out = driver.respond("req_0_abcd1234")
    lines = [item.line for item in out if isinstance(item, effects.WriteLine)]
    assert [b"p1" in lines[0], b"interrupt" in lines[1], b"p2" in lines[2]] == [True] * 3


def test_the_seventeenth_operation_before_running_is_refused_at_once() -> None:
    driver = Driver()
    for number in range(15):
        driver.operation(number)
    driver.prompt("p1")
    (refused,) = driver.operation(99)
    assert isinstance(refused, effects.FailOperation)
    assert isinstance(refused.error, InitQueueOverflow)
    (refused_turn,) = driver.prompt("p2")
    assert isinstance(refused_turn, effects.RefuseTurn)
    assert len(driver.machine.turns) == 1


def test_what_a_crash_left_unanswered_is_queued_again_whatever_the_limit_of_the_queue() -> None:
    driver = Driver(max_queued_operations=2)
    for number in range(5):
        assert driver.feed(inputs.PromptRequested(f"p{number}", b"{}\n", resent=True)) == []
    (refused,) = driver.prompt("new")
    assert isinstance(refused, effects.RefuseTurn)
    driver.running()
    assert len(driver.of(effects.WriteLine)) == 1 + 5
    assert len(driver.machine.turns) == 5


def test_a_failed_start_fails_what_was_queued_and_hands_back_the_prompts() -> None:
    driver = Driver()
    driver.prompt("p1")
    driver.operation(5)
    driver.feed(inputs.PortStartFailed(CLINotFound(searched=[])))
    (failed,) = driver.of(effects.FailOperation)
    assert isinstance(failed.error, SessionEnded)
    assert isinstance(failed.error.__cause__, CLINotFound)
    assert [turn.uuid for turn in driver.end().unanswered] == ["p1"]
