"""Asking a person in a live session: requests wait in a mailbox until another thread or actor answers them."""

from __future__ import annotations

import threading
from typing import Any

import pykka
import pytest
from support.leaks import wait_until
from support.live_session import DEADLINE, live

from claude_actors import (
    Approvals,
    CallbackContext,
    Decision,
    MailboxClosed,
    NotSupported,
    PendingApproval,
    ToolPermissionRequest,
    allow_tools,
    audit,
    first_decision,
    read_only,
    start_session,
)
from claude_actors.actors.task_pool import TaskPool
from claude_actors.testing import AskPermission, AwaitAnswers, CancelRequest, FakeCLI, UseTool, WaitFor, reply, script

TOUCH = reply(UseTool("Bash", {"command": "touch x"}, id="toolu_1", result="touched"))
PLAN = reply(UseTool("ExitPlanMode", {"plan": "1. look"}))


def task_threads() -> int:
    pool = TaskPool.acquire()
    try:
        return pool.threads
    finally:
        pool.release()


def test_a_request_is_answered_from_another_thread_while_it_is_listed_in_the_snapshot() -> None:
    listed: list[tuple[str, ...]] = []

    def person() -> None:
        for pending in stage.session.permissions():
            listed.append(stage.session.snapshot().pending_permissions)
            assert pending.allow({**pending.input, "command": "touch y"})

    with live(script(TOUCH, "done"), can_use_tool=Approvals(), permission_timeout=None) as stage:
        thread = threading.Thread(target=person)
        thread.start()
        assert stage.ask().result == "done"
        assert "touched" in stage.told()[1]
        assert stage.session.snapshot().pending_permissions == ()
    # The mailbox ends with the session, and so does the loop over it.
    thread.join(DEADLINE)
    assert not thread.is_alive()
    assert listed == [("Bash",)]


class Reviewer(pykka.ThreadingActor):
    """An actor that answers what it is told of."""

    def on_receive(self, message: Any) -> Any:
        assert isinstance(message, PendingApproval)
        return message.deny("the reviewer says no")


def test_a_request_is_answered_by_another_actor() -> None:
    reviewer = Reviewer.start()
    try:
        with live(script(TOUCH, "done"), can_use_tool=Approvals(), permission_timeout=None) as stage:
            turn = stage.session.send("go")
            assert reviewer.ask(stage.session.permissions().get(DEADLINE), timeout=DEADLINE) is True
            assert turn.result(DEADLINE).result == "done"
            assert "the reviewer says no" in stage.told()[1]
    finally:
        reviewer.stop()


def test_waiting_for_a_person_holds_no_thread() -> None:
    numbers = {str(number) for number in range(30)}
    ask = [AskPermission("Bash", {"command": number}, wait=False, label=number) for number in numbers]
    asking = script(reply(*ask, WaitFor("end"), AwaitAnswers(), "done"))
    with live(asking, can_use_tool=Approvals(), permission_timeout=None) as stage:
        turn = stage.session.send("go")
        pending = [stage.session.permissions().get(DEADLINE) for _ in numbers]
        assert stage.session.snapshot().pending_callbacks == len(stage.session.snapshot().pending_permissions) == 30
        # Idle threads beyond 16 end, busy ones do not. There may be none: a thread of the reactor's can run them all.
        assert wait_until(lambda: task_threads() <= 16)
        assert all(one.deny(one.input["command"]) for one in pending)
        stage.fake.gates.open("end")
        turn.result(DEADLINE)
        assert {stage.answer(number)["message"] for number in numbers} == numbers


def test_the_first_answer_counts_and_later_ones_are_told_so() -> None:
    with live(script(TOUCH, "done"), can_use_tool=Approvals(), permission_timeout=None) as stage:
        turn = stage.session.send("go")
        pending = stage.session.permissions().get(DEADLINE)
        assert (pending.tool_name, pending.session, pending.done) == ("Bash", stage.session, False)
        assert pending.suggestions == pending.request.suggestions != ()
        assert (pending.deny("no"), pending.allow(), pending.deny()) == (True, False, False)
        turn.result(DEADLINE)
        assert (pending.done, pending.withdrawn) == (True, False)
        assert "no" in stage.told()[1]


