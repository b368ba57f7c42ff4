"""Approvals by people: requests wait in a mailbox without a thread, are answered once, and can be withdrawn."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

from claude_actors.callbacks.approvals import Approvals, PendingApproval, find_approvals
from claude_actors.callbacks.auditing import audit
from claude_actors.callbacks.context import CallbackContext
from claude_actors.callbacks.policies import allow_tools, first_decision
from claude_actors.callbacks.results import Allow, Deny
from claude_actors.errors import MailboxClosed
from claude_actors.wire.permissions import SetMode, ToolPermissionRequest, read_permission_request


def request(tool_name: str = "Bash", **more: Any) -> ToolPermissionRequest:
    return read_permission_request({"tool_name": tool_name, "input": {"command": "ls"}, **more})


def context(request_id: str = "r1") -> CallbackContext:
    return CallbackContext(request_id=request_id, session_id="s1")


def test_a_request_waits_in_the_mailbox_and_blocks_no_thread() -> None:
    approvals = Approvals()
    future = approvals(request(), context())
    assert not future.done()
    pending = approvals.mailbox.get(timeout=30)
    assert approvals.pending() == (pending,)
    assert (pending.id, pending.session_id, pending.tool_name, pending.input) == (
        "r1",
        "s1",
        "Bash",
        {"command": "ls"},
    )
    assert repr(pending) == "<PendingApproval r1 Bash waiting>"


def test_another_thread_answers() -> None:
    approvals = Approvals()
    reviewer = threading.Thread(target=lambda: approvals.mailbox.get(timeout=30).allow())
    reviewer.start()
    assert approvals(request(), context()).result(30) == Allow()
    reviewer.join(30)
    assert approvals.pending() == ()


def test_an_approval_can_change_the_input_and_accept_suggestions() -> None:
    approvals = Approvals()
    form = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    future = approvals(request(permission_suggestions=[form]), context())
    pending = approvals.mailbox.get(timeout=30)
    assert pending.suggestions == (SetMode("acceptEdits"),)
    assert pending.allow({"command": "pwd"}, pending.suggestions)
    assert future.result(30) == Allow({"command": "pwd"}, (SetMode("acceptEdits"),))


def test_a_denial_carries_its_message() -> None:
    approvals = Approvals()
    future = approvals(request(), context())
    assert approvals.mailbox.get(timeout=30).deny("not today", interrupt=True)
    assert future.result(30) == Deny("not today", interrupt=True)


def test_only_the_first_answer_counts() -> None:
    approvals = Approvals()
    future = approvals(request(), context())
    pending = approvals.mailbox.get(timeout=30)
    assert pending.deny("no")
    assert not pending.allow()
    assert not pending.deny("again")
    assert future.result(30) == Deny("no")
    assert pending.done
    assert not pending.withdrawn
    assert repr(pending) == "<PendingApproval r1 Bash answered>"


def test_of_many_reviewers_exactly_one_decides() -> None:
    approvals = Approvals()
    future = approvals(request(), context())
    pending = approvals.mailbox.get(timeout=30)
    start = threading.Barrier(8)
    won: list[str] = []

    def review(name: str) -> None:
        start.wait(30)
        if pending.deny(name):
            won.append(name)

    reviewers = [threading.Thread(target=review, args=(str(number),)) for number in range(8)]
    for reviewer in reviewers:
        reviewer.start()
    for reviewer in reviewers:
        reviewer.join(30)
    assert future.result(30) == Deny(won[0])
    assert len(won) == 1


def test_a_withdrawn_question_is_no_longer_listed_and_takes_no_answer() -> None:
    approvals = Approvals()
    future = approvals(request(), context())
    pending = approvals.mailbox.get(timeout=30)
    assert future.cancel()
    assert pending.withdrawn
    assert pending.done
    assert not pending.allow()
    assert approvals.pending() == ()
    assert repr(pending) == "<PendingApproval r1 Bash withdrawn>"


def test_whoever_shows_the_question_is_told_that_it_is_over() -> None:
    approvals = Approvals()
    told: list[PendingApproval] = []
    future = approvals(request(), context())
    pending = approvals.mailbox.get(timeout=30)
    pending.on_done(told.append)
    assert told == []
    future.cancel()
    pending.on_done(told.append)
    assert told == [pending, pending]


def test_questions_are_listed_oldest_first() -> None:
    approvals = Approvals()
    for number in range(3):
        approvals(request(), context(f"r{number}"))
    assert [pending.id for pending in approvals.pending()] == ["r0", "r1", "r2"]
    approvals.pending()[1].allow()
    assert [pending.id for pending in approvals.pending()] == ["r0", "r2"]


def test_after_the_close_everything_is_denied_and_the_mailbox_ends() -> None:
    approvals = Approvals()
    waiting = approvals(request(), context())
    assert len(approvals.mailbox) == 1
    approvals.close("the office is closed")
    approvals.close()
    assert waiting.result(30) == Deny("the office is closed")
    assert approvals(request(), context()).result(30) == Deny("nobody is there to approve")
    assert approvals.pending() == ()
    approvals.mailbox.get(timeout=30)
    with pytest.raises(MailboxClosed):
        approvals.mailbox.get(timeout=30)


def test_a_mailbox_that_is_first_asked_for_after_the_close_is_closed() -> None:
    approvals = Approvals()
    approvals.close()
    with pytest.raises(MailboxClosed):
        approvals.mailbox.get(timeout=30)


def test_what_was_answered_is_not_kept_for_a_mailbox_that_nobody_reads() -> None:
    approvals = Approvals()
    old = approvals(request(), context())
    approvals.pending()[0].allow()
    kept = weakref.ref(old)
    del old
    waiting = approvals(request("Write"), context())
    gc.collect()
    assert kept() is None
    assert [approvals.mailbox.get(timeout=30).tool_name for _ in range(1)] == ["Write"]
    assert len(approvals.mailbox) == 0
    assert not waiting.done()


def test_a_plan_is_approved_like_any_request() -> None:
    approvals = Approvals()
    future = approvals(read_permission_request({"tool_name": "ExitPlanMode", "input": {"plan": "# think"}}), context())
    pending = approvals.mailbox.get(timeout=30)
    assert pending.plan == "# think"
    assert pending.allow()
    assert future.result(30) == Allow()


def test_people_are_asked_only_about_what_policies_leave_open() -> None:
    approvals = Approvals()
    decide = audit(first_decision(allow_tools("Read"), approvals), lambda decision: None)
    assert decide(request("Read"), context()) == Allow()
    assert approvals.pending() == ()
    decide(request("Bash"), context())
    assert [pending.tool_name for pending in approvals.pending()] == ["Bash"]


def test_approvals_are_found_inside_composed_callbacks() -> None:
    approvals = Approvals()
    assert find_approvals(approvals) is approvals
    assert find_approvals(audit(first_decision(allow_tools("Read"), audit(approvals)))) is approvals
    assert find_approvals(first_decision(allow_tools("Read"))) is None
    assert find_approvals(None) is None
