"""`stop()`: twice, from callbacks, from many threads, before and after everything else: always one end, in time."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Any

import pytest
from support.live import DEADLINE, in_thread, joined, next_event, running

from claude_actors import (
    CallbackContext,
    ExitedDuringStart,
    Hooks,
    Session,
    SessionCompleted,
    SessionEnded,
    SessionFailed,
    SessionStopped,
    SessionStoppedError,
    StopTimeout,
    start_session,
)
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import IgnoreEof, IgnoreTerm
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.script import Script, WaitFor, reply, script

STOPPED = SessionStopped("stop requested")


def test_a_second_stop_returns_the_same_end_at_once() -> None:
    with FakeCLI(script("hello")) as cli:
        session = start_session("hi", cli.options())
        assert session.stop() == session.stop(timeout=0) == session.wait(0) == STOPPED
        assert session.final_event == STOPPED
        with pytest.raises(SessionStoppedError):
            session.send("more")
        with pytest.raises(SessionEnded):
            session.interrupt()


def test_a_stop_from_many_threads_gives_everybody_the_one_end() -> None:
    with FakeCLI(script(reply("hello", WaitFor("never")))) as cli:
        session = start_session("hi", cli.options())
        begin, finals = threading.Barrier(16), list[object]()

        def stop() -> None:
            begin.wait(DEADLINE)
            finals.append(session.stop())

        joined(*(in_thread(stop) for _ in range(16)))
        assert finals == [STOPPED] * 16
    assert [event for event in session.events() if isinstance(event, SessionStopped)] == [STOPPED]


def test_the_reason_of_a_stop_is_in_its_final_event_and_the_first_one_counts() -> None:
    with FakeCLI(script("hello")) as cli:
        session = start_session(None, cli.options())
        session.stop_soon("enough")
        assert session.stop(reason="later") == SessionStopped("enough")


def test_a_stop_during_the_start_fails_the_wait_for_it() -> None:
    cli = MemoryCLI(spawn=False)
    session = start_session("hi", cli.options(), wait=False)
    waiting = []

    def wait() -> None:
        with pytest.raises(SessionStoppedError) as raised:
            session.wait_running()
        waiting.append(raised.value)

    thread = in_thread(wait)
    cli.wait_started()
    session.stop()
    joined(thread)
    assert len(waiting) == 1


# --- by whom ---


@pytest.mark.parametrize("kind", ["sync", "async", "permission", "stderr"])
def test_a_callback_may_stop_its_own_session_and_sees_its_end(kind: str) -> None:
    finals: list[object] = []
    done = threading.Event()

    def stop(session: Session) -> None:
        finals.append(session.stop())
        done.set()

    async def stop_async(event: Any, ctx: CallbackContext) -> None:
        finals.append(await ctx.session.aio.stop())
        done.set()

    sessions: list[Session] = []
    hooks, options = Hooks(), dict[str, Any]()
    if kind == "sync":
        hooks.pre_tool_use()(lambda event, ctx: stop(ctx.session))
    elif kind == "async":
        hooks.pre_tool_use()(stop_async)
    elif kind == "permission":
        options["can_use_tool"] = lambda request, ctx: stop(ctx.session)
    else:
        options["stderr"] = lambda line: stop(sessions[0])
    cli = MemoryCLI()
    with running(cli, hooks=hooks, **options) as session:
        sessions.append(session)
        if kind == "permission":
            request = cli.ask_permission()
        elif kind == "stderr":
            cli.push_stderr(b"line\n")
        else:
            request = cli.call_hook()
        assert session.wait(DEADLINE) == STOPPED
        if kind != "async":  # a coroutine is cancelled by the end of its session
            assert done.wait(DEADLINE)
            assert finals == [STOPPED]
        assert kind == "stderr" or cli.answers(request) == []


def test_a_done_callback_may_stop_the_session_and_start_another() -> None:
    finals: list[object] = []
    done = threading.Event()
    other = MemoryCLI()

    def again(final: object) -> None:
        finals.append(session.stop())
        with running(other) as following:
            finals.append(following.state)
        done.set()

    with running(MemoryCLI()) as session:
        session.add_done_callback(again)
    assert done.wait(DEADLINE)
    assert finals == [STOPPED, "running"]
    late: list[object] = []
    session.add_done_callback(late.append)
    assert late == [STOPPED]


def test_done_callbacks_are_each_called_once_in_order_whatever_one_of_them_raises() -> None:
    called: list[str] = []
    done = threading.Event()

    def raises(final: object) -> None:
        called.append("raises")
        raise SystemExit

    with running(MemoryCLI()) as session:
        session.add_done_callback(raises)
        session.add_done_callback(lambda final: called.append("second"))
        session.add_done_callback(lambda final: done.set())
    assert done.wait(DEADLINE)
    assert called == ["raises", "second"]


def test_leaving_the_block_stops_the_session_also_by_an_exception() -> None:
    with FakeCLI(script(reply("hello", WaitFor("never")))) as cli:
        with pytest.raises(KeyError), start_session("hi", cli.options()) as session:
            raise KeyError
        assert session.final_event == STOPPED


# --- deadlines ---


def test_a_caller_who_will_not_wait_is_told_so_and_the_end_goes_on() -> None:
    cli = MemoryCLI(on_stop="ignore")
    with running(cli) as session:
        with pytest.raises(StopTimeout):
            session.stop(timeout=0.01)
        assert session.final_event is None
        cli.exit(0)
        assert session.wait(DEADLINE) == STOPPED


def test_a_port_that_never_says_that_it_has_ended_is_given_up_in_time() -> None:
    cli = MemoryCLI(on_stop="ignore")
    with running(cli, eof_grace=0.01, term_grace=0.01, kill_grace=0.01) as session:
        assert session.stop() == STOPPED


def test_the_deadlines_of_the_options_are_those_that_the_port_gets() -> None:
    cli = MemoryCLI()
    with running(cli, eof_grace=1.5, term_grace=2.5, kill_grace=3.5) as session:
        session.stop()
    deadlines = cli.wait_stopped()
    assert (deadlines.eof, deadlines.term, deadlines.kill) == (1.5, 2.5, 3.5)


@pytest.mark.parametrize(
    ("steps", "eof_grace", "term_grace", "exit_code"),
    [
        ((), DEADLINE, 0.1, 0),
        ((IgnoreEof(),), 0.1, DEADLINE, 128 + signal.SIGTERM),
        ((IgnoreEof(), IgnoreTerm()), 0.1, 0.1, None),
    ],
    ids=["it ends at the end of its input", "TERM", "KILL, which leaves no word"],
)
def test_the_ladder_is_climbed_as_far_as_it_must_be(
    steps: Any, eof_grace: float, term_grace: float, exit_code: int | None
) -> None:
    with FakeCLI(Script(on_ready=steps)) as cli:
        session = start_session(None, cli.options(eof_grace=eof_grace, term_grace=term_grace))
        assert session.control("get_settings", timeout=DEADLINE) is not None  # the steps are done by then
        assert session.stop() == STOPPED
        (run,) = cli.runs()
    assert run.exit_code == exit_code


# --- letting go ---


def test_finish_lets_the_turns_end_first_and_is_a_completion() -> None:
    with FakeCLI(script(reply("one", WaitFor("go")), "two")) as cli:
        session = start_session("a", cli.options())
        second = session.send("b")
        session.finish()
        cli.gates.wait_reached("go")
        assert session.state == "running"
        cli.gates.open("go")
        assert second.result(DEADLINE).result is not None
        assert isinstance(session.wait(DEADLINE), SessionCompleted)


def test_a_stop_wins_over_a_finish_that_waits_and_over_a_crash_that_follows() -> None:
    cli = MemoryCLI(on_stop="ignore")
    with running(cli) as session:
        session.send("a")
        session.finish()
        session.stop_soon("enough")
        cli.wait_stopped()
        cli.exit(1)
        assert session.wait(DEADLINE) == SessionStopped("enough")


def test_a_crash_wins_over_a_stop_that_comes_after_it() -> None:
    cli = MemoryCLI()
    with start_session("hi", cli.options(), wait=False) as session:
        cli.requested("initialize")
        cli.exit(4)
        next_event(session, SessionFailed)
        final = session.stop()
        assert isinstance(final, SessionFailed)
        assert isinstance(final.error, ExitedDuringStart)


def test_an_async_stop_waits_as_long_as_it_is_told() -> None:
    async def main() -> None:
        cli = MemoryCLI(on_stop="ignore")
        session = start_session(None, cli.options(), wait=False)
        await asyncio.to_thread(cli.accept)
        await session.aio.wait_running(DEADLINE)
        with pytest.raises(StopTimeout):
            await session.aio.stop(timeout=0.01)
        cli.exit(0)
        assert await session.aio.stop() == STOPPED

    asyncio.run(main())
