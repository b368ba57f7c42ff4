"""Many callbacks of one process at once: an answer never waits for a callback that hangs, whatever thread ran it."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest
from support.live import DEADLINE

from claude_actors import CallbackContext, Deny, Hooks, start_session
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import AwaitAnswers, CallHook
from claude_actors.testing.script import reply, script


def hooks_with(release: threading.Event) -> Hooks:
    """`hook_0` answers at once, `hook_1` hangs, `hook_2` waits for the CLI itself, `hook_3` is a coroutine."""
    hooks = Hooks()

    @hooks.pre_tool_use(timeout=1000.0)
    def quick(event: Any, ctx: CallbackContext) -> Deny:
        return Deny("quick")

    @hooks.pre_tool_use(timeout=1000.0)
    def hangs(event: Any, ctx: CallbackContext) -> None:
        release.wait(4 * DEADLINE)

    @hooks.pre_tool_use(timeout=1000.0)
    def asks_back(event: Any, ctx: CallbackContext) -> Deny:
        return Deny(str(ctx.session.set_model("sonnet")))

    @hooks.pre_tool_use(timeout=1000.0)
    async def coroutine(event: Any, ctx: CallbackContext) -> Deny:
        return Deny("coroutine")

    return hooks


NAMES = ("quick", "hangs", "asks_back", "coroutine")


@pytest.mark.parametrize("seed", range(6))
def test_every_answer_arrives_while_others_hang(seed: int) -> None:
    release, chance = threading.Event(), random.Random(seed)
    # All at once, so that one thread runs several of them in a row; never more than may be pending.
    kinds = [chance.choice((0, 0, 0, 1, 2, 3)) for _ in range(30)]
    calls = [CallHook("PreToolUse", callback_id=f"hook_{kind}", wait=False, label=NAMES[kind]) for kind in kinds]
    waits = [AwaitAnswers(name) for name in NAMES if name != "hangs"]
    with FakeCLI(script(reply(*calls, *waits, "all others have answered"))) as cli:
        session = start_session("go", cli.options(hooks=hooks_with(release), control_timeout=4 * DEADLINE))
        assert session.last_turn is not None
        assert session.last_turn.result(2 * DEADLINE).result == "all others have answered"
        assert session.snapshot().pending_callbacks == kinds.count(1)
        release.set()
        session.stop()
        (run,) = cli.runs()
    answered = [note["label"] for note in run.of("answer")]
    assert sorted(label for label in answered if label != "hangs") == sorted(NAMES[kind] for kind in kinds if kind != 1)
    assert run.of("malformed") == run.of("unexpected_answer") == []


def test_answers_of_many_sessions_do_not_wait_for_each_others_callbacks() -> None:
    release = threading.Event()
    hanging = script(reply(*(CallHook("PreToolUse", callback_id="hook_1", wait=False) for _ in range(20)), "hanging"))
    quick = script(reply(*(CallHook("PreToolUse", callback_id="hook_0") for _ in range(20)), "answered"))
    with FakeCLI(hanging, hanging, quick) as cli:
        hooks = hooks_with(release)
        sessions = [start_session("go", cli.options(hooks=hooks)) for _ in range(4)]
        results = [session.last_turn.result(2 * DEADLINE).result for session in sessions if session.last_turn]
        assert results == ["hanging", "hanging", "answered", "answered"]
        release.set()
        for session in sessions:
            session.stop()
