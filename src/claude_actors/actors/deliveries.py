"""Who is told of what a session says and of what happens to it: its own mailboxes, and whoever has subscribed.

It decides the order and the end: every subscriber gets the same events in the same order, the final one exactly once,
and nothing after it. Nothing here blocks or runs user code; the locks are held for moments only.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from claude_actors import events
from claude_actors.actors.event_log import log_event
from claude_actors.errors import ClaudeActorsError
from claude_actors.mailbox import Mailbox, MailboxLimits, OverflowReport
from claude_actors.mailbox.sinks import Sink
from claude_actors.options import Options
from claude_actors.wire.messages import Message, decode_message

Sinks = tuple[Sink, ...]


class Deliveries:
    """The way out of one session. `overflowed` is called from whatever thread finds a mailbox full.

    `identify` gives the session's id and pid as of now, for the log.
    """

    def __init__(
        self,
        options: Options,
        overflowed: Callable[[OverflowReport], None],
        identify: Callable[[], tuple[str | None, int | None]],
    ) -> None:
        self._identify = identify
        limits = mailbox_limits(options)
        self.messages: Mailbox[Message] = Mailbox(
            decode_message, limits=limits, overflow=options.messages_overflow, name="messages", on_overflow=overflowed
        )
        self.events: Mailbox[events.Event] = Mailbox(
            None, limits=limits, overflow=options.events_overflow, name="events", on_overflow=overflowed
        )
        self._message_sinks: Sinks = ()
        self._event_sinks: Sinks = ()
        self._ended: tuple[events.FinalEvent, ClaudeActorsError | None] | None = None
        # Guards the subscribers against the end.
        self._subscribing = threading.Lock()
        # The keeper and the session both tell of events.
        self._emitting = threading.Lock()

    # --- from the session's actors ---

    def deliver(self, lines: list[bytes]) -> None:
        """Give conversation lines to the mailbox and the subscribers."""
        self.messages.put_many(lines)
        for sink in self._message_sinks:
            sink.put_many(lines)
            if sink.closed:
                self.unsubscribe(sink)

    def emit(self, event: events.Event) -> None:
        """Give an event to the mailbox, the subscribers and, if it is worth it, the log."""
        log_event(event, *self._identify())
        with self._emitting:
            self.events.put(event)
            for sink in self._event_sinks:
                sink.put_many((event,))
                if sink.closed:
                    self.unsubscribe(sink)

    def end(self, final: events.FinalEvent, error: ClaudeActorsError | None) -> None:
        """Give the final event, and end everything."""
        with self._subscribing:
            self._ended = final, error
            event_sinks, self._event_sinks = self._event_sinks, ()
            message_sinks, self._message_sinks = self._message_sinks, ()
        with self._emitting:
            self.events.put_last(final)
            for sink in event_sinks:
                sink.put_last(final)
        self.messages.close(error)
        for sink in message_sinks:
            sink.close(error)

    # --- any thread ---

    def subscribe(self, sink: Sink, *, messages: bool) -> None:
        """Deliver to `sink` from now on; one that comes after the end is told how it ended."""
        with self._subscribing:
            ended = self._ended
            if ended is None and messages:
                self._message_sinks = (*self._message_sinks, sink)
            elif ended is None:
                self._event_sinks = (*self._event_sinks, sink)
        if ended is not None:
            final, error = ended
            sink.close(error) if messages else sink.put_last(final)

    def unsubscribe(self, sink: Sink) -> None:
        """Deliver no more to `sink`."""
        with self._subscribing:
            self._message_sinks = tuple(known for known in self._message_sinks if known is not sink)
            self._event_sinks = tuple(known for known in self._event_sinks if known is not sink)


def mailbox_limits(options: Options) -> MailboxLimits:
    """Read the bounds of a session's mailboxes off its options."""
    directory = options.spill_directory
    return MailboxLimits(
        max_items=options.mailbox_max_items,
        max_bytes=options.mailbox_max_bytes,
        max_spill_bytes=options.mailbox_max_spill_bytes,
        spill_directory=None if directory is None else os.fspath(directory),
    )
