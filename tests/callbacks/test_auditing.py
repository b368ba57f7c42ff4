"""The audit of permission decisions: each is recorded once, without the input, before it takes effect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
import structlog

from claude_actors.callbacks.auditing import Decision, audit
from claude_actors.callbacks.context import CallbackContext
from claude_actors.callbacks.policies import allow_tools, first_decision
from claude_actors.callbacks.results import Allow, Deny
from claude_actors.wire.permissions import SetMode, ToolPermissionRequest

REQUEST = ToolPermissionRequest(tool_name="Bash", input={"command": "echo hush"}, tool_use_id="toolu_1", agent_id="a1")


def context() -> CallbackContext:
    return CallbackContext(request_id="r1", session_id="s1")


def decision(outcome: Any, **more: Any) -> Decision:
    return Decision(
        outcome=outcome,
        tool_name="Bash",
        tool_use_id="toolu_1",
        request_id="r1",
        session_id="s1",
        agent_id="a1",
        **more,
    )


@pytest.mark.parametrize(
    ("answer", "recorded"),
    [
        (Allow(), decision("allow")),
        (Allow({"command": "ls"}), decision("allow", input_changed=True)),
        (Allow(updated_permissions=[SetMode("plan")]), decision("allow", permissions_changed=True)),
        (Deny("no"), decision("deny", message="no")),
        (None, decision("no_opinion")),
        ({"behavior": "allow", "updatedInput": {"command": "echo hush"}}, decision("allow")),
        ({"behavior": "allow", "updatedInput": {}}, decision("allow", input_changed=True)),
        ({"behavior": "deny", "message": "no"}, decision("deny", message="no")),
        ("allow", decision("failed")),
    ],
)
def test_each_decision_is_recorded_and_passed_on(answer: Any, recorded: Decision) -> None:
    records: list[Decision] = []
    assert audit(lambda request, ctx: answer, records.append)(REQUEST, context()) == answer
    assert records == [recorded]


def test_a_policy_that_raises_is_recorded_and_still_raises() -> None:
    records: list[Decision] = []

    def broken(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        audit(broken, records.append)(REQUEST, context())
    assert records == [decision("failed", message="ValueError('boom')")]


def test_an_async_policy_is_recorded_when_it_has_decided() -> None:
    records: list[Decision] = []

    async def decide(request: ToolPermissionRequest, ctx: CallbackContext) -> Deny:
        await asyncio.sleep(0)
        assert records == []
        return Deny("later")

    assert asyncio.run(audit(decide, records.append)(REQUEST, context())) == Deny("later")
    assert records == [decision("deny", message="later")]


@pytest.mark.parametrize(("cancelled", "outcome"), [(True, "withdrawn"), (False, "failed")])
def test_an_async_policy_that_does_not_decide_is_recorded(cancelled: bool, outcome: str) -> None:
    records: list[Decision] = []
    ctx = context()

    async def decide(request: ToolPermissionRequest, ctx: CallbackContext) -> Deny:
        if cancelled:
            ctx._cancel("timed_out")
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(audit(decide, records.append)(REQUEST, ctx))
    assert [record.outcome for record in records] == [outcome]


def later(record: Callable[[Decision], object]) -> tuple[Future[Any], Future[Any]]:
    inner: Future[Any] = Future()
    return inner, audit(lambda request, ctx: inner, record)(REQUEST, context())


def test_an_answer_that_comes_later_is_recorded_then() -> None:
    records: list[Decision] = []
    inner, outer = later(records.append)
    assert records == []
    inner.set_result(Allow())
    assert outer.result(30) == Allow()
    assert records == [decision("allow")]


def test_an_answer_that_comes_later_may_be_a_failure() -> None:
    records: list[Decision] = []
    inner, outer = later(records.append)
    inner.set_exception(ValueError("boom"))
    with pytest.raises(ValueError, match="boom"):
        outer.result(30)
    assert records == [decision("failed", message="ValueError('boom')")]


def test_withdrawing_reaches_the_policy_and_the_record() -> None:
    records: list[Decision] = []
    inner, outer = later(records.append)
    assert outer.cancel()
    assert inner.cancelled()
    assert records == [decision("withdrawn")]


def test_a_policy_that_withdraws_withdraws_the_answer() -> None:
    records: list[Decision] = []
    inner, outer = later(records.append)
    inner.cancel()
    assert outer.cancelled()
    assert records == [decision("withdrawn")]


def test_an_answer_to_what_is_being_withdrawn_is_recorded_as_withdrawn() -> None:
    records: list[Decision] = []
    inner, outer = later(records.append)
    inner.set_running_or_notify_cancel()
    outer.cancel()
    inner.set_result(Allow())
    assert outer.cancelled()
    assert records == [decision("withdrawn")]


def test_nothing_is_allowed_that_could_not_be_recorded() -> None:
    def full(record: Decision) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        audit(allow_tools("Bash"), full)(REQUEST, context())
    inner, outer = later(full)
    inner.set_result(Allow())
    with pytest.raises(OSError, match="disk full"):
        outer.result(30)


def test_the_log_gets_ids_and_the_outcome_but_neither_input_nor_message() -> None:
    with structlog.testing.capture_logs() as logs:
        audit(first_decision(allow_tools("Read")))(REQUEST, context())
        audit(allow_tools("Bash"), structlog.get_logger())(REQUEST, context())
    assert [(entry["event"], entry["outcome"], entry["log_level"]) for entry in logs] == [
        ("permission_decided", "deny", "info"),
        ("permission_decided", "allow", "info"),
    ]
    assert "message" not in logs[0]
    assert "hush" not in str(logs)
    assert logs[0]["request_id"] == "r1"
