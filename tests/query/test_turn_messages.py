"""A turn's own messages: from where the mailbox stands up to the turn's result, in threads and coroutines."""

from __future__ import annotations

import asyncio

import pytest

from claude_actors import AssistantMessage, Message, Options, ResultMessage, SessionCrashed, start_session
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Die
from claude_actors.testing.script import WaitFor, reply, script


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages if isinstance(message, AssistantMessage)]


def test_each_turn_gives_its_own_messages_up_to_its_result() -> None:
    with FakeCLI(script("one", "two")) as cli, start_session("a", Options(cli_path=cli.cli_path)) as session:
        assert session.last_turn is not None
        first = list(session.last_turn.messages())
        second = list(session.send("b").messages())
    assert (texts(first), texts(second)) == (["one"], ["two"])
    assert isinstance(first[-1], ResultMessage)
    assert isinstance(second[-1], ResultMessage)


def test_a_coroutine_gets_the_same() -> None:
    async def main(options: Options) -> list[Message]:
        async with start_session(None, options, wait=False) as session:
            return [message async for message in session.send("a").messages()]

    with FakeCLI(script("one")) as cli:
        got = asyncio.run(main(Options(cli_path=cli.cli_path)))
    assert texts(got) == ["one"]
    assert isinstance(got[-1], ResultMessage)


def test_a_turn_without_a_result_raises_its_reason_after_the_last_message() -> None:
    with (
        FakeCLI(script(reply("half", Die(signal=9)))) as cli,
        start_session(None, Options(cli_path=cli.cli_path)) as it,
    ):
        seen: list[Message] = []
        with pytest.raises(SessionCrashed):
            seen.extend(it.send("a").messages())


def test_a_consumer_who_comes_after_another_has_read_everything_is_not_left_waiting() -> None:
    with FakeCLI(script("one")) as cli, start_session("a", Options(cli_path=cli.cli_path)) as session:
        turn = session.last_turn
        assert turn is not None
        turn.result(30)
        session.messages().get()
        while len(session.messages()):
            session.messages().get()
        assert all(not isinstance(message, ResultMessage) for message in turn.messages())


def test_a_session_that_is_stopped_ends_the_iteration_with_the_reason() -> None:
    with FakeCLI(script(reply(WaitFor("never")))) as cli, start_session("a", Options(cli_path=cli.cli_path)) as session:
        turn = session.last_turn
        assert turn is not None
        session.stop()
        with pytest.raises(Exception, match="stop"):
            list(turn.messages())
