"""The rules of turns and of what is read off the conversation."""

from __future__ import annotations

from typing import Any

import pytest
from support.machine_driver import Driver

from claude_actors import events
from claude_actors.errors import TooManyPendingRequests, TurnFailed
from claude_actors.protocol import effects, inputs
from claude_actors.wire.messages import UnknownMessage, decode_message

INIT: dict[str, Any] = {"type": "system", "subtype": "init"}
STATE: dict[str, Any] = {"type": "system", "subtype": "session_state_changed"}


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


@pytest.mark.parametrize("frame", [_lifecycle("p1", "queued"), INIT | {"user_message_uuids": ["p0"]}])
def test_order_means_nothing_once_the_cli_has_named_any_prompt(frame: dict[str, Any]) -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.line(frame, _result())
    assert _completed(driver) == []


@pytest.mark.parametrize(
    ("origin", "completed"),
    [(None, ["p1"]), ({"kind": "human"}, ["p1"]), ("odd", ["p1"]), ({"kind": "task-notification"}, [])],
)
def test_a_result_of_another_origin_than_a_person_is_no_ones_by_order(origin: Any, completed: list[str]) -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.line(_result(origin=origin))
    assert _completed(driver) == completed


@pytest.mark.parametrize(
    "frame", [_result(), _result(user_message_uuid="p1"), _lifecycle("p1", "started"), _lifecycle("p1", "completed")]
)
def test_nothing_that_comes_before_a_prompt_is_sent_can_be_about_it(frame: dict[str, Any]) -> None:
    driver = Driver()
    driver.feed(inputs.PortSpawned(1))
    driver.prompt("p1")
    driver.line(frame)
    driver.respond("req_0_abcd1234")
    assert driver.written()[-1] == {"prompt": "p1"}
    assert (_completed(driver), driver.of(effects.RefuseTurn), len(driver.machine.turns)) == ([], [], 1)


@pytest.mark.parametrize("state", ["cancelled", "completed"])
def test_a_prompt_that_the_cli_never_begins_is_refused_as_soon_as_the_cli_says_so(state: str) -> None:
    # Taken back from the CLI's queue; or known to it already from an earlier process of the same conversation.
    driver = Driver().running()
    driver.prompt("p1")
    driver.line(_lifecycle("p1", state), _lifecycle("p1", state))
    (refused,) = driver.of(effects.RefuseTurn)
    assert isinstance(refused.error, TurnFailed)
    assert refused.error.subtype == state
    (unanswered,) = driver.events(events.TurnUnanswered)
    assert (unanswered.uuid, unanswered.started, unanswered.resent_as) == ("p1", False, None)


@pytest.mark.parametrize("state", ["cancelled", "completed"])
def test_a_prompt_taken_into_a_running_turn_has_that_turns_result_though_its_end_is_told_before(state: str) -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.prompt("p2")
    driver.line(_lifecycle("p1", "started"), _lifecycle("p2", "started"), _lifecycle("p2", state))
    assert driver.of(effects.RefuseTurn) == []
    driver.line(_result(user_message_uuid="p1", user_message_uuids=["p1", "p2"]), _lifecycle("p1", state))
    assert _completed(driver) == ["p1", "p2"]
    assert driver.of(effects.RefuseTurn) == []


@pytest.mark.parametrize("last", [_result(user_message_uuid="p2"), STATE | {"state": "idle"}])
def test_a_prompt_that_the_cli_is_done_with_is_refused_if_no_result_names_it(last: dict[str, Any]) -> None:
    driver = Driver().running()
    driver.prompt("p1")
    driver.line(_lifecycle("p1", "started"), _lifecycle("p1", "completed"), STATE | {"state": "running"})
    assert driver.of(effects.RefuseTurn) == []
    driver.line(last)
    (refused,) = driver.of(effects.RefuseTurn)
    assert refused.uuid == "p1"
    assert driver.events(events.TurnUnanswered)[0].started


def test_prompts_that_an_interrupt_leaves_queued_share_the_next_turn() -> None:
    driver = Driver().running()
    for uuid in ("p1", "p2", "p3"):
        driver.prompt(uuid)
    driver.line(_lifecycle("p1", "started"), _lifecycle("p2", "queued"), _lifecycle("p3", "queued"))
    driver.operation(1)
    driver.respond("req_1_abcd1234", {"still_queued": ["p2", "p3"]})
    driver.line(_result(user_message_uuid="p1", is_error=True), _lifecycle("p1", "cancelled"))
    assert _completed(driver) == ["p1"]
    driver.line(_lifecycle("p2", "started"), _lifecycle("p3", "started"))
    driver.line(_result(user_message_uuid="p3", user_message_uuids=["p2", "p3"]))
    assert _completed(driver) == ["p1", "p2", "p3"]


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


def test_a_message_of_an_unknown_type_is_delivered_as_it_came() -> None:
    driver = Driver().running()
    (delivered,) = driver.line(b'{"type":"brand_new" , "x":[1]}')
    assert delivered == effects.DeliverMessages([b'{"type":"brand_new" , "x":[1]}'])
    (message,) = [decode_message(line) for line in delivered.lines]
    assert isinstance(message, UnknownMessage)
    assert message.raw == {"type": "brand_new", "x": [1]}


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
