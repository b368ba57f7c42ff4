"""The rules of noticing a turn in which nothing is heard although nothing explains the silence."""

from __future__ import annotations

from typing import Any

import pytest
from support.machine_driver import Driver

from claude_actors import events
from claude_actors.protocol import effects, inputs
from claude_actors.protocol.effects import ClearTimer, Effect, EmitEvent, SetTimer
from claude_actors.protocol.stall import StallWatch


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
        b'{"message": {"content": [{"type": "tool_use", "id": "t1"}]}, "type": "assistant"}',
        {"type": "system", "subtype": "task_started", "task_id": "t1"},
        {
            "type": "control_request",
            "request_id": "r1",
            "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}},
        },
    ],
)
def test_a_tool_a_task_or_a_callback_at_work_explains_the_silence(frame: dict[str, Any] | bytes) -> None:
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
    driver.line({"type": "result", "user_message_uuid": "p1"})
    assert driver.feed(inputs.TimerFired("stall")) == []
    driver.prompt("p2")
    driver.prompt("p3")
    driver.feed(inputs.StopRequested())
    assert effects.ClearTimer("stall") in driver.log


def test_odd_tool_frames_and_more_tools_than_are_tracked_cost_nothing() -> None:
    driver = Driver(stall_after=10.0).running()
    driver.prompt("p1")
    blocks = [{"type": "tool_use", "id": f"t{number}"} for number in range(1_200)]
    driver.line({"type": "assistant", "message": {"content": blocks}}, {"type": "user", "message": ["tool_use"]})
    assert len(driver.machine.conversation.running_tools) == 1_000
    driver.line({"type": "assistant", "message": {"content": [{"type": "text", "text": "no tools"}]}})
    driver.line({"type": "result", "user_message_uuid": "p1"})
    assert driver.machine.conversation.running_tools == set()


def test_without_a_limit_the_watch_sets_no_timer_and_sees_nothing() -> None:
    out: list[Effect] = []
    watch = StallWatch(None)
    watch.arm(0.0, out)
    watch.look(1_000.0, out, turn_open=True, explained=False)
    watch.disarm(out)
    assert out == []


def test_a_second_prompt_starts_the_silence_anew_but_no_second_timer() -> None:
    out: list[Effect] = []
    watch = StallWatch(10.0)
    watch.arm(0.0, out)
    watch.arm(6.0, out)
    assert out == [SetTimer("stall", 10.0)]
    out.clear()
    watch.look(10.0, out, turn_open=True, explained=False)
    assert out == [SetTimer("stall", 16.0)]


@pytest.mark.parametrize(
    ("heard_at", "turn_open", "explained", "expected"),
    [
        (0.0, True, False, [EmitEvent(events.TurnStalled(10.0)), SetTimer("stall", 20.0)]),
        (0.0, True, True, [SetTimer("stall", 20.0)]),
        (3.0, True, False, [SetTimer("stall", 13.0)]),
        (0.0, False, False, []),
    ],
    ids=["silent", "explained", "heard since", "no turn"],
)
def test_what_a_look_finds(heard_at: float, turn_open: bool, explained: bool, expected: list[Effect]) -> None:
    watch = StallWatch(10.0)
    watch.arm(0.0, [])
    watch.heard(heard_at)
    out: list[Effect] = []
    watch.look(10.0, out, turn_open=turn_open, explained=explained)
    assert out == expected


def test_a_watch_that_looks_no_more_takes_its_timer_back_once() -> None:
    out: list[Effect] = []
    watch = StallWatch(10.0)
    watch.arm(0.0, [])
    watch.disarm(out)
    watch.disarm(out)
    assert out == [ClearTimer("stall")]
