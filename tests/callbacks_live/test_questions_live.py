"""Elicitations and dialogs in a live session: declined and dismissed by default, answered by callbacks if there are."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from support.live_session import DEADLINE, live

from claude_actors import (
    Accept,
    CallbackCancelled,
    CallbackContext,
    CallbackCrashed,
    CallbackTimedOut,
    Cancel,
    Cancelled,
    Completed,
    Decline,
)
from claude_actors.testing import CancelRequest, Elicit, Request, WaitFor, reply, script

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}
ELICIT = Elicit("forms", "Who are you?", {"mode": "form", "requested_schema": SCHEMA, "brand_new": 1}, label="ask")
DIALOG = Request("request_user_dialog", {"dialog_kind": "choose", "payload": {"of": [1, 2]}, "new": 1}, label="ask")


def test_by_default_questions_are_declined_and_dialogs_dismissed_without_a_crash() -> None:
    steps = (ELICIT, Request("request_user_dialog", {"dialog_kind": "choose"}, label="dialog"))
    with live(script(reply(*steps, "done"))) as stage:
        assert stage.ask().result == "done"
        assert stage.answer("ask") == {"action": "decline"}
        assert stage.answer("dialog") == {"behavior": "cancelled"}
        assert stage.events(CallbackCrashed) == []


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (Accept({"name": "me"}), {"action": "accept", "content": {"name": "me"}}),
        (Accept(), {"action": "accept"}),
        (Decline(), {"action": "decline"}),
        (Cancel(), {"action": "cancel"}),
        ({"action": "accept", "brand_new": 1}, {"action": "accept", "brand_new": 1}),
    ],
)
def test_an_elicitation_is_answered_by_its_callback(result: Any, expected: dict[str, Any]) -> None:
    seen: list[Any] = []

    async def answer(request: Any, ctx: CallbackContext) -> Any:
        seen.append((request, ctx.session))
        return result

    with live(script(reply(ELICIT, "done")), on_elicitation=answer) as stage:
        stage.ask()
        assert stage.answer("ask") == expected
        ((request, session),) = seen
        assert session is stage.session
    assert (request.mcp_server_name, request.message, request.mode) == ("forms", "Who are you?", "form")
    assert request.requested_schema == SCHEMA
    assert request.raw["brand_new"] == 1


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (Completed({"choice": 2}), {"behavior": "completed", "result": {"choice": 2}}),
        (Cancelled(), {"behavior": "cancelled"}),
        ({"behavior": "completed", "result": 1}, {"behavior": "completed", "result": 1}),
    ],
)
def test_a_dialog_of_a_declared_kind_is_answered_by_its_callback(result: Any, expected: dict[str, Any]) -> None:
    seen: list[Any] = []

    def answer(request: Any, ctx: CallbackContext) -> Any:
        seen.append(request)
        return result

    options = {"on_user_dialog": answer, "supported_dialog_kinds": ["choose"]}
    with live(script(reply(DIALOG, "done")), **options) as stage:
        assert stage.initialize["supportedDialogKinds"] == ["choose"]
        stage.ask()
        assert stage.answer("ask") == expected
    (request,) = seen
    assert (request.dialog_kind, request.payload, request.raw["new"]) == ("choose", {"of": [1, 2]}, 1)


def _raise(request: Any, ctx: CallbackContext) -> Any:
    raise LookupError("lost")


@pytest.mark.parametrize("wrong", [_raise, lambda request, ctx: None, lambda request, ctx: Accept({"a": object()})])
def test_callbacks_that_fail_decline_and_dismiss(wrong: Any) -> None:
    steps = (ELICIT, Request("request_user_dialog", {"dialog_kind": "choose"}, label="dialog"))
    with live(script(reply(*steps, "done")), on_elicitation=wrong, on_user_dialog=wrong) as stage:
        assert stage.ask().result == "done"
        assert stage.answer("ask") == {"action": "decline"}
        assert stage.answer("dialog") == {"behavior": "cancelled"}
        assert [event.kind for event in stage.events(CallbackCrashed)] == ["elicitation", "dialog"]


def test_a_question_that_is_not_answered_in_time_is_declined() -> None:
    def think(request: Any, ctx: CallbackContext) -> Accept:
        ctx.wait_cancelled(DEADLINE)
        return Accept()

    with live(script(reply(ELICIT, "done")), on_elicitation=think, elicitation_timeout=0.05) as stage:
        assert stage.ask().result == "done"
        assert stage.answer("ask") == {"action": "decline"}
        assert stage.next_event(CallbackTimedOut).kind == "elicitation"


def test_a_question_that_the_cli_withdraws_is_told_to_its_callback() -> None:
    started, reasons = threading.Event(), []

    def think(request: Any, ctx: CallbackContext) -> Decline:
        started.set()
        ctx.wait_cancelled(DEADLINE)
        reasons.append(ctx.cancel_reason)
        return Decline()

    steps = (Elicit("forms", "?", wait=False, label="ask"), WaitFor("asked"), CancelRequest("ask"))
    with live(script(reply(*steps, "done")), on_elicitation=think) as stage:
        turn = stage.session.send("go")
        assert started.wait(DEADLINE)
        stage.fake.gates.open("asked")
        turn.result(DEADLINE)
        assert stage.next_event(CallbackCancelled).kind == "elicitation"
        assert stage.responses("ask") == []
    assert reasons == ["cancelled"]
