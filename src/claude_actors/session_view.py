"""What can be seen of a session, from any thread and without waiting: what it says, and what it is.

`Session` adds what it can be told. Nothing here changes the session.
"""

from __future__ import annotations

from typing import Any

import pykka

from claude_actors.actors.record import SessionRecord
from claude_actors.callbacks.approvals import PendingApproval
from claude_actors.errors import NotSupported
from claude_actors.events import Event, FinalEvent
from claude_actors.mailbox import Mailbox
from claude_actors.options import Options
from claude_actors.snapshot import SessionSnapshot, take_snapshot
from claude_actors.subscriptions import Kind, Subscription, Target, make_sink
from claude_actors.turn import Turn
from claude_actors.wire.control import ServerInfo
from claude_actors.wire.messages import Message


class SessionView:
    """The half of `Session` that only looks."""

    def __init__(self, record: SessionRecord) -> None:
        self._record = record

    # --- what it says ---

    def messages(self) -> Mailbox[Message]:
        """Return the conversation: iterate over it, `async for`, or `get(timeout)`; it ends with the session."""
        return self._record.messages

    def events(self) -> Mailbox[Event]:
        """Return what happens to the session; the last one is its final event."""
        return self._record.events

    def permissions(self) -> Mailbox[PendingApproval]:
        """Return the permission requests that wait for a person, of this session only; it ends with the session.

        Raises NotSupported unless `Options.can_use_tool` is, or contains, an `Approvals`.
        """
        if self._record.permissions is None:
            raise NotSupported("no person is asked: set Options(can_use_tool=Approvals()), alone or in a policy")
        return self._record.permissions

    def subscribe(
        self, target: Target, kind: Kind = "messages", *, max_in_flight: int = 10_000, close: bool = True
    ) -> Subscription:
        """Deliver messages or events from now on to a pykka actor (as `Delivered`, by `tell`) or to another mailbox.

        An actor with `max_in_flight` messages in its inbox is skipped until it catches up, and told how many it missed.
        Never blocks. Raises InvalidOptions for what cannot subscribe.
        """
        sink = make_sink(target, kind, self, max_in_flight=max_in_flight, close=close)
        self._record.deliveries.subscribe(sink, messages=kind == "messages")
        return Subscription(self._record, sink)

    # --- what it is ---

    @property
    def options(self) -> Options:
        """The options it runs with; after `set_mcp_servers`, with those servers."""
        return self._record.options

    @property
    def state(self) -> str:
        """The lifecycle state: starting, init_sent, running, stopped or failed."""
        return self._record.state

    @property
    def last_turn(self) -> Turn | None:
        """The turn of the prompt that was sent last, the one of `start_session` included."""
        return self._record.last_turn

    @property
    def session_id(self) -> str | None:
        """The conversation's id, once the CLI has told it (with its first turn); what `Options.resume` takes."""
        return self._record.session_id

    @property
    def pid(self) -> int | None:
        """The CLI's process id, None before the spawn, after the end, and for ports without one."""
        return self._record.pid

    @property
    def final_event(self) -> FinalEvent | None:
        """How it ended; None while it lives."""
        return self._record.final

    def server_info(self) -> ServerInfo | None:
        """Return what the CLI said of itself in its answer to initialize; None before that."""
        machine = self._record.machine
        return machine.server_info if machine is not None else None

    def snapshot(self) -> SessionSnapshot:
        """Return the session's numbers as of now. Never blocks."""
        return take_snapshot(self._record)

    @property
    def actor_ref(self) -> pykka.ActorRef[Any] | None:
        """The pykka actor that keeps the session, for monitors and supervisors."""
        return self._record.keeper

    def __repr__(self) -> str:
        return f"<Session {self.session_id or 'unnamed'} {self.state}>"
