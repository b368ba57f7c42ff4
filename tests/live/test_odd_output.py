"""Whatever stands on the CLI's output is reported, answered where an id can be read, and the session goes on."""

from __future__ import annotations

from typing import Any

import pytest
from support.live import DEADLINE, in_thread, joined, next_event, running

from claude_actors import (
    AssistantMessage,
    CallbackContext,
    Deny,
    Hooks,
    JunkSeen,
    LineDiscarded,
    LineGrowing,
    RequestFailed,
    RequestRefused,
    Session,
    StderrReceived,
    UnknownMessage,
    start_session,
)
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import CallHook, Emit, HugeLine, Junk, Request, Stderr
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.script import reply, script

MIB = 1024 * 1024


def goes_on(cli: MemoryCLI, session: Session) -> None:
    """Show that the session still works in both directions."""
    answering = in_thread(lambda: cli.answer(cli.requested("still_there"), {"yes": True}))
    assert session.control("still_there") == {"yes": True}
    joined(answering)
    assert session.state == "running"


JUNK = {
    "a line of debug output": b"DEBUG: something\n",
    "an empty object": b"{}\n",
    "a number": b"5\n",
    "a list": b"[1,2]\n",
    "null": b"null\n",
    "half a frame": b'{"type":"assistant","mess\n',
    "two frames on one line": b'{"type":"keep_alive"}{"type":"keep_alive"}\n',
    "a type that is no text": b'{"type":7}\n',
    "control bytes": b"\x00\x01\x02\x1b[31m\n",
    "a very deep list": b"[" * 100_000 + b"]" * 100_000 + b"\n",
}


@pytest.mark.parametrize("line", JUNK.values(), ids=JUNK.keys())
def test_a_line_that_is_no_frame_is_reported_with_its_beginning_and_the_session_goes_on(line: bytes) -> None:
    cli = MemoryCLI()
    with running(cli) as session:
        cli.push(line)
        seen = next_event(session, JunkSeen)
        assert line.decode("utf-8", "replace").startswith(seen.start.rstrip("…")[:20])
        goes_on(cli, session)
        assert session.snapshot().counters.junk_lines == 1


def test_blank_lines_and_carriage_returns_are_nothing() -> None:
    cli = MemoryCLI()
    with running(cli) as session:
        cli.push(b'\n\r\n  \n{"type":"keep_alive"}\r\n')
        goes_on(cli, session)
        assert session.snapshot().counters.junk_lines == 0


MALFORMED = {
    "no request": b"",
    "a request that is no object": b',"request":5',
    "a hook without its id": b',"request":{"subtype":"hook_callback"}',
    "a permission without a tool": b',"request":{"subtype":"can_use_tool"}',
    "bytes that are no UTF-8": b',"request":{"subtype":"can_use_tool","tool_name":"B\xff","input":{}}',
}


