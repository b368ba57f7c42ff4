"""Finish against timeout against withdrawal against stop, thousands of times in random order: never two answers."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from typing import Any

import pytest
from support.leaks import wait_until
from support.live import DEADLINE, in_thread, joined, running

from claude_actors import Allow, Approvals, CallbackContext, Deny, Hooks, Session, SessionStopped
from claude_actors.testing.memory_cli import MemoryCLI

BATCHES = 100
BATCH = 32
#: Some are always too short, some always long enough, and those between are decided by the race.
TIMEOUTS = [0.0005, 0.001, 0.002, 0.004, 0.008, DEADLINE]


class Gates:
    """One gate for each request, which its callback stands before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gates: dict[str, threading.Event] = {}

    def of(self, request_id: str) -> threading.Event:
        with self._lock:
            return self._gates.setdefault(request_id, threading.Event())


def racing_hooks(gates: Gates) -> Hooks:
    """Two hooks for each timeout: one in a thread, one a coroutine."""
    hooks = Hooks()

    def waits(event: Any, ctx: CallbackContext) -> Deny:
        gates.of(ctx.request_id).wait(DEADLINE)
        return Deny("finished")

    async def awaits(event: Any, ctx: CallbackContext) -> Deny:
        while not gates.of(ctx.request_id).is_set():
            await asyncio.sleep(0)
        return Deny("finished")

    for timeout in TIMEOUTS:
        hooks.pre_tool_use(timeout=timeout)(waits)
        hooks.pre_tool_use(timeout=timeout)(awaits)
    return hooks


def race(cli: MemoryCLI, gates: Gates, chance: random.Random) -> tuple[list[str], set[str]]:
    """Ask for a batch of hooks while one thread lets them finish and another withdraws; gives both sets of ids."""
    requests = [cli.call_hook(f"hook_{chance.randrange(2 * len(TIMEOUTS))}") for _ in range(BATCH)]
    finishing, withdrawing = requests[:], chance.sample(requests, BATCH // 3)
    chance.shuffle(finishing)
    begin = threading.Barrier(2)

    def finish() -> None:
        begin.wait(DEADLINE)
        for request in finishing:
            gates.of(request).set()

    def withdraw() -> None:
        begin.wait(DEADLINE)
        for request in withdrawing:
            cli.withdraw(request)

    joined(in_thread(finish), in_thread(withdraw))
    return requests, set(withdrawing)


def decided(session: Session) -> int:
    """How many requests of the CLI were decided, in whatever way."""
    counters = session.snapshot().counters
    given = counters.callbacks_answered + counters.callbacks_timed_out + counters.callbacks_crashed
    return given + counters.callbacks_cancelled + counters.callbacks_refused


def wait_decided(session: Session, count: int) -> None:
    assert wait_until(lambda: decided(session) == count)


@pytest.mark.parametrize("seed", [1, 2])
def test_of_finish_timeout_and_withdrawal_the_first_wins_and_there_are_never_two_answers(seed: int) -> None:
    chance, gates, cli = random.Random(seed), Gates(), MemoryCLI()
    asked: list[str] = []
    withdrawn: set[str] = set()
    with running(cli, hooks=racing_hooks(gates), max_abandoned_callbacks=1000) as session:
        for _ in range(BATCHES):
            requests, taken_back = race(cli, gates, chance)
            asked += requests
            withdrawn |= taken_back
            wait_decided(session, len(asked))
        assert wait_until(lambda: session.snapshot().abandoned_callbacks == 0)
        counters = session.snapshot().counters
    answers = {request: cli.answers(request) for request in asked}
    found = Counter(len(given) for given in answers.values())
    assert set(found) <= {0, 1}
    assert all(request in withdrawn for request, given in answers.items() if not given)
    assert found[0] == counters.callbacks_cancelled
    assert found[1] == counters.callbacks_answered + counters.callbacks_timed_out
    assert counters.callbacks_crashed == counters.callbacks_refused == 0
    # The race was one: each of the three has won at times.
    assert min(counters.callbacks_answered, counters.callbacks_timed_out, counters.callbacks_cancelled) > BATCHES


def test_of_two_people_who_answer_and_a_withdrawal_one_wins() -> None:
    chance, cli, approvals = random.Random(3), MemoryCLI(), Approvals()
    with running(cli, can_use_tool=approvals) as session:
        for round in range(300):
            request = cli.ask_permission()
            pending = session.permissions().get(DEADLINE)
            actors = [pending.allow, pending.deny, lambda request=request: cli.withdraw(request)]
            chance.shuffle(actors)
            joined(*(in_thread(act) for act in actors))
            wait_decided(session, round + 1)
            behaviors = [answer["response"]["behavior"] for answer in cli.answers(request)]
            assert behaviors in ([], ["allow"], ["deny"])
    approvals.close()


def test_a_stop_in_the_midst_of_callbacks_leaves_each_with_one_answer_or_none() -> None:
    chance = random.Random(4)
    for _ in range(200):
        cli, requests = stopped_in_the_midst(chance)
        assert all(len(cli.answers(request)) <= 1 for request in requests)


def stopped_in_the_midst(chance: random.Random) -> tuple[MemoryCLI, list[str]]:
    cli, gates = MemoryCLI(), Gates()
    with running(cli, hooks=racing_hooks(gates), can_use_tool=lambda request, ctx: Allow()) as session:
        requests = [cli.call_hook(f"hook_{chance.randrange(2 * len(TIMEOUTS))}") for _ in range(12)]
        requests += [cli.ask_permission() for _ in range(4)]

        def finish() -> None:
            for request in requests:
                gates.of(request).set()

        def withdraw() -> None:
            for request in requests[::3]:
                cli.withdraw(request)

        actors = [finish, session.stop, withdraw]
        chance.shuffle(actors)
        joined(*(in_thread(act) for act in actors))
    assert isinstance(session.final_event, SessionStopped)
    return cli, requests
