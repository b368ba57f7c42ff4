"""A consumer that never reads delays nothing: hooks, permissions, MCP calls, operations and the end all go on."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from typing import Any

import msgspec
import pytest
from support.live import DEADLINE, next_event, passed, running, taken_in

from claude_actors import (
    Allow,
    Hooks,
    MailboxOverflow,
    MailboxOverflowed,
    Options,
    SessionFailed,
    SessionStopped,
    StreamEvent,
    ToolServer,
    start_session,
)
from claude_actors.mailbox.spill_writer import writer_for
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Flood
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.script import UseTool, WaitFor, reply, script

MIB = 1024 * 1024
FLOOD = 10_000


def tools() -> ToolServer:
    server = ToolServer("local")

    @server.tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    return server


def asked_of() -> tuple[list[str], dict[str, Any]]:
    """Options whose callbacks note that they were called."""
    called: list[str] = []
    hooks = Hooks()

    @hooks.pre_tool_use()
    def hook(event: object, ctx: object) -> None:
        called.append("hook")

    def permission(request: object, ctx: object) -> Allow:
        called.append("permission")
        return Allow()

    return called, {"hooks": hooks, "can_use_tool": permission, "mcp_servers": {"local": tools()}}


def test_ten_thousand_frames_that_nobody_reads_delay_no_callback_no_operation_and_not_the_end() -> None:
    called, callbacks = asked_of()
    with FakeCLI(
        script(
            reply(
                Flood(FLOOD),
                UseTool("Bash", {"command": "touch here"}),
                UseTool("mcp__local__add", {"a": 1, "b": 2}),
            ),
            reply("said", WaitFor("interrupted")),
        )
    ) as cli:
        session = start_session("go", cli.options(**callbacks))
        cli.gates.wait_reached("interrupted")
        assert called == ["hook", "permission", "hook", "permission"]
        session.interrupt()
        assert session.last_turn is not None
        assert session.last_turn.result(DEADLINE).subtype == "error_during_execution"
        assert isinstance(session.stop(), SessionStopped)
        assert session.snapshot().messages.taken == 0
        assert session.snapshot().messages.waiting > FLOOD
        (run,) = cli.runs()
    tool_calls = [note["response"]["response"] for note in run.of("answer") if "mcp_response" in str(note)]
    assert [{"type": "text", "text": "3"}] in [call["mcp_response"]["result"].get("content") for call in tool_calls]


def frame(number: int, size: int = 0) -> dict[str, Any]:
    event = {"type": "content_block_delta", "index": number, "delta": {"type": "text_delta", "text": "x" * size}}
    return {"type": "stream_event", "event": event, "session_id": "memory", "uuid": str(number)}


def numbers(messages: list[Any]) -> list[int]:
    return [message.event["index"] for message in messages if isinstance(message, StreamEvent)]


def push_numbered(cli: MemoryCLI, count: int, size: int = 0) -> None:
    """Push frames in chunks that end within lines, and wait until the session has taken in the last."""
    stream = b"".join(msgspec.json.encode(frame(number, size)) + b"\n" for number in range(count))
    for start in range(0, len(stream), 65_536):
        cli.push(stream[start : start + 65_536])


def test_what_spills_comes_back_whole_and_in_order() -> None:
    cli = MemoryCLI()
    with running(cli, mailbox_max_items=100) as session:
        push_numbered(cli, FLOOD)
        taken_in(cli, session)
        assert session.snapshot().messages.spilled_items >= FLOOD - 100
        assert next_event(session, MailboxOverflowed).what == "spilling"
        got = [session.messages().get(DEADLINE) for _ in range(FLOOD)]
        assert numbers(got) == list(range(FLOOD))
        push_numbered(cli, 3)
        assert numbers([session.messages().get(DEADLINE) for _ in range(3)]) == [0, 1, 2]
        push_numbered(cli, 1)
        assert next_event(session, MailboxOverflowed).what == "spill_drained"


def test_what_waits_when_the_session_ends_is_still_there_for_a_late_consumer() -> None:
    cli = MemoryCLI()
    with running(cli, mailbox_max_items=100) as session:
        push_numbered(cli, FLOOD)
        taken_in(cli, session)
    assert numbers(list(session.messages())) == list(range(FLOOD))


def test_memory_stays_within_the_bound_plus_a_constant_however_much_nobody_reads() -> None:
    cli = MemoryCLI()
    bound = 4 * MIB
    with running(cli, mailbox_max_bytes=bound) as session:
        push_numbered(cli, 10, 1000)
        taken_in(cli, session)
        gc.collect()
        tracemalloc.start()
        try:
            for _ in range(8):
                push_numbered(cli, 1000, 8000)
            taken_in(cli, session)
            written = threading.Event()
            writer_for(None).submit(written.set)
            passed(written)
            gc.collect()
            used, _peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        counts = session.snapshot().messages
        assert counts.spilled_bytes + counts.memory_bytes > 60 * MIB
        assert counts.memory_bytes <= bound
        # The spill's unwritten chunk, the last chunk read, and what Python needs around 500 items.
        assert used < bound + 2 * MIB
        session.messages().discard()


def test_a_live_display_that_falls_behind_loses_the_oldest_and_is_told_how_many() -> None:
    cli = MemoryCLI()
    with running(cli, messages_overflow="drop_oldest", mailbox_max_items=100) as session:
        push_numbered(cli, 1000)
        taken_in(cli, session)
        assert next_event(session, MailboxOverflowed).what == "dropped"
        assert session.snapshot().messages.dropped == 900
    assert numbers(list(session.messages())) == list(range(900, 1000))


def test_with_the_policy_fail_a_session_that_nobody_reads_fails_loudly_and_keeps_what_fitted() -> None:
    cli = MemoryCLI()
    with running(cli, messages_overflow="fail", mailbox_max_items=100) as session:
        push_numbered(cli, 1000)
        final = session.wait(DEADLINE)
        assert isinstance(final, SessionFailed)
        assert isinstance(final.error, MailboxOverflow)
        got: list[Any] = []
        with pytest.raises(MailboxOverflow):
            got.extend(iter(session.messages()))
        # A list that is being extended keeps what came before the error.
        assert numbers(got) == list(range(100))


def test_an_events_mailbox_that_overflows_keeps_the_final_event_exactly_once() -> None:
    for policy in ("drop_oldest", "fail"):
        cli = MemoryCLI()
        with running(cli, events_overflow=policy, mailbox_max_items=5) as session:
            for _ in range(50):
                cli.push(b"junk\n")
            if policy == "drop_oldest":
                taken_in(cli, session)
            else:
                session.wait(DEADLINE)
        finals = [event for event in session.events() if isinstance(event, SessionStopped | SessionFailed)]
        assert finals == [session.final_event]


def test_a_consumer_stuck_in_the_midst_of_a_message_delays_no_callback() -> None:
    called, callbacks = asked_of()
    cli = MemoryCLI()
    with running(cli, **callbacks) as session:
        push_numbered(cli, 10)
        taking = iter(session.messages())
        next(taking)
        assert cli.answered(cli.call_hook())["subtype"] == "success"
        push_numbered(cli, 10)
        assert cli.answered(cli.ask_permission())["response"]["behavior"] == "allow"
    assert called == ["hook", "permission"]


def test_the_default_bounds_are_those_of_the_documentation() -> None:
    options = Options()
    assert (options.mailbox_max_items, options.mailbox_max_bytes) == (10_000, 64 * MIB)
    assert (options.messages_overflow, options.events_overflow) == ("spill", "drop_oldest")