@pytest.mark.parametrize("rest", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_request_whose_id_can_be_read_is_refused_once(rest: bytes) -> None:
    cli = MemoryCLI()
    with running(cli) as session:
        cli.push(b'{"type":"control_request","request_id":"r1"' + rest + b"}\n")
        assert cli.answered("r1")["subtype"] == "error"
        goes_on(cli, session)
    assert len(cli.answers("r1")) == 1


def test_a_malformed_request_without_an_id_is_reported_and_gets_no_answer() -> None:
    cli = MemoryCLI()
    with running(cli) as session:
        before = len(cli.written)
        cli.push(b'{"type":"control_request","request":{"subtype":"can_use_tool"}}\n')
        assert next_event(session, JunkSeen).request_id is None
        assert len(cli.written) == before
        goes_on(cli, session)


def test_an_unknown_request_and_an_unknown_hook_are_refused_by_name() -> None:
    cli = MemoryCLI()
    with running(cli) as session:
        unknown = cli.ask("brew_coffee", strength=3)
        assert "brew_coffee" in cli.answered(unknown)["error"]
        assert next_event(session, RequestRefused).subtype == "brew_coffee"
        assert "hook_7" in cli.answered(cli.call_hook("hook_7"))["error"]
        goes_on(cli, session)


def test_a_response_that_cannot_be_read_fails_the_request_that_it_names() -> None:
    cli = MemoryCLI()
    with running(cli) as session:
        errors: list[Exception] = []

        def ask() -> None:
            with pytest.raises(RequestFailed) as raised:
                session.control("anything")
            errors.append(raised.value)

        asking = in_thread(ask)
        request_id = cli.requested("anything")["request_id"]
        cli.push(b'{"type":"control_response","response":{"request_id":"%s","subtype":9}}\n' % request_id.encode())
        joined(asking)
        assert len(errors) == 1
        goes_on(cli, session)


def test_what_the_cli_says_in_words_of_its_own_is_delivered_as_it_came() -> None:
    cli = MemoryCLI()
    with running(cli) as session:
        cli.push(b'{"type":"telepathy","thought":{"deep":[1]}}\n')
        message = session.messages().get(DEADLINE)
        assert isinstance(message, UnknownMessage)
        assert message.raw == {"type": "telepathy", "thought": {"deep": [1]}}
        cli.push(b'{"type":"assistant","message":{"content":[{"type":"text","text":"a\xffb"}]},"session_id":"s"}\n')
        broken = session.messages().get(DEADLINE)
        assert isinstance(broken, AssistantMessage)
        assert broken.text == "a\ufffdb"
        cli.push(b'{"type":"assistant","message":{"content":[{"type":"text","text":"\\ud800!"}]},"session_id":"s"}\n')
        lone = session.messages().get(DEADLINE)
        assert isinstance(lone, AssistantMessage)
        assert lone.text == "\ufffd!"
        goes_on(cli, session)


def test_a_line_over_the_limit_is_thrown_away_whole_and_what_follows_it_is_read() -> None:
    cli = MemoryCLI()
    with running(cli, max_buffer_size=1000, buffer_warning_size=500) as session:
        long = b'{"type":"assistant","x":"' + b"x" * 2000 + b'"}\n'
        for start in range(0, len(long), 600):
            cli.push(long[start : start + 600])
        assert next_event(session, LineGrowing).size == 600
        discarded = next_event(session, LineDiscarded)
        assert (discarded.size, discarded.limit) == (len(long) - 1, 1000)
        goes_on(cli, session)
        assert session.snapshot().messages.put == 0


def test_a_64_mib_line_with_a_16_mib_limit_is_discarded_and_callbacks_behind_it_are_served() -> None:
    hooks = Hooks()

    @hooks.pre_tool_use()
    def deny(event: Any, ctx: CallbackContext) -> Deny:
        return Deny("still here")

    steps = (HugeLine(64 * MIB), HugeLine(16 * MIB), CallHook("PreToolUse", label="hook"), "done")
    with FakeCLI(script(reply(*steps))) as cli:
        with start_session("go", cli.options(hooks=hooks)) as session:
            assert next_event(session, LineDiscarded).size == 64 * MIB
            assert session.last_turn is not None
            assert session.last_turn.result(4 * DEADLINE).result == "done"
            large = [m for m in session.last_turn.messages() if isinstance(m, AssistantMessage) and len(m.text) > MIB]
            assert len(large) == 1
        (run,) = cli.runs()
    (answer,) = run.of("answer")
    assert answer["response"]["response"]["hookSpecificOutput"]["permissionDecisionReason"] == "still here"


def test_a_process_that_writes_all_kinds_of_nonsense_still_finishes_its_turn() -> None:
    steps = (
        Junk("DEBUG: noise"),
        Junk(data=b"\xff\xfe\xfd"),
        Junk("no newline", newline=False),
        Junk(" but here"),
        Emit({"type": "unheard_of"}),
        Emit({"type": "control_request", "request_id": "r9", "request": {}}),
        Request("brew_coffee"),
        Stderr(("a line on stderr",)),
        "done",
    )
    with (
        FakeCLI(script(reply(*steps))) as cli,
        start_session("go", cli.options(stderr_events=True)) as session,
    ):
        assert session.last_turn is not None
        assert session.last_turn.result(DEADLINE).result == "done"
        assert next_event(session, StderrReceived).lines == ("a line on stderr",)
        assert session.snapshot().counters.junk_lines == 4
        (run,) = cli.runs()
        assert [note["request_id"] for note in run.of("unexpected_answer")] == ["r9"]


def test_an_unfinished_last_line_is_not_lost() -> None:
    cli = MemoryCLI()
    with running(cli) as session:
        cli.push(b'{"type":"last_words","x":1}')
        cli.exit(0)
        assert session.wait(DEADLINE) is not None
    (message,) = list(session.messages())
    assert message.type == "last_words"
