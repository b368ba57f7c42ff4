"""The context of a call: its deadline, and being told that the answer is no longer wanted."""

from __future__ import annotations

import threading

from claude_actors.callbacks.context import CallbackContext


def test_what_is_left_of_the_time_is_never_negative() -> None:
    now = [100.0]
    ctx = CallbackContext(deadline=105.0, clock=lambda: now[0])
    assert ctx.remaining() == 5.0
    now[0] = 200.0
    assert ctx.remaining() == 0.0


def test_without_a_deadline_there_is_no_remaining_time() -> None:
    assert CallbackContext().remaining() is None


def test_a_fresh_context_is_wanted() -> None:
    ctx = CallbackContext(session="s", request_id="r", session_id="id", tool_use_id="toolu_1")
    assert (ctx.session, ctx.request_id, ctx.session_id, ctx.tool_use_id) == ("s", "r", "id", "toolu_1")
    assert not ctx.cancelled
    assert ctx.cancel_reason is None
    assert not ctx.wait_cancelled(0)
    assert repr(ctx) == "<CallbackContext r running>"


def test_the_first_reason_of_a_cancellation_stays() -> None:
    ctx = CallbackContext(request_id="r")
    ctx._cancel("timed_out")
    ctx._cancel("stopped")
    assert ctx.cancelled
    assert ctx.cancel_reason == "timed_out"
    assert repr(ctx) == "<CallbackContext r cancelled: timed_out>"


def test_a_cancellation_wakes_a_callback_that_waits_for_it() -> None:
    ctx = CallbackContext()
    woken: list[str | None] = []
    waiter = threading.Thread(target=lambda: woken.append(ctx.cancel_reason if ctx.wait_cancelled(30) else "missed"))
    waiter.start()
    ctx._cancel("stopped")
    waiter.join(30)
    assert woken == ["stopped"]
