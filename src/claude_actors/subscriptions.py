"""How somebody else than the holder of a session is told of what happens in it: another mailbox, or a pykka actor."""

from __future__ import annotations

from typing import Any, Literal

import pykka

from claude_actors.actors.record import SessionRecord
from claude_actors.errors import InvalidOptions
from claude_actors.events import Event
from claude_actors.mailbox import ActorSink, Mailbox, MailboxLimits, Overflow
from claude_actors.mailbox.sinks import Sink
from claude_actors.wire.messages import Message, decode_message

Kind = Literal["messages", "events"]
Target = pykka.ActorRef[Any] | Mailbox[Any]


def message_mailbox(
    *, limits: MailboxLimits | None = None, overflow: Overflow = "spill", name: str = "subscriber"
) -> Mailbox[Message]:
    """Make a mailbox that sessions can deliver messages to; one may serve several sessions.

    It is closed when the first of its sessions ends, unless it was subscribed with `close=False`.
    """
    return Mailbox(decode_message, limits=limits, overflow=overflow, name=name)


def event_mailbox(
    *, limits: MailboxLimits | None = None, overflow: Overflow = "drop_oldest", name: str = "subscriber"
) -> Mailbox[Event]:
    """Make a mailbox that sessions can deliver events to, as `message_mailbox` does for messages."""
    return Mailbox(None, limits=limits, overflow=overflow, name=name)


class Subscription:
    """One subscriber of one session; `cancel()` ends it. Any thread; nothing here blocks."""

    def __init__(self, record: SessionRecord, sink: Sink) -> None:
        self._record = record
        self._sink = sink

    @property
    def active(self) -> bool:
        """Whether more may be delivered."""
        return not self._sink.closed and self._record.final is None

    @property
    def skipped(self) -> int:
        """How many items an actor was not told because its inbox was full; 0 for mailboxes, which count themselves."""
        return self._sink.skipped if isinstance(self._sink, ActorSink) else 0

    def cancel(self) -> None:
        """Deliver no more. What was delivered stays; a mailbox is not closed. Idempotent."""
        self._record.deliveries.unsubscribe(self._sink)


def make_sink(target: Target, kind: Kind, source: object, *, max_in_flight: int, close: bool) -> Sink:
    """Wrap a subscriber; raises InvalidOptions for what cannot be one, NotSupported for an inbox without a size."""
    if isinstance(target, pykka.ActorRef):
        decode = decode_message if kind == "messages" else None
        return ActorSink(target, decode, source=source, max_in_flight=max_in_flight)
    if isinstance(target, Mailbox):
        if target.takes_bytes != (kind == "messages"):
            raise InvalidOptions(f"this mailbox cannot take {kind}: make it with message_mailbox() or event_mailbox()")
        if target.calls_back:
            raise InvalidOptions(
                "a mailbox with on_overflow cannot subscribe: your code would run on the control plane"
            )
        return MailboxSink(target, close=close)
    raise InvalidOptions(f"{type(target).__name__} cannot subscribe: give a pykka ActorRef or a Mailbox")


class MailboxSink:
    """A mailbox as the subscriber of one session; without `close` it outlives that session."""

    def __init__(self, mailbox: Mailbox[Any], *, close: bool) -> None:
        self._mailbox = mailbox
        self._close = close
        self.put_many = mailbox.put_many

    @property
    def closed(self) -> bool:
        """Whether the mailbox takes nothing more."""
        return self._mailbox.closed

    def put_last(self, item: Any) -> None:
        """Put one more item, past every bound if it is the mailbox's last."""
        if self._close:
            self._mailbox.put_last(item)
        else:
            self._mailbox.put(item)

    def close(self, error: BaseException | None = None) -> None:
        """Close the mailbox, or leave it open for the other sessions."""
        if self._close:
            self._mailbox.close(error)
