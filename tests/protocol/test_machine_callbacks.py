"""The rules of requests that the CLI sends: first event wins, one answer, and what the fallback says."""

from __future__ import annotations

from typing import Any

import pytest
from support.machine_driver import Driver, finished

from claude_actors import events
from claude_actors.protocol import effects, inputs
from claude_actors.protocol.callbacks import CallbackRules, HookRule
from claude_actors.wire.codec import encode_success


def _finish(driver: Driver, request_id: str) -> list[effects.Effect]:
    return driver.feed(finished(request_id, encode_success(request_id, {"ok": True})))


def test_answers_that_come_together_are_decided_one_by_one() -> None:
    driver = Driver().running()
    for number in range(3):
        driver.hook(f"r{number}")
    driver.line({"type": "control_cancel_request", "request_id": "r1"})
    answers = tuple(inputs.CallbackFinished(f"r{number}", b"%d\n" % number) for number in range(3))
    assert driver.feed(inputs.CallbacksFinished(answers)) == [effects.WriteLine(b"0\n"), effects.WriteLine(b"2\n")]
    assert driver.machine.counters.late_answers == 1


def test_a_hook_starts_a_callback_with_its_deadline_and_its_answer_is_written_once() -> None:
    driver = Driver().running()
    driver.hook("r1")
    (started,) = driver.of(effects.StartCallback)
    assert (started.kind, started.name, started.deadline) == ("hook", "hook_0", 160.0)
    _finish(driver, "r1")
    assert _finish(driver, "r1") == []
    assert [answer["response"] for answer in driver.answers("r1")] == [{"ok": True}]
    assert driver.machine.counters.late_answers == 1


def test_a_callback_without_a_timeout_gets_no_timer() -> None:
    driver = Driver().running()
    out = driver.hook("r1", "hook_2")
    assert [type(item) for item in out] == [effects.StartCallback]


@pytest.mark.parametrize(
    ("subtype", "fields", "fallback"),
    [
        ("hook_callback", {"callback_id": "hook_0", "input": {}}, {"continue": True}),
        ("hook_callback", {"callback_id": "hook_1", "input": {}}, {"decision": "block"}),
        (
            "can_use_tool",
            {"tool_name": "Bash", "input": {}},
            {"behavior": "deny", "message": "the permission callback gave no answer", "interrupt": False},
        ),
        (
            "mcp_message",
            {"server_name": "local", "message": {"jsonrpc": "2.0", "id": "c7a2:0", "method": "tools/list"}},
            {
                "mcp_response": {
                    "jsonrpc": "2.0",
                    "id": "c7a2:0",
                    "error": {"code": -32603, "message": "the in-process MCP server gave no answer"},
                }
            },
        ),
        ("elicitation", {"mcp_server_name": "local", "message": "name?"}, {"action": "decline"}),
        ("request_user_dialog", {"dialog_kind": "pick", "payload": {}}, {"behavior": "cancelled"}),
    ],
)
def test_each_kind_falls_back_in_its_own_way(subtype: str, fields: dict[str, Any], fallback: dict[str, Any]) -> None:
    driver = Driver().running()
    driver.ask("r1", subtype, **fields)
    driver.feed(inputs.CallbackFailed("r1", "ValueError: no"))
    (answer,) = driver.answers("r1")
    assert answer["response"] == fallback
    (crashed,) = driver.events(events.CallbackCrashed)
    assert crashed.reason == "ValueError: no"


def test_a_timeout_answers_with_the_fallback_and_tells_the_callback() -> None:
    driver = Driver().running()
    driver.hook("r1")
    assert effects.SetTimer("callbacks", 160.0) in driver.log
    driver.now += 60.0
    driver.feed(inputs.TimerFired("callbacks"))
    _finish(driver, "r1")
    driver.feed(inputs.CallbackFailed("r1", "late"))
    assert [answer["response"] for answer in driver.answers("r1")] == [{"continue": True}]
    assert effects.CancelCallback("r1", "timed_out") in driver.log
    (timed_out,) = driver.events(events.CallbackTimedOut)
    assert timed_out.after == 60.0
    assert driver.machine.counters.late_answers == 2


def test_a_cancelled_request_gets_no_answer_and_its_callback_is_told() -> None:
    driver = Driver().running()
    driver.hook("r1")
    driver.line({"type": "control_cancel_request", "request_id": "r1"})
    _finish(driver, "r1")
    driver.now += 60.0
    assert driver.feed(inputs.TimerFired("callbacks")) == []
    driver.feed(inputs.CallbackRejected("r1", "too late"))
    assert driver.answers("r1") == []
    assert effects.CancelCallback("r1", "cancelled") in driver.log


