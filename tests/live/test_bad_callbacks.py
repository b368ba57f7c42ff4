"""Callbacks that sleep, raise, exit, answer nonsense, call back or never return: one right answer each."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from support.bad_callbacks import (
    KINDS,
    OPEN,
    Kind,
    World,
    another_session,
    awaits_for_ever,
    badly_served,
    calls_back,
    denied,
    never_returns,
    serve_interrupts,
)
from support.live import joined, next_event, running

from claude_actors import CallbackAbandoned, CallbackContext, CallbackRefused, Deny, Hooks
from claude_actors.testing.memory_cli import MemoryCLI


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.function.__name__)
def test_a_callback_of_each_bad_kind_gets_exactly_one_right_answer_and_its_event(kind: Kind) -> None:
    with badly_served([kind]) as (cli, session, world):
        serving = serve_interrupts(cli, kind.function is calls_back)
        request = cli.call_hook()
        assert cli.answered(request)["response"] == kind.answer
        if kind.event is not None:
            assert next_event(session, kind.event).request_id == request
        joined(serving)
        world.release.set()
    assert len(cli.answers(request)) == 1


def test_32_bad_callbacks_of_all_kinds_at_once_get_one_right_answer_each_and_the_33rd_its_fallback_at_once() -> None:
    kinds = (KINDS * 2)[:32]
    with badly_served(kinds) as (cli, session, world), another_session() as other:
        held = [kind.function in (never_returns, awaits_for_ever) for kind in kinds]
        requests = [cli.call_hook(f"hook_{number}") for number in range(32)]
        assert sum(held) >= 2
        late = cli.call_hook("hook_0")
        serving = serve_interrupts(cli, sum(kind.function is calls_back for kind in kinds))
        other.works()
        for request, kind in zip(requests, kinds, strict=True):
            assert cli.answered(request)["response"] == kind.answer, kind.function.__name__
        assert cli.answered(late)["subtype"] == "success"
        joined(serving)
        assert len(world.interrupted) == sum(kind.function is calls_back for kind in kinds)
        other.works()
        assert session.state == "running"
        world.release.set()
    assert [len(cli.answers(request)) for request in requests] == [1] * 32


def test_the_33rd_pending_callback_gets_its_fallback_at_once_and_none_is_started_for_it() -> None:
    world, hooks, cli = World(), Hooks(), MemoryCLI()
    started: list[str] = []

    @hooks.pre_tool_use()
    def waits(event: Any, ctx: CallbackContext) -> None:
        started.append(ctx.request_id)
        world.wait()

    with running(cli, hooks=hooks) as session:
        requests = [cli.call_hook() for _ in range(32)]
        late = cli.call_hook()
        # Nobody else has an answer: only the fallback can come now.
        assert cli.answered(late)["response"] == OPEN
        refused = next_event(session, CallbackRefused)
        assert (refused.request_id, refused.kind) == (late, "hook")
        assert session.snapshot().pending_callbacks == 32
        world.release.set()
        for request in requests:
            assert cli.answered(request)["response"] == OPEN
        assert sorted(started) == sorted(requests)
        # There is room again.
        assert cli.answered(cli.call_hook())["response"] == OPEN
    assert session.snapshot().counters.callbacks_refused == 1


def test_when_too_many_callbacks_hang_new_ones_get_their_fallback_at_once_until_one_returns() -> None:
    world, hooks, cli = World(), Hooks(), MemoryCLI()

    @hooks.pre_tool_use(timeout=0.05)
    def hangs(event: Any, ctx: CallbackContext) -> None:
        world.wait()

    @hooks.pre_tool_use()
    def answers(event: Any, ctx: CallbackContext) -> Deny:
        return Deny("answered")

    with running(cli, hooks=hooks, max_abandoned_callbacks=3) as session:
        for number in range(3):
            assert cli.answered(cli.call_hook("hook_0"))["response"] == OPEN
            assert next_event(session, CallbackAbandoned).abandoned == number + 1
        assert session.snapshot().abandoned_callbacks == 3
        assert cli.answered(cli.call_hook("hook_1"))["response"] == OPEN
        assert "hang" in next_event(session, CallbackRefused).reason
        world.release.set()
        while session.snapshot().abandoned_callbacks:
            threading.Event().wait(0.001)
        assert cli.answered(cli.call_hook("hook_1"))["response"] == denied("answered")
    assert session.snapshot().counters.late_answers == 3


def test_a_coroutine_that_blocks_its_loop_delays_neither_other_sessions_coroutines_nor_the_end() -> None:
    world, hooks, cli = World(), Hooks(), MemoryCLI()

    @hooks.pre_tool_use(timeout=0.05)
    async def blocks(event: Any, ctx: CallbackContext) -> None:
        world.wait()

    with another_session() as other:
        other.works()
        with running(cli, hooks=hooks):
            assert cli.answered(cli.call_hook())["response"] == OPEN
            other.works()
        other.works()
        world.release.set()
