"""query(): one prompt to a CLI that only prints, and a process that ends with the iteration, whatever ends that."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Iterator

import pytest
from support.leaks import descendants, wait_until

from claude_actors import (
    CLINotFound,
    ExitedDuringStart,
    Hooks,
    InitMessage,
    InvalidOptions,
    MailboxOverflow,
    Message,
    Options,
    OptionsIgnored,
    ResultMessage,
    SessionCrashed,
    ToolServer,
    UnsupportedVersion,
    query,
)
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Die, Flood, IgnoreEof, IgnoreTerm, Stderr
from claude_actors.testing.real_cli import RealCLI
from claude_actors.testing.script import Script, WaitFor, reply, script


@pytest.fixture
def cli() -> Iterator[FakeCLI]:
    with FakeCLI(script("first", "second")) as fake:
        yield fake


def results(messages: list[Message]) -> list[str | None]:
    return [message.result for message in messages if isinstance(message, ResultMessage)]


def test_the_messages_of_one_prompt_come_and_the_process_has_ended(cli: FakeCLI) -> None:
    before = descendants()
    messages = list(query("hello", Options(cli_path=cli.cli_path)))
    assert isinstance(messages[0], InitMessage)
    assert results(messages) == ["first"]
    assert wait_until(lambda: descendants() <= before)
    [run] = cli.runs()
    assert "--input-format" not in " ".join(run.argv)


def test_a_prompt_never_stands_on_argv_and_may_look_like_a_flag(cli: FakeCLI) -> None:
    assert results(list(query("--version", Options(cli_path=cli.cli_path)))) == ["first"]
    assert "--version" not in cli.runs()[0].argv


def test_async_iteration_gives_the_same(cli: FakeCLI) -> None:
    async def collect() -> list[Message]:
        return [message async for message in query("hello", Options(cli_path=cli.cli_path))]

    assert results(asyncio.run(collect())) == ["first"]


def test_the_mailbox_of_a_query_has_the_bounds_of_the_options(cli: FakeCLI) -> None:
    before = descendants()
    options = Options(cli_path=cli.cli_path, messages_overflow="drop_oldest", mailbox_max_items=1)
    messages = iter(query("hello", options))
    next(messages)
    assert wait_until(lambda: descendants() <= before)
    assert len(list(messages)) <= 1


def test_an_iteration_that_is_abandoned_half_way_ends_its_process() -> None:
    before = descendants()
    with FakeCLI(Script(replies=(reply(WaitFor("never")),), on_start=(IgnoreTerm(), IgnoreEof()))) as cli:
        options = Options(cli_path=cli.cli_path, eof_grace=0.0, term_grace=0.05)
        for message in query("hello", options):
            assert isinstance(message, InitMessage)
            break
        gc.collect()
        assert wait_until(lambda: descendants() <= before)


def test_an_abandoned_process_is_not_waited_for_since_its_input_has_ended_already() -> None:
    before = descendants()
    with FakeCLI(Script(replies=(reply(WaitFor("never")),))) as cli:
        for _ in query("hello", Options(cli_path=cli.cli_path, eof_grace=3600.0)):
            break
        gc.collect()
        assert wait_until(lambda: descendants() <= before)


def test_an_async_iteration_that_is_cancelled_ends_its_process() -> None:
    before = descendants()
    with FakeCLI(Script(replies=(reply(WaitFor("never")),))) as cli:

        async def consume(arrived: asyncio.Event) -> None:
            async for _message in query("hello", Options(cli_path=cli.cli_path)):
                arrived.set()

        async def main() -> None:
            arrived = asyncio.Event()
            task = asyncio.create_task(consume(arrived))
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert wait_until(lambda: descendants() <= before)


def test_closing_a_query_ends_it_and_a_second_iteration_is_refused(cli: FakeCLI) -> None:
    with query("hello", Options(cli_path=cli.cli_path)) as asked:
        next(iter(asked))
    asked.close()
    with pytest.raises(RuntimeError, match="only once"):
        next(iter(asked))


def test_a_query_that_nobody_iterates_over_starts_nothing(cli: FakeCLI) -> None:
    query("hello", Options(cli_path=cli.cli_path)).close()
    assert cli.runs() == []


def test_options_that_cannot_be_honoured_are_warned_of_by_name() -> None:
    options = Options(hooks=Hooks(), can_use_tool=lambda request, ctx: {}, mcp_servers={"local": ToolServer("local")})
    with pytest.warns(OptionsIgnored, match=r"hooks.*mcp_servers") as caught:
        query("hello", options)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        query("hello", Options(model="opus", allowed_tools=["Read"]))


def test_content_blocks_are_refused_early() -> None:
    with pytest.raises(InvalidOptions, match="start_session"):
        query([{"type": "text", "text": "x"}])  # type: ignore[arg-type]


def test_a_missing_program_is_a_start_error_when_the_iteration_begins() -> None:
    with pytest.raises(CLINotFound):
        list(query("hello", Options(cli_path="/nowhere/claude")))


def test_a_program_that_ends_without_a_word_says_what_it_said_on_stderr() -> None:
    with FakeCLI(Script(on_start=(Stderr(("out of cheese",)), Die(code=3)))) as cli:
        with pytest.raises(ExitedDuringStart, match="out of cheese") as caught:
            list(query("hello", Options(cli_path=cli.cli_path)))
        assert caught.value.code == 3


def test_a_flag_that_the_program_does_not_know_is_an_old_version() -> None:
    with (
        FakeCLI(Script(unknown_options=("--brand-new",))) as cli,
        pytest.raises(UnsupportedVersion, match=r"extra_args names a flag wrongly.*--brand-new"),
    ):
        list(query("hello", Options(cli_path=cli.cli_path, extra_args={"brand-new": None})))


def test_a_crash_before_the_result_is_raised_after_what_came() -> None:
    with FakeCLI(script(reply("half", Die(signal=9)))) as cli:
        seen: list[Message] = []
        with pytest.raises(SessionCrashed) as caught:
            seen.extend(query("hello", Options(cli_path=cli.cli_path)))
        assert caught.value.signal == 9


def test_a_query_keeps_to_the_bounds_of_its_options_and_says_when_they_have_cost_messages() -> None:
    with FakeCLI(script(reply(Flood(100)))) as cli:
        asked = query("go", cli.options(messages_overflow="fail", mailbox_max_items=10))
        iterator, got = iter(asked), list[Message]()
        got.append(next(iterator))
        assert wait_until(lambda: asked._mailbox.closed)
        with pytest.raises(MailboxOverflow):
            got.extend(iterator)
    assert len(got) < 100


@pytest.mark.real_cli
def test_the_real_cli_answers_a_query_and_an_abandoned_one_leaves_no_process() -> None:
    before = descendants()
    with RealCLI(script("first", "second")) as real:
        assert results(list(query("hello", real.options()))) == ["first"]
        for _message in query("hello", real.options()):
            break
        gc.collect()
        assert wait_until(lambda: descendants() <= before)
