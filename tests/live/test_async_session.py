"""`session.aio`: every operation as a coroutine, with the same answers and errors; giving up leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from support.live import DEADLINE, in_thread, joined

from claude_actors import (
    Approvals,
    AssistantMessage,
    CheckpointingNotEnabled,
    CLINotFound,
    EncodingFailed,
    MailboxTimeout,
    Options,
    RequestFailed,
    RequestTimeout,
    Session,
    SessionStopped,
    SessionStoppedError,
    StartTimeout,
    ToolServer,
    message_mailbox,
    start_session,
)
from claude_actors.async_session import AsyncSession
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import AnswerControl, Echo
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.script import UseTool, WaitFor, reply, script

ANSWERING = script(reply(Echo(), times=None))


def on_a_session(main: Callable[[Session], Awaitable[None]], cli: FakeCLI, **options: Any) -> None:
    async def run() -> None:
        async with start_session(None, cli.options(control_timeout=DEADLINE, **options), wait=False) as session:
            await main(session)

    asyncio.run(run())


def test_every_operation_has_an_awaitable_twin_with_the_same_name_and_parameters() -> None:
    twins = [name for name, value in vars(AsyncSession).items() if inspect.iscoroutinefunction(value)]
    assert set(twins) == {
        *("interrupt", "set_model", "set_permission_mode", "set_max_thinking_tokens", "rewind_files", "mcp_status"),
        *("reconnect_mcp_server", "toggle_mcp_server", "set_mcp_servers", "control", "wait_running", "wait", "stop"),
    }
    for name in twins:
        ours, blocking = inspect.signature(getattr(AsyncSession, name)), inspect.signature(getattr(Session, name))
        assert list(ours.parameters.values()) == list(blocking.parameters.values()), name


def test_each_operation_gives_what_its_blocking_twin_gives(tmp_path: Path) -> None:
    server = ToolServer("local")

    @server.tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    async def main(session: Session) -> None:
        aio = session.aio
        assert await aio.set_model("sonnet") == session.set_model("sonnet")
        assert await aio.set_permission_mode("plan") == "plan"
        await aio.set_max_thinking_tokens(1000)
        assert (await aio.interrupt()).still_queued == []
        assert [state.name for state in await aio.mcp_status()] == ["local"]
        await aio.toggle_mcp_server("local", False)
        with pytest.raises(RequestFailed):
            await aio.reconnect_mcp_server("nobody")
        assert (await aio.set_mcp_servers({})).removed == ["local"]
        assert await aio.control("get_session_cost") == session.control("get_session_cost")
        turn = session.send("hello")
        assert (await turn).result == "hello"
        assert (await aio.rewind_files(turn.uuid, dry_run=True)).can_rewind in (True, False)

    with FakeCLI(ANSWERING) as cli:
        on_a_session(main, cli, mcp_servers={"local": server}, enable_file_checkpointing=True, cwd=tmp_path)


def test_each_error_is_that_of_the_blocking_twin() -> None:
    async def main(session: Session) -> None:
        with pytest.raises(RequestFailed):
            await session.aio.set_permission_mode("no such mode")
        with pytest.raises(RequestTimeout):
            await session.aio.control("set_model", timeout=0.01, model="sonnet")
        with pytest.raises(CheckpointingNotEnabled):
            await session.aio.rewind_files("uuid")
        with pytest.raises(EncodingFailed):
            await session.aio.control("anything", value=object())
        await session.aio.stop()
        with pytest.raises(SessionStoppedError):
            await session.aio.interrupt()

    with FakeCLI(script(controls=(AnswerControl("set_model", "never"),))) as cli:
        on_a_session(main, cli)


def test_a_start_can_be_awaited_with_and_without_a_limit_and_its_error_is_its_own(tmp_path: Path) -> None:
    async def main() -> None:
        cli = MemoryCLI()
        session = start_session(None, cli.options(), wait=False)
        with pytest.raises(StartTimeout):
            await session.aio.wait_running(timeout=0.01)
        await asyncio.to_thread(cli.accept)
        await session.aio.wait_running()
        assert await session.aio.wait(timeout=0.01) is None
        assert await session.aio.stop() == await session.aio.wait() == SessionStopped("stop requested")
        with pytest.raises(CLINotFound):
            async with start_session(None, Options(cli_path=tmp_path / "claude"), wait=False):
                raise AssertionError("it cannot have started")

    asyncio.run(main())


def test_messages_and_events_can_be_awaited_while_the_loop_goes_on() -> None:
    async def main(session: Session, cli: FakeCLI) -> None:
        async def open_the_gate_later() -> None:
            await asyncio.sleep(0)
            cli.gates.open("the loop goes on")

        # The answer comes only if another task of this loop runs while this one waits.
        opening = asyncio.create_task(open_the_gate_later())
        turn = session.send("hello")
        said = [message.text async for message in turn.messages() if isinstance(message, AssistantMessage)]
        assert said == ["hello"]
        await opening
        await session.aio.stop()
        kinds = [type(event).__name__ async for event in session.events()]
        assert kinds[-1] == "SessionStopped"
        with pytest.raises(MailboxTimeout):
            await message_mailbox().aget(timeout=0)

    with FakeCLI(script(reply(WaitFor("the loop goes on"), Echo()))) as cli:
        on_a_session(lambda session: main(session, cli), cli)


def test_giving_up_on_an_operation_or_a_turn_leaves_nothing_and_loses_nothing_for_others() -> None:
    async def main(session: Session, cli: FakeCLI) -> None:
        turn = session.send("hello")
        for _ in range(50):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(turn, 0)
            waiting = asyncio.create_task(session.aio.wait())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        # Nobody who gave up is remembered by what they waited for.
        assert len(turn.outcome._waiting) == len(session._record.over._waiting) == 0
        model = asyncio.create_task(session.aio.set_model("late"))
        await asyncio.sleep(0)
        model.cancel()
        await asyncio.gather(model, return_exceptions=True)
        cli.gates.open("go")
        assert (await turn).result == "done"
        assert await session.aio.set_model("sonnet") == "claude-sonnet-5-5"
        # The one that was given up has its answer too, and is forgotten.
        assert session.snapshot().pending_requests == 0
        assert session._record.operations == {}

    with FakeCLI(script(reply(WaitFor("go"), "done"))) as cli:
        on_a_session(lambda session: main(session, cli), cli)


def test_cancelling_a_consumer_leaves_the_next_message_for_another() -> None:
    async def main() -> None:
        cli = MemoryCLI()
        session = start_session(None, cli.options(), wait=False)
        await asyncio.to_thread(cli.accept)
        await session.aio.wait_running()

        async def consume() -> None:
            async for _ in session.messages():
                raise AssertionError("nothing has come yet")

        for _ in range(20):
            consumer = asyncio.create_task(consume())
            await asyncio.sleep(0)
            consumer.cancel()
            await asyncio.gather(consumer, return_exceptions=True)
        cli.push(b'{"type":"numbered"}\n')
        assert (await session.messages().aget(DEADLINE)).type == "numbered"
        await session.aio.stop()

    asyncio.run(main())


def test_a_session_cancelled_while_it_starts_is_stopped() -> None:
    stopped: list[Session] = []

    async def main() -> None:
        async def use() -> None:
            session = start_session(None, MemoryCLI().options(), wait=False)
            stopped.append(session)
            async with session:
                raise AssertionError("nobody has accepted it")

        task = asyncio.create_task(use())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    assert stopped[0].wait(DEADLINE) == SessionStopped("stop requested")


def test_a_loop_that_closes_while_its_coroutines_wait_harms_no_session() -> None:
    cli = MemoryCLI()
    session = start_session(None, cli.options(), wait=False)
    cli.accept()
    turn = session.send("hello")

    def forget_about_it() -> None:
        loop = asyncio.new_event_loop()
        tasks = [loop.create_task(awaited(turn)), loop.create_task(session.aio.wait())]
        loop.run_until_complete(asyncio.sleep(0))
        for task in tasks:
            task.cancel()
        # Closed without another turn: the coroutines are never told of their end.
        loop.close()

    forget_about_it()
    cli.finish_turn(cli.prompted())
    assert turn.result(DEADLINE).result == "done"
    assert session.stop() == SessionStopped("stop requested")
    gc.collect()


async def awaited(turn: Any) -> Any:
    return await turn


def test_one_session_serves_threads_and_loops_at_once() -> None:
    with FakeCLI(ANSWERING) as cli, start_session(None, cli.options(control_timeout=DEADLINE)) as session:
        done = threading.Semaphore(0)

        async def ask(name: str) -> None:
            for number in range(10):
                assert await session.aio.set_model(f"{name}-{number}") == f"{name}-{number}"
            done.release()

        threads = [in_thread(lambda name=name: asyncio.run(ask(name))) for name in ("a", "b", "c")]
        joined(*threads)
        assert all(done.acquire(blocking=False) for _ in range(3))


def test_an_approval_can_be_awaited_and_given_on_a_loop() -> None:
    async def main(session: Session) -> None:
        turn = session.send("go")
        pending = await session.permissions().aget(DEADLINE)
        assert pending.deny("not today")
        assert (await turn).result == "done"

    with FakeCLI(script(UseTool("Bash", {"command": "touch here"}), "done")) as cli:
        on_a_session(main, cli, can_use_tool=Approvals())
