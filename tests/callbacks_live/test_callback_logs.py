"""What the log says of callbacks that gave no good answer: which and why, and nothing of what they were given."""

from __future__ import annotations

from typing import Any

import pytest
from support.live_session import DEADLINE, live

from claude_actors import Allow, CallbackContext, Hooks
from claude_actors.actors.background_log import BACKGROUND_LOG
from claude_actors.testing import CallHook, UseTool, reply, script


def test_failing_callbacks_are_logged_without_what_they_were_given(capfd: pytest.CaptureFixture[str]) -> None:
    hooks = Hooks()

    @hooks.on("PreCompact")
    def crash(event: Any, ctx: CallbackContext) -> None:
        raise LookupError(f"cannot read {event.raw}")

    hooks.on("Notification")(lambda event, ctx: Allow())
    hooks.on("Setup", timeout=0.05)(lambda event, ctx: ctx.wait_cancelled(DEADLINE) and None)
    steps = [CallHook(event, {"text": "top secret"}) for event in ("PreCompact", "Notification", "Setup")]
    tool = UseTool("Bash", {"command": "top secret"})
    with live(script(reply(*steps, tool), "done"), hooks=hooks, can_use_tool=lambda request, ctx: 1) as stage:
        assert stage.ask().result == "done"
        session = f"session_id={stage.session.session_id!r} pid={stage.session.pid}"
    assert BACKGROUND_LOG.flush(DEADLINE)
    logged = [line for line in capfd.readouterr().out.splitlines() if "level='debug'" not in line]
    assert_one(logged, "callback_crashed", "hook_0", "LookupError")
    assert_one(logged, "callback_crashed", "Bash", "InvalidCallbackResult")
    assert_one(logged, "callback_result_not_used", "hook_1", "Notification cannot honour Allow")
    assert_one(logged, "callback_timed_out", "hook_2", "after=0.05")
    assert [line for line in logged if "callback_" in line and session not in line] == []
    assert [line for line in logged if "secret" in line] == []


def assert_one(lines: list[str], *words: str) -> None:
    assert len([line for line in lines if all(word in line for word in words)]) == 1, lines
