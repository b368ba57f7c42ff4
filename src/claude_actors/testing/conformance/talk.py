"""One session as a scenario follows it: what was said is kept, every wait has a deadline, and the end is clean."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from claude_actors import (
    AssistantMessage,
    Event,
    FinalEvent,
    InitMessage,
    Mailbox,
    Message,
    ResultMessage,
    Session,
    ToolResultBlock,
    UserMessage,
)
from claude_actors.session import Prompt

M = TypeVar("M", bound=Message)
E = TypeVar("E", bound=Event)

#: Far above what anything takes: a machine under load must not make a scenario fail.
PATIENCE: Final = 60.0


class Talk:
    """A session whose messages are taken here and kept in `said`; use it in one thread, as a context manager."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.said: list[Message] = []
        self.happened: list[Event] = []

    # --- taking messages ---

    def until(self, kind: type[M], accept: Callable[[M], object] = lambda message: True) -> M:
        """Take messages up to the first of this kind that is accepted, and return it."""
        found: M = _until(self.session.messages(), self.said, kind, accept)
        return found

    def until_event(self, kind: type[E], accept: Callable[[E], object] = lambda event: True) -> E:
        """Take events up to the first of this kind that is accepted, and return it."""
        found: E = _until(self.session.events(), self.happened, kind, accept)
        return found

    def result(self) -> ResultMessage:
        """Take messages up to the next result and return that."""
        return self.until(ResultMessage)

    def ask(self, prompt: Prompt) -> ResultMessage:
        """Send a prompt and take messages up to its result."""
        turn = self.session.send(prompt)
        return self.until(ResultMessage, lambda result: turn.uuid in (result.user_message_uuids or ()))

    # --- what was said so far ---

    def all(self, kind: type[M]) -> list[M]:
        """Return the messages of a kind that were taken so far."""
        return [message for message in self.said if isinstance(message, kind)]

    @property
    def inits(self) -> list[InitMessage]:
        """The init messages, one a turn."""
        return self.all(InitMessage)

    @property
    def texts(self) -> list[str]:
        """What the model said."""
        return [message.text for message in self.all(AssistantMessage) if message.text]

    @property
    def tool_results(self) -> list[tuple[str, bool]]:
        """The text of each tool result, and whether it is an error."""
        contents = [message.content for message in self.all(UserMessage) if isinstance(message.content, list)]
        blocks = [block for content in contents for block in content if isinstance(block, ToolResultBlock)]
        return [(text_of(block.content), bool(block.is_error)) for block in blocks]

    def saw(self, kind: type[E]) -> list[E]:
        """Return the events of a kind; after the end, all that there were."""
        return [event for event in self.happened if isinstance(event, kind)]

    # --- the end ---

    def close(self) -> FinalEvent:
        """Stop the session if it lives, and take in all that it still had to say."""
        final = self.session.stop()
        _drain(self.session.messages(), self.said)
        _drain(self.session.events(), self.happened)
        return final

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def text_of(content: str | list[dict[str, Any]] | None) -> str:
    """Return the text in a tool result."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(str(block.get("text", "")) for block in content)


def _until(mailbox: Mailbox[Any], taken: list[Any], kind: type[Any], accept: Callable[[Any], object]) -> Any:
    while True:
        item = mailbox.get(PATIENCE)
        taken.append(item)
        if isinstance(item, kind) and accept(item):
            return item


def _drain(mailbox: Mailbox[Any], taken: list[Any]) -> None:
    while len(mailbox):
        taken.append(mailbox.get(PATIENCE))
