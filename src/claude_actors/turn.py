"""A turn: one prompt and the result that it will have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any
from uuid import uuid4

import msgspec

from claude_actors.errors import MailboxClosed, MailboxTimeout, TurnTimeout
from claude_actors.mailbox import Mailbox, aselect, select
from claude_actors.mailbox.promise import Promise
from claude_actors.wire.encode import encode_line
from claude_actors.wire.messages import Message, ResultMessage, decode_message


class Turn:
    """One prompt that was sent; wait for its result with `result()`, or `await` it. Every member is thread-safe.

    `uuid` names the prompt on the wire and in events; it changes when a restarted session asks the prompt again.
    """

    def __init__(self, uuid: str, line: bytes, mailbox: Mailbox[Message]) -> None:
        self.uuid = uuid
        self.line = line
        self._mailbox = mailbox
        # Settled by the session, with the line of the result or with what left the turn without one.
        self.outcome: Promise[bytes] = Promise()

    @property
    def done(self) -> bool:
        """Say whether the turn has its result, or never will."""
        return self.outcome.ready

    def result(self, timeout: float | None = None) -> ResultMessage:
        """Block until the turn is over and return its result, error results included.

        Raises TurnTimeout (the turn goes on), or the error that left the turn without a result: SessionCrashed,
        SessionStoppedError, TooManyPendingRequests, InitQueueOverflow ….
        """
        if not self.outcome.wait(timeout):
            raise TurnTimeout(after=timeout or 0.0)
        return _as_result(self.outcome.value())

    def messages(self) -> TurnMessages:
        """Iterate, with `for` or `async for`, over the session's messages up to and including this turn's result.

        It takes them from `session.messages()`, beginning with what waits there. If the turn gets no result, the
        iteration raises the reason after the last message.
        """
        return TurnMessages(self, self._mailbox)

    def is_answered_by(self, message: Message) -> bool:
        """Say whether this message is the turn's result."""
        if not isinstance(message, ResultMessage):
            return False
        if message.user_message_uuid is None and not message.user_message_uuids:
            # A CLI that names no prompts: the session has matched by order.
            return self.done and self.outcome.error is None and self.outcome.value() == message.line
        return self.uuid == message.user_message_uuid or self.uuid in (message.user_message_uuids or ())

    def __await__(self) -> Generator[Any, None, ResultMessage]:
        return self._wait().__await__()

    async def _wait(self) -> ResultMessage:
        await self.outcome.wait_async()
        return _as_result(self.outcome.value())

    def renew(self) -> None:
        """Take a new uuid; for the session, before it asks the prompt again.

        A CLI that finds a uuid in the conversation that it resumes takes the prompt for answered and does not run it.
        """
        self.uuid = str(uuid4())
        self.line = encode_line({**msgspec.json.decode(self.line), "uuid": self.uuid})

    def __repr__(self) -> str:
        return f"<Turn {self.uuid} {'done' if self.done else 'open'}>"


class TurnMessages:
    """The messages of one turn; each iteration goes on where the mailbox stands."""

    def __init__(self, turn: Turn, mailbox: Mailbox[Message]) -> None:
        self._turn = turn
        self._mailbox = mailbox

    def __iter__(self) -> Iterator[Message]:
        while True:
            message = self._next()
            if message is not None:
                yield message
                if self._turn.is_answered_by(message):
                    return
            elif self._is_over():
                return self._raise_failure()
            else:
                select((self._mailbox, self._turn.outcome))

    async def __aiter__(self) -> AsyncIterator[Message]:
        while True:
            message = self._next()
            if message is not None:
                yield message
                if self._turn.is_answered_by(message):
                    return
            elif self._is_over():
                self._raise_failure()
                return
            else:
                await aselect((self._mailbox, self._turn.outcome))

    def _next(self) -> Message | None:
        try:
            return self._mailbox.get(timeout=0)
        except (MailboxTimeout, MailboxClosed):
            return None

    def _is_over(self) -> bool:
        return (self._turn.done or self._mailbox.closed) and len(self._mailbox) == 0

    def _raise_failure(self) -> None:
        if self._turn.done:
            self._turn.outcome.value()


def _as_result(line: bytes) -> ResultMessage:
    message: Message = decode_message(line)
    return message if isinstance(message, ResultMessage) else ResultMessage(subtype="unreadable", is_error=True)
