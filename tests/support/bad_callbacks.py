"""Callbacks of every bad kind, with the answer that each must get, and a second session that must not notice."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, NamedTuple

from claude_actors import Allow, CallbackContext, CallbackCrashed, CallbackTimedOut, Deny, Hooks, Session, ToolServer
from claude_actors.testing.memory_cli import MemoryCLI
from support.live import DEADLINE, in_thread, running

OPEN = {"continue": True}
#: Long enough for a machine under load to start 32 threads, short enough to wait for.
SHORT = 1.0


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class World:
    """What the callbacks of a test share: gates that they stand before, so that nothing sleeps."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.interrupted: list[object] = []

    def wait(self) -> None:
        # Longer than anybody waits for an answer, so that one which comes because this has ended is no success.
        self.release.wait(4 * DEADLINE)


def sleeps_and_answers(event: Any, ctx: CallbackContext, world: World) -> Any:
    # For a moment, as a callback does that works: the other threads run meanwhile.
    ctx.wait_cancelled(0.01)
    return Deny("after a nap")


def raises(event: Any, ctx: CallbackContext, world: World) -> Any:
    raise LookupError("a bug of mine")


def raises_the_unspeakable(event: Any, ctx: CallbackContext, world: World) -> Any:
    raise Unspeakable


def exits(event: Any, ctx: CallbackContext, world: World) -> Any:
    sys.exit(3)


def interrupts_the_program(event: Any, ctx: CallbackContext, world: World) -> Any:
    raise KeyboardInterrupt


def closes_its_generator(event: Any, ctx: CallbackContext, world: World) -> Any:
    raise GeneratorExit


def answers_nonsense(event: Any, ctx: CallbackContext, world: World) -> Any:
    return object()


def answers_what_is_no_json(event: Any, ctx: CallbackContext, world: World) -> Any:
    return {"hookSpecificOutput": {"when": object()}}


def calls_back(event: Any, ctx: CallbackContext, world: World) -> Any:
    world.interrupted.append(ctx.session.interrupt())
    return Deny("interrupted first")


def never_returns(event: Any, ctx: CallbackContext, world: World) -> Any:
    world.wait()


def returns_a_future_that_never_comes(event: Any, ctx: CallbackContext, world: World) -> Any:
    return Future[object]()


def returns_a_future_that_exits(event: Any, ctx: CallbackContext, world: World) -> Any:
    future: Future[object] = Future()
    future.set_exception(SystemExit(3))
    return future


async def awaits_and_answers(event: Any, ctx: CallbackContext, world: World) -> Any:
    await asyncio.sleep(0)
    return Deny("after a wait")


async def awaits_for_ever(event: Any, ctx: CallbackContext, world: World) -> Any:
    await asyncio.Event().wait()


async def refuses_to_be_cancelled(event: Any, ctx: CallbackContext, world: World) -> Any:
    while not world.release.is_set():
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            continue


async def raises_in_a_coroutine(event: Any, ctx: CallbackContext, world: World) -> Any:
    raise LookupError("a bug of mine")


async def exits_in_a_coroutine(event: Any, ctx: CallbackContext, world: World) -> Any:
    sys.exit(3)


async def stops_the_loop(event: Any, ctx: CallbackContext, world: World) -> Any:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0)
    return Deny("stopped the loop")


def denied(reason: str) -> dict[str, Any]:
    output = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": output}


class Kind(NamedTuple):
    function: Callable[[Any, CallbackContext, World], Any]
    answer: dict[str, Any]
    event: type[Any] | None


KINDS = [
    Kind(sleeps_and_answers, denied("after a nap"), None),
    Kind(raises, OPEN, CallbackCrashed),
    Kind(raises_the_unspeakable, OPEN, CallbackCrashed),
    Kind(exits, OPEN, CallbackCrashed),
    Kind(interrupts_the_program, OPEN, CallbackCrashed),
    Kind(closes_its_generator, OPEN, CallbackCrashed),
    Kind(answers_nonsense, OPEN, CallbackCrashed),
    Kind(answers_what_is_no_json, OPEN, CallbackCrashed),
    Kind(calls_back, denied("interrupted first"), None),
    Kind(never_returns, OPEN, CallbackTimedOut),
    Kind(returns_a_future_that_never_comes, OPEN, CallbackTimedOut),
    Kind(returns_a_future_that_exits, OPEN, CallbackCrashed),
    Kind(awaits_and_answers, denied("after a wait"), None),
    Kind(awaits_for_ever, OPEN, CallbackTimedOut),
    Kind(refuses_to_be_cancelled, OPEN, CallbackTimedOut),
    Kind(raises_in_a_coroutine, OPEN, CallbackCrashed),
    Kind(exits_in_a_coroutine, OPEN, CallbackCrashed),
    Kind(stops_the_loop, denied("stopped the loop"), None),
]


def registered(kind: Kind, world: World, hooks: Hooks) -> None:
    if asyncio.iscoroutinefunction(kind.function):

        async def coroutine(event: Any, ctx: CallbackContext) -> Any:
            return await kind.function(event, ctx, world)

        hooks.pre_tool_use(timeout=SHORT)(coroutine)
    else:

        def function(event: Any, ctx: CallbackContext) -> Any:
            return kind.function(event, ctx, world)

        hooks.pre_tool_use(timeout=SHORT)(function)


@contextmanager
def badly_served(kinds: list[Kind]) -> Iterator[tuple[MemoryCLI, Session, World]]:
    """A session with one hook of each kind, `hook_0` and so on."""
    world, hooks, cli = World(), Hooks(), MemoryCLI()
    for kind in kinds:
        registered(kind, world, hooks)
    with running(cli, hooks=hooks) as session:
        yield cli, session, world
        world.release.set()


def serve_interrupts(cli: MemoryCLI, count: int) -> threading.Thread:
    def serve() -> None:
        for _ in range(count):
            cli.answer(cli.requested("interrupt"), {"still_queued": []})

    return in_thread(serve)


class Other:
    """A second session, with callbacks of all kinds that do nothing wrong."""

    def __init__(self, cli: MemoryCLI) -> None:
        self._cli = cli

    def works(self) -> None:
        cli = self._cli
        assert cli.answered(cli.call_hook("hook_0"))["response"] == denied("sync")
        assert cli.answered(cli.call_hook("hook_1"))["response"] == denied("async")
        assert cli.answered(cli.ask_permission())["response"]["behavior"] == "allow"
        answer = cli.answered(cli.call_mcp("local", "tools/call", name="add", arguments={"a": 1, "b": 2}))
        assert answer["response"]["mcp_response"]["result"]["content"] == [{"type": "text", "text": "3"}]


@contextmanager
def another_session() -> Iterator[Other]:
    hooks, cli, server = Hooks(), MemoryCLI(), ToolServer("local")

    @hooks.pre_tool_use()
    def sync(event: Any, ctx: CallbackContext) -> Deny:
        return Deny("sync")

    @hooks.pre_tool_use()
    async def coroutine(event: Any, ctx: CallbackContext) -> Deny:
        return Deny("async")

    @server.tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    with running(cli, hooks=hooks, can_use_tool=lambda request, ctx: Allow(), mcp_servers={"local": server}):
        yield Other(cli)