def test_one_timer_serves_all_callbacks_and_is_set_for_the_earliest_that_is_left() -> None:
    rules = CallbackRules({"slow": HookRule("Stop", 60.0), "quick": HookRule("Stop", 5.0)}, permission_timeout=60.0)
    driver = Driver(rules=rules).running()
    driver.ask("later", "can_use_tool", tool_name="Bash", input={})
    driver.now += 1.0
    driver.hook("sooner", "quick")
    driver.hook("last", "slow")
    assert driver.of(effects.SetTimer)[1:] == [
        effects.SetTimer("callbacks", 160.0),
        effects.SetTimer("callbacks", 106.0),
    ]
    driver.now = 106.0
    out = driver.feed(inputs.TimerFired("callbacks"))
    assert effects.CancelCallback("sooner", "timed_out") in out
    assert out[-1] == effects.SetTimer("callbacks", 160.0)
    _finish(driver, "later")
    driver.now = 160.0
    assert driver.feed(inputs.TimerFired("callbacks")) == [effects.SetTimer("callbacks", 161.0)]
    assert [event.request_id for event in driver.events(events.CallbackTimedOut)] == ["sooner"]


def test_a_cancel_of_what_is_not_pending_does_nothing() -> None:
    driver = Driver().running()
    assert driver.line({"type": "control_cancel_request", "request_id": "r9"}) == []


def test_callback_thirty_three_gets_its_fallback_at_once_and_starts_nothing() -> None:
    driver = Driver().running()
    for number in range(32):
        driver.hook(f"r{number}")
    out = driver.hook("r32")
    assert [type(item) for item in out] == [effects.WriteLine, effects.EmitEvent]
    assert len(driver.of(effects.StartCallback)) == 32
    assert len(driver.events(events.CallbackRefused)) == 1
    assert len(driver.machine.callbacks) == 32


def test_a_callback_that_cannot_be_started_gets_its_fallback() -> None:
    driver = Driver().running()
    driver.hook("r1")
    driver.feed(inputs.CallbackRejected("r1", "32 threads hang"))
    assert [answer["response"] for answer in driver.answers("r1")] == [{"continue": True}]
    (refused,) = driver.events(events.CallbackRefused)
    assert refused.reason == "32 threads hang"


def test_the_same_request_twice_is_run_and_answered_once() -> None:
    driver = Driver().running()
    driver.hook("r1")
    assert driver.hook("r1") == []
    _finish(driver, "r1")
    assert len(driver.answers("r1")) == 1


def test_an_unknown_hook_and_an_unknown_subtype_get_an_error_response() -> None:
    driver = Driver().running()
    driver.hook("r1", "hook_99")
    driver.ask("r2", "levitate", height=3)
    (first,), (second,) = driver.answers("r1"), driver.answers("r2")
    assert first["subtype"] == second["subtype"] == "error"
    assert "hook_99" in first["error"]
    assert "levitate" in second["error"]
    assert [refused.subtype for refused in driver.events(events.RequestRefused)] == ["hook_callback", "levitate"]


def test_a_malformed_request_with_a_readable_id_gets_an_error_response() -> None:
    driver = Driver().running()
    driver.line({"type": "control_request", "request_id": "r1", "request": {"subtype": "can_use_tool", "tool_name": 5}})
    (answer,) = driver.answers("r1")
    assert answer["subtype"] == "error"


def test_a_malformed_request_under_the_id_of_a_pending_one_does_not_take_its_answer() -> None:
    driver = Driver().running()
    driver.hook("r1")
    driver.line({"type": "control_request", "request_id": "r1", "request": {}})
    assert driver.answers("r1") == []
    _finish(driver, "r1")
    assert [answer["response"] for answer in driver.answers("r1")] == [{"ok": True}]


def test_a_malformed_line_without_an_id_is_reported_and_dropped() -> None:
    driver = Driver().running()
    out = driver.line(b"Debugger attached.")
    assert [type(item) for item in out] == [effects.EmitEvent]
    (junk,) = driver.events(events.JunkSeen)
    assert junk.start == "Debugger attached."
    assert driver.machine.counters.junk_lines == 1


def test_a_stop_tells_every_callback_and_answers_none() -> None:
    driver = Driver().running()
    driver.hook("r1")
    driver.hook("r2", "hook_2")
    driver.feed(inputs.StopRequested())
    assert _finish(driver, "r1") == []
    assert driver.answers("r1") == driver.answers("r2") == []
    assert {item.request_id for item in driver.of(effects.CancelCallback)} == {"r1", "r2"}
    assert driver.of(effects.ClearTimer) == [effects.ClearTimer("initialize"), effects.ClearTimer("callbacks")]
