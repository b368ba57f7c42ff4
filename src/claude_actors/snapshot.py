"""What a session looks like at one moment: plain numbers, taken without waiting for anybody."""

from __future__ import annotations

import time

import msgspec

from claude_actors.actors.record import SessionRecord
from claude_actors.mailbox import MailboxCounts
from claude_actors.protocol.counters import Counters


class SessionSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One look at a session; numbers may be a moment apart from each other.

    `state` is the lifecycle's, `cli_state` what the CLI says of itself (`running`, `requires_action`, `idle`).
    """

    state: str
    cli_state: str | None
    session_id: str | None
    pid: int | None
    uptime: float
    restarts: int
    open_turns: int
    queued_operations: int
    pending_requests: int
    pending_callbacks: int
    abandoned_callbacks: int
    running_tasks: int
    pending_permissions: tuple[str, ...]
    messages: MailboxCounts
    events: MailboxCounts
    counters: Counters


def take_snapshot(record: SessionRecord) -> SessionSnapshot:
    """Read the record. Any thread; never blocks."""
    machine = record.machine
    return SessionSnapshot(
        state=record.state,
        cli_state=machine.conversation.cli_state if machine else None,
        session_id=record.session_id,
        pid=record.pid,
        uptime=time.monotonic() - record.started_at,
        restarts=record.restarts,
        open_turns=len(record.turns),
        queued_operations=len(machine.queue) if machine else 0,
        pending_requests=len(machine.requests) if machine else 0,
        pending_callbacks=len(machine.callbacks) if machine else 0,
        abandoned_callbacks=record.abandoned,
        running_tasks=len(machine.conversation.running_tasks) if machine else 0,
        pending_permissions=record.pending_permissions(),
        messages=record.messages.counts(),
        events=record.events.counts(),
        counters=msgspec.structs.replace(machine.counters) if machine else Counters(),
    )
