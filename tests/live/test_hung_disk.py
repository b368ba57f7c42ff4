"""A disk that hangs under a spilling mailbox holds up no session: neither the one that spills nor any other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.live import DEADLINE, next_event
from support.slow_disk import HungDisk, hung_disk

from claude_actors import (
    Allow,
    Hooks,
    MailboxOverflowed,
    RestartPolicy,
    SessionFailed,
    SessionStopped,
    SpillFailed,
    StreamEvent,
    start_session,
)
from claude_actors.mailbox import spill as spill_module
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Flood
from claude_actors.testing.script import Reply, UseTool, WaitFor, reply, script

MIB = 1024 * 1024
FLOOD = 10_000


@pytest.fixture
def small_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill_module, "MOST_UNWRITTEN", 8 * MIB)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[HungDisk]:
    with hung_disk(monkeypatch) as disk:
        yield disk


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

    return called, {"hooks": hooks, "can_use_tool": permission}


def asking() -> tuple[Reply, ...]:
    return reply(UseTool("Bash", {"command": "touch here"})), reply("done"), reply("said", WaitFor("interrupted"))


def test_a_spill_whose_write_hangs_delays_no_callback_no_operation_and_not_the_end_of_any_session(
    disk: HungDisk,
) -> None:
    called, callbacks = asked_of()
    flooding = FakeCLI(script(reply(Flood(FLOOD)), *asking()))
    with flooding, FakeCLI(script(*asking())) as quiet:
        session = start_session("flood", flooding.options(mailbox_max_items=100, **callbacks))
        disk.hangs()
        assert session.last_turn is not None
        session.last_turn.result(DEADLINE)
        other = start_session(None, quiet.options(**callbacks))
        for each, cli in ((session, flooding), (other, quiet)):
            called.clear()
            each.send("use a tool").result(DEADLINE)
            assert called == ["hook", "permission"]
            turn = each.send("and wait")
            cli.gates.wait_reached("interrupted")
            each.interrupt()
            assert turn.result(DEADLINE).subtype == "error_during_execution"
            each.set_model("sonnet")
            assert isinstance(each.stop(), SessionStopped)
        # All that time it has hung; and what it did not take is there.
        assert session.snapshot().messages.spilled_items >= FLOOD - 100
        messages = list(session.messages())
    assert len([message for message in messages if isinstance(message, StreamEvent)]) >= FLOOD


@pytest.mark.usefixtures("small_bound")
def test_a_session_that_floods_a_hung_disk_fails_loudly_at_the_bound_and_gives_what_it_took_in(
    disk: HungDisk,
) -> None:
    with FakeCLI(script(reply(Flood(20_000, size=1000)))) as cli:
        options = cli.options(mailbox_max_items=100, mailbox_max_bytes=MIB)
        # Another process could not help: the mailbox is the same.
        session = start_session("flood", options, restart=RestartPolicy())
        final = session.wait(DEADLINE)
        assert isinstance(final, SessionFailed)
        assert isinstance(final.error, SpillFailed)
        assert next_event(session, MailboxOverflowed).what == "spilling"
        assert next_event(session, MailboxOverflowed).what == "failed"
        counts = session.snapshot().messages
        assert counts.refused > 0
        assert 7 * MIB < counts.memory_bytes + counts.spilled_bytes < 10 * MIB
        got: list[Any] = []
        with pytest.raises(SpillFailed):
            got.extend(iter(session.messages()))
        assert len(got) == counts.put
        assert len(cli.runs()) == 1
