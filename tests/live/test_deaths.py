"""The process dies, at every point and in every way: each caller is told how, at once, and every consumer sees the end.

No timeout here is short enough to be the reason of anything.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from support.live import DEADLINE, in_thread, joined

from claude_actors import (
    CallbackContext,
    ExitedDuringStart,
    Hooks,
    MailboxClosed,
    Session,
    SessionCompleted,
    SessionCrashed,
    SessionEnded,
    SessionFailed,
    StartError,
    start_session,
)
from claude_actors.errors import describe_exit
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import AnswerControl, AskPermission, CallHook, Die, Stderr
from claude_actors.testing.script import Script, WaitFor, reply, script

NEVER = 10_000.0
LAST_WORDS = ("one before the last", "last words")


class Way(NamedTuple):
    code: int | None
    signal: int | None

    def steps(self) -> tuple[Stderr, Die]:
        return Stderr(LAST_WORDS), Die(self.code or 0, signal=self.signal)

    def told_by(self, error: object) -> bool:
        """Say whether an error tells of exactly this death."""
        told = (getattr(error, "code", None), getattr(error, "signal", None), getattr(error, "stderr_tail", None))
        return told == (self.code, self.signal, LAST_WORDS) and describe_exit(*self) in str(error)


WAYS = [Way(0, None), Way(1, None), Way(143, None), Way(None, signal.SIGKILL), Way(None, signal.SIGSEGV)]
by_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: describe_exit(*way))


def options(cli: FakeCLI, **besides: Any) -> Any:
    patient = {"initialize_timeout": NEVER, "control_timeout": NEVER, "permission_timeout": NEVER}
    return cli.options(**patient, **besides)


@by_way
@pytest.mark.parametrize("point", ["on_start", "on_initialize"])
def test_a_death_before_the_session_runs_is_the_error_of_the_start(point: str, way: Way) -> None:
    with FakeCLI(script(**{point: way.steps()})) as cli:
        with pytest.raises(ExitedDuringStart) as raised:
            start_session("hello", options(cli))
        assert way.told_by(raised.value)


@by_way
def test_a_death_before_the_session_runs_is_told_to_everybody_who_did_not_wait(way: Way) -> None:
    with FakeCLI(script(on_initialize=(WaitFor("go"), *way.steps()))) as cli:
        session = start_session("hello", options(cli), wait=False)
        turn = session.send("more")
        asking = Caller(session.set_model, "sonnet")
        cli.gates.wait_reached("go")
        cli.gates.open("go")
        final = session.wait(DEADLINE)
        assert isinstance(final, SessionFailed)
        assert way.told_by(final.error)
        with pytest.raises(StartError):
            session.wait_running()
        for error in (asking.error(), error_of(turn.result), error_of(session.set_model, "sonnet")):
            assert isinstance(error, SessionEnded)
            assert way.told_by(error.__cause__)


@by_way
def test_a_death_while_idle_is_an_end_by_itself_if_its_code_is_zero_and_else_a_crash(way: Way) -> None:
    with FakeCLI(script(on_ready=(WaitFor("go"), *way.steps()))) as cli:
        session = start_session(None, options(cli))
        cli.gates.open("go")
        final = session.wait(DEADLINE)
        if way == Way(0, None):
            assert final == SessionCompleted(0)
            assert list(session.messages()) == []
        else:
            assert isinstance(final, SessionFailed)
            assert way.told_by(final.error)
            assert way.told_by(error_of(list, session.messages()))
        assert isinstance(error_of(session.interrupt), SessionEnded)
        assert isinstance(error_of(session.send, "more"), SessionEnded)


@by_way
def test_a_death_within_a_turn_is_a_crash_whatever_its_code(way: Way) -> None:
    with FakeCLI(script(reply("Well", WaitFor("go"), *way.steps()))) as cli:
        session = start_session("hello", options(cli))
        assert session.last_turn is not None
        cli.gates.wait_reached("go")
        cli.gates.open("go")
        error = error_of(session.last_turn.result, DEADLINE)
        assert isinstance(error, SessionCrashed)
        assert way.told_by(error)
        assert isinstance(session.wait(DEADLINE), SessionFailed)


def pending_everything(way: Way) -> Script:
    """A turn in which a hook and a permission wait, and no control request is ever answered."""
    waiting = (CallHook("PreToolUse", wait=False), AskPermission("Bash", wait=False), WaitFor("go"), *way.steps())
    return script(reply("Well", *waiting), controls=(AnswerControl("set_model", "never"),))


@by_way
def test_a_death_with_everything_pending_is_told_to_every_caller_and_every_consumer_sees_the_end(way: Way) -> None:
    hooks, called = Hooks(), Calls()
    hooks.pre_tool_use(timeout=NEVER)(called.wait)
    with FakeCLI(pending_everything(way)) as cli:
        session = start_session("hello", options(cli, hooks=hooks, can_use_tool=called.wait))
        turns = [session.last_turn, session.send("queued")]
        callers = [Caller(session.set_model, "sonnet") for _ in range(10)]
        callers += [Caller(turn.result) for turn in turns if turn is not None]
        callers += [Caller(list, session.messages()), Caller(asyncio.run, awaited(session))]
        callers += [Caller(drained, session)]
        events = Caller(list, session.events())
        called.wait_for(2)
        cli.gates.wait_reached("go")
        while session.snapshot().pending_requests < 11:
            threading.Event().wait(0.001)
        cli.gates.open("go")
        for caller in callers:
            error = caller.error()
            assert isinstance(error, SessionCrashed)
            assert way.told_by(error)
        assert [session.final_event] == [event for event in events.result() if isinstance(event, SessionFailed)]
        assert called.reasons() == ["stopped", "stopped"]
        assert session.state == "failed"


async def awaited(session: Session) -> Any:
    return await session.aio.set_model("sonnet")


def drained(session: Session) -> None:
    """Take everything with `get`; its last word is MailboxClosed with the error."""
    try:
        while True:
            session.messages().get(DEADLINE)
    except MailboxClosed as closed:
        raise closed.error or AssertionError("closed without a reason") from None


class Calls:
    """Callbacks that wait until they are cancelled, and why they were."""

    def __init__(self) -> None:
        self._begun = threading.Semaphore(0)
        self._ended = threading.Semaphore(0)
        self._reasons: list[str | None] = []

    def wait(self, request: Any, ctx: CallbackContext) -> None:
        self._begun.release()
        ctx.wait_cancelled(DEADLINE)
        self._reasons.append(ctx.cancel_reason)
        self._ended.release()

    def wait_for(self, count: int) -> None:
        for _ in range(count):
            assert self._begun.acquire(timeout=DEADLINE)

    def reasons(self) -> list[str | None]:
        for _ in range(2):
            assert self._ended.acquire(timeout=DEADLINE)
        return self._reasons


class Caller:
    """Calls in a thread of its own; what came of it can be waited for."""

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self._outcome: list[Any] = []
        self._thread = in_thread(self._run, function, args)

    def _run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        try:
            self._outcome.append(function(*args))
        except BaseException as error:
            self._outcome.append(error)

    def error(self) -> BaseException:
        joined(self._thread)
        assert isinstance(self._outcome[0], BaseException), self._outcome
        return self._outcome[0]

    def result(self) -> Any:
        joined(self._thread)
        return self._outcome[0]


def error_of(function: Callable[..., Any], *args: Any) -> BaseException:
    with pytest.raises(Exception) as raised:
        function(*args)
    return raised.value


@pytest.mark.parametrize("way", [Way(1, None), Way(None, signal.SIGKILL)], ids=lambda way: describe_exit(*way))
def test_a_prompt_written_to_a_process_that_has_just_died_fails_with_its_death_and_not_with_a_broken_pipe(
    way: Way,
) -> None:
    for _ in range(20):
        with FakeCLI(script(on_ready=(WaitFor("go"), *way.steps()))) as cli:
            session = start_session(None, options(cli))
            cli.gates.open("go")
            # Sometimes before the death, sometimes into the broken pipe, sometimes after the end.
            error = error_of(lambda session=session: [session.send("x" * 100_000).result(DEADLINE) for _ in range(50)])
            assert isinstance(error, SessionEnded)
            assert way.told_by(error), repr(error)
            session.stop()
