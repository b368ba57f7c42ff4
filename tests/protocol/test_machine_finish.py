"""The rules of letting a session go: not before everybody and everything is done with it."""

from __future__ import annotations

from typing import Any

import pytest
from support.machine_driver import Driver, finished

from claude_actors.protocol import effects, inputs
from claude_actors.protocol.outcome import Completed


def _result(**fields: Any) -> dict[str, Any]:
    return {"subtype": "success", "session_id": "s1", "type": "result", **fields}


def _state(state: str) -> dict[str, Any]:
    return {"type": "system", "subtype": "session_state_changed", "state": state}


def _task(what: str, **fields: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": what, "task_id": "t1", **fields}


def test_the_session_is_let_go_only_when_nothing_needs_it() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.hook("r1", "hook_2")
    driver.line({"type": "system", "subtype": "task_started", "task_id": "t1"})
    driver.feed(inputs.FinishRequested())
    driver.line(_result(user_message_uuid="p1"))
    driver.feed(finished("r1", b"{}\n"))
    driver.line({"type": "system", "subtype": "task_updated", "task_id": "t1", "patch": {"status": "running"}})
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


def test_a_session_with_queued_prompts_is_not_let_go_before_their_results() -> None:
    driver = Driver()
    driver.prompt("p1")
    driver.prompt("p2")
    driver.feed(inputs.FinishRequested())
    driver.running()
    driver.line(_result(user_message_uuid="p1"))
    assert driver.of(effects.EndSession) == []
    driver.line(_result(user_message_uuid="p2"))
    assert driver.end().outcome == Completed()


def test_a_prompt_sent_while_the_session_is_being_let_go_is_still_answered() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.feed(inputs.FinishRequested())
    driver.prompt("p2")
    driver.line(_result(user_message_uuid="p1"))
    assert driver.of(effects.EndSession) == []
    driver.line(_result(user_message_uuid="p2"))
    assert [done.uuid for done in driver.of(effects.CompleteTurn)] == ["p1", "p2"]
    assert driver.end().unanswered == ()


@pytest.mark.parametrize(
    "ending", [_task("task_notification", status="failed"), _task("task_updated", patch={"status": "killed"})]
)
def test_a_task_ends_by_its_notification_or_by_an_update_alone(ending: dict[str, Any]) -> None:
    driver = Driver().running()
    driver.line(_task("task_started"))
    driver.feed(inputs.FinishRequested())
    driver.line(_task("task_updated", patch="odd"), _task("task_updated"))
    assert driver.of(effects.EndSession) == []
    driver.line(ending)
    assert driver.end().outcome == Completed()


def test_a_cli_that_tells_its_state_is_let_go_when_it_is_idle() -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.feed(inputs.FinishRequested())
    driver.line(_state("running"), _result(user_message_uuid="p1"))
    assert driver.of(effects.EndSession) == []
    driver.line(_state("idle"))
    assert driver.end().outcome == Completed()


def test_the_turn_that_the_cli_begins_about_an_ended_task_is_waited_for() -> None:
    driver = Driver().running()
    driver.line(_state("running"), _task("task_started"), _state("idle"))
    driver.feed(inputs.FinishRequested())
    driver.line(_task("task_notification", status="completed"))
    driver.line(_state("running"), _result(origin={"kind": "task-notification"}))
    assert driver.of(effects.EndSession) == []
    driver.line(_state("idle"))
    assert driver.end().outcome == Completed()


def test_a_task_that_ends_without_such_a_turn_is_waited_for_only_until_the_next_word_of_the_state() -> None:
    driver = Driver().running()
    driver.line(_state("idle"), _task("task_started"))
    driver.feed(inputs.FinishRequested())
    driver.line(_task("task_notification", status="stopped"))
    assert driver.of(effects.EndSession) == []
    driver.line(_state("idle"))
    assert driver.end().outcome == Completed()
