"""The rules of turns and of what is read off the conversation."""

from __future__ import annotations

from typing import Any

import pytest
from support.machine_driver import Driver

from claude_actors import events
from claude_actors.errors import TooManyPendingRequests, TurnFailed
from claude_actors.protocol import effects, inputs


def _result(**fields: Any) -> dict[str, Any]:
    return {"subtype": "success", "is_error": False, "session_id": "s1", "type": "result", **fields}


def _lifecycle(uuid: str | None, state: str) -> dict[str, Any]:
    return {"type": "command_lifecycle", "command_uuid": uuid, "state": state}


def _completed(driver: Driver) -> list[str]:
    return [done.uuid for done in driver.of(effects.CompleteTurn)]


def test_a_result_completes_the_prompt_that_it_names() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.prompt("p2")
    driver.line(_result(user_message_uuid="p2", user_message_uuids=["p2"]))
    assert _completed(driver) == ["p2"]
    (finished,) = driver.events(events.TurnFinished)
    assert (finished.uuid, finished.subtype, finished.is_error) == ("p2", "success", False)


def test_a_result_that_names_several_prompts_completes_them_all_once() -> None:
    driver = Driver().running()
    for uuid in ("p1", "p2", "p3"):
        driver.prompt(uuid)
    driver.line(_result(user_message_uuid="p1", user_message_uuids=["p1", "p2"]))
    driver.line(_result(user_message_uuid="p1"))
    assert _completed(driver) == ["p1", "p2"]


def test_a_cli_that_names_nothing_is_matched_by_order() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.prompt("p2")
    driver.line({"type": "system", "subtype": "init", "session_id": "s1"})
    driver.line(_result())
    driver.line(_result())
    assert driver.line(_result())[0] == effects.DeliverMessages([driver.of(effects.DeliverMessages)[-1].lines[0]])
    assert _completed(driver) == ["p1", "p2"]
    assert [started.uuid for started in driver.events(events.TurnStarted)] == ["p1"]


def test_a_turn_that_the_cli_starts_by_itself_never_completes_a_callers() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.line(_lifecycle("p1", "queued"))
    driver.line(_lifecycle("p1", "started"))
    driver.line(_result())
    driver.line(_result(user_message_uuid="not-ours"))
    assert _completed(driver) == []
    driver.line(_result(user_message_uuid="p1"))
    assert _completed(driver) == ["p1"]


def test_the_start_of_a_turn_is_told_once() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.line(_lifecycle("p1", "started"), {"type": "system", "subtype": "init"}, _lifecycle("p1", "started"))
    driver.line(_lifecycle(None, "started"), _lifecycle("other", "started"), _lifecycle("p1", "completed"))
    assert [started.uuid for started in driver.events(events.TurnStarted)] == ["p1"]


def test_a_prompt_that_the_cli_drops_is_refused_with_the_reason() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.line(_lifecycle("p1", "cancelled"))
    driver.line(_lifecycle("p1", "cancelled"))
    (refused,) = driver.of(effects.RefuseTurn)
    assert isinstance(refused.error, TurnFailed)


def test_a_cancelled_turn_that_has_its_result_is_left_alone() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.line(_result(user_message_uuid="p1", subtype="error_during_execution"), _lifecycle("p1", "cancelled"))
    assert _completed(driver) == ["p1"]
    assert driver.of(effects.RefuseTurn) == []


def test_there_are_never_more_open_turns_than_the_limit() -> None:
    driver = Driver(max_open_turns=2).running()
    driver.prompt("p1")
    driver.prompt("p2")
    (refused,) = driver.prompt("p3")
    assert isinstance(refused, effects.RefuseTurn)
    assert isinstance(refused.error, TooManyPendingRequests)


def test_the_message_is_delivered_before_anybody_is_woken_by_it() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    out = driver.line({"type": "assistant", "message": {}}, _result(user_message_uuid="p1"))
    kinds = [type(item) for item in out]
    assert kinds.index(effects.DeliverMessages) < kinds.index(effects.CompleteTurn)
    assert len(driver.of(effects.DeliverMessages)[-1].lines) == 2


def test_conversation_and_control_keep_their_order() -> None:
    driver = Driver().running()
    out = driver.line(
        {"type": "stream_event", "n": 1},
        {"type": "stream_event", "n": 2},
        {
            "type": "control_request",
            "request_id": "r",
            "request": {"subtype": "hook_callback", "callback_id": "hook_2"},
        },
        {"type": "brand_new", "n": 3},
    )
    assert isinstance(out[0], effects.DeliverMessages)
    assert [len(item.lines) for item in out if isinstance(item, effects.DeliverMessages)] == [2, 1]