def test_a_request_that_the_cli_cancels_is_withdrawn() -> None:
    withdrawn = threading.Event()
    steps = (AskPermission("Bash", wait=False, label="gone"), WaitFor("asked"), CancelRequest("gone"))
    with live(script(reply(*steps, "done")), can_use_tool=Approvals(), permission_timeout=None) as stage:
        turn = stage.session.send("go")
        pending = stage.session.permissions().get(DEADLINE)
        pending.on_done(lambda one: withdrawn.set())
        stage.fake.gates.open("asked")
        assert withdrawn.wait(DEADLINE)
        assert pending.withdrawn
        assert pending.allow() is False
        turn.result(DEADLINE)
        assert stage.session.snapshot().pending_permissions == ()
        assert stage.responses("gone") == []


def test_an_interrupt_withdraws_what_waits() -> None:
    with live(script(TOUCH, "never said", "later"), can_use_tool=Approvals(), permission_timeout=None) as stage:
        turn = stage.session.send("go")
        pending = stage.session.permissions().get(DEADLINE)
        stage.session.interrupt()
        assert turn.result(DEADLINE).is_error
        assert wait_until(lambda: pending.withdrawn)


def test_a_request_that_nobody_answers_in_time_is_denied_and_withdrawn() -> None:
    with live(script(TOUCH, "done"), can_use_tool=Approvals(), permission_timeout=0.05) as stage:
        assert stage.ask().result == "done"
        assert "touched" not in stage.told()[1]
        pending = stage.session.permissions().get(DEADLINE)
        assert wait_until(lambda: pending.withdrawn)


def test_the_end_of_the_session_withdraws_what_waits_and_closes_its_mailbox() -> None:
    approvals = Approvals()
    with live(script(TOUCH, "done"), can_use_tool=approvals, permission_timeout=None) as stage:
        stage.session.send("go")
        mailbox = stage.session.permissions()
        pending = mailbox.get(DEADLINE)
    assert wait_until(lambda: pending.withdrawn)
    with pytest.raises(MailboxClosed):
        mailbox.get(DEADLINE)
    assert approvals.pending() == ()
    approvals.close()


def test_one_person_serves_many_sessions_and_each_session_sees_its_own() -> None:
    approvals = Approvals()
    with (
        FakeCLI(script(TOUCH, "done")) as fake,
        start_session("a", fake.options(can_use_tool=approvals, permission_timeout=None)) as first,
        start_session("b", fake.options(can_use_tool=approvals, permission_timeout=None)) as second,
    ):
        own = {session: session.permissions().get(DEADLINE) for session in (first, second)}
        assert all(pending.session is session for session, pending in own.items())
        assert {approvals.mailbox.get(DEADLINE) for _ in range(2)} == set(own.values())
        assert approvals.pending(first) == (own[first],)
        assert len(approvals.pending()) == 2
        approvals.close("closing time")
        assert approvals.pending() == ()


def test_a_person_is_found_inside_composed_and_audited_policies() -> None:
    decisions: list[Decision] = []

    async def no_opinion(request: ToolPermissionRequest, ctx: CallbackContext) -> None:
        return None

    policy = audit(first_decision(allow_tools("Read"), no_opinion, Approvals()), decisions.append)
    steps = (AskPermission("Read", label="rule"), AskPermission("Bash", label="person"))
    with live(script(reply(*steps, "done")), can_use_tool=policy, permission_timeout=None) as stage:
        turn = stage.session.send("go")
        stage.session.permissions().get(DEADLINE).deny("asked and refused")
        turn.result(DEADLINE)
        assert stage.answer("rule")["behavior"] == "allow"
        assert stage.answer("person")["message"] == "asked and refused"
    assert [one.outcome for one in decisions] == ["allow", "deny"]


def test_without_anybody_to_ask_there_is_no_such_mailbox() -> None:
    with live(script("hi"), can_use_tool=read_only()) as stage, pytest.raises(NotSupported, match="Approvals"):
        stage.session.permissions()


@pytest.mark.parametrize("approve", [True, False])
def test_a_plan_waits_for_its_approval(approve: bool) -> None:
    options: dict[str, Any] = {"can_use_tool": Approvals(), "permission_mode": "plan", "permission_timeout": None}
    with live(script(PLAN, "done"), **options) as stage:
        turn = stage.session.send("plan it")
        pending = stage.session.permissions().get(DEADLINE)
        assert pending.plan == "1. look"
        assert pending.allow() if approve else pending.deny("think again")
        assert turn.result(DEADLINE).result == "done"
        assert ("approved your plan" if approve else "think again") in stage.told()[1]