def test_the_session_id_is_the_last_one_told() -> None:
    driver = Driver(resumed_session_id="s0").running()
    assert driver.machine.conversation.session_id == "s0"
    driver.line({"type": "system", "subtype": "init", "session_id": "s1"})
    driver.line(_result(session_id="s2"))
    driver.line(_result(session_id=None))
    driver.feed(inputs.StopRequested())
    assert driver.end().session_id == "s2"


def test_what_the_cli_is_doing_is_told_when_it_changes() -> None:
    driver = Driver().running()
    for state in ("running", "running", "requires_action", None, "idle"):
        driver.line({"type": "system", "subtype": "session_state_changed", "state": state})
    assert [changed.state for changed in driver.events(events.StateChanged)] == ["running", "requires_action", "idle"]


def test_the_session_is_let_go_only_when_nothing_needs_it() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.hook("r1", "hook_2")
    driver.line({"type": "system", "subtype": "task_started", "task_id": "t1"})
    driver.feed(inputs.FinishRequested())
    driver.line(_result(user_message_uuid="p1"))
    driver.feed(inputs.CallbackFinished("r1", b"{}\n"))
    driver.line({"type": "system", "subtype": "task_updated", "task_id": "t1", "status": "running"})
    assert driver.of(effects.EndSession) == []
    out = driver.line({"type": "system", "subtype": "task_notification", "task_id": "t1", "status": "completed"})
    assert [type(item) for item in out][-2:] == [effects.StopPort, effects.EndSession]


def test_a_session_that_has_nothing_to_do_is_let_go_at_once_but_not_before_it_runs() -> None:
    driver = Driver()
    driver.feed(inputs.FinishRequested())
    driver.feed(inputs.PortSpawned(1))
    assert driver.of(effects.EndSession) == []
    driver.respond("req_0_abcd1234")
    assert len(driver.of(effects.EndSession)) == 1


def _stalls(driver: Driver) -> int:
    driver.now += 10.0
    driver.feed(inputs.TimerFired("stall"))
    return len(driver.events(events.TurnStalled))


def test_an_unexplained_silence_in_an_open_turn_is_reported_each_time_it_lasts() -> None:
    driver = Driver(stall_after=10.0).running()
    driver.prompt("p1")
    assert effects.SetTimer("stall", 110.0) in driver.log
    assert _stalls(driver) == 1
    assert _stalls(driver) == 2


def test_a_frame_starts_the_silence_anew() -> None:
    driver = Driver(stall_after=10.0).running()
    driver.prompt("p1")
    driver.now += 4.0
    driver.line({"type": "keep_alive"})
    driver.now += 6.0
    out = driver.feed(inputs.TimerFired("stall"))
    assert out == [effects.SetTimer("stall", 114.0)]


TOOL = {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t1"}, {"type": "text"}]}}
TOOL_RESULT = {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1"}]}}


@pytest.mark.parametrize(
    "frame",
    [
        TOOL,
        {"type": "system", "subtype": "task_started", "task_id": "t1"},
        {
            "type": "control_request",
            "request_id": "r1",
            "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}},
        },
    ],
)
def test_a_tool_a_task_or_a_callback_at_work_explains_the_silence(frame: dict[str, Any]) -> None:
    driver = Driver(stall_after=10.0).running()
    driver.prompt("p1")
    driver.line(frame)
    assert _stalls(driver) == 0


def test_the_silence_after_a_tools_result_is_not_explained_by_the_tool() -> None:
    driver = Driver(stall_after=10.0).running()
    driver.prompt("p1")
    driver.line(
        TOOL,
        TOOL_RESULT,
        {"type": "user", "message": {"content": "about tool_use"}},
        {"type": "assistant", "message": "tool_use"},
    )
    assert _stalls(driver) == 1


def test_without_an_open_turn_there_is_nothing_to_stall() -> None:
    driver = Driver(stall_after=10.0).running()
    driver.prompt("p1")
    driver.line(_result(user_message_uuid="p1"))
    assert driver.feed(inputs.TimerFired("stall")) == []
    driver.prompt("p2")
    driver.prompt("p3")
    driver.feed(inputs.StopRequested())
    assert effects.ClearTimer("stall") in driver.log
