"""A live session on the scripted fake CLI, and what that CLI was told: for tests of callbacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from claude_actors import Event, ResultMessage, Session, UserMessage, start_session
from claude_actors.testing import FakeCLI, Script

E = TypeVar("E", bound=Event)

DEADLINE = 30.0
"""Generous, because a loaded machine must not decide a test."""


class Live:
    """One session and its fake CLI."""

    def __init__(self, fake: FakeCLI, session: Session) -> None:
        self.fake, self.session = fake, session

    def ask(self, prompt: str = "go") -> ResultMessage:
        """Run one turn to its result."""
        return self.session.send(prompt).result(DEADLINE)

    @property
    def initialize(self) -> dict[str, Any]:
        """What the CLI was told in initialize."""
        request: dict[str, Any] = self.fake.runs()[0].received[0]["request"]
        return request

    def responses(self, label: str | None = None) -> list[dict[str, Any]]:
        """The control responses that the CLI got, in order; of one label of the script if given."""
        notes = self.fake.runs()[-1].of("answer")
        return [note["response"] for note in notes if label is None or note["label"] == label]

    def answer(self, label: str) -> Any:
        """The payload of the one successful response to what the script sent under this label."""
        (response,) = self.responses(label)
        assert response["subtype"] == "success", response
        return response["response"]

    def told(self) -> list[str]:
        """What the model was told with each request."""
        return [note["text"] for note in self.fake.runs()[-1].of("api_request")]

    def tool_results(self) -> list[Any]:
        """The contents of the tool results so far, errors included; takes the messages."""
        found = []
        mailbox = self.session.messages()
        while len(mailbox):
            message = mailbox.get(DEADLINE)
            if isinstance(message, UserMessage) and isinstance(message.content, list):
                found += [getattr(block, "content", None) for block in message.content]
        return found

    def events(self, kind: type[E]) -> list[E]:
        """The events of a kind so far, or all of them after the end; takes the events."""
        mailbox = self.session.events()
        taken = [mailbox.get(DEADLINE) for _ in range(len(mailbox))]
        return [event for event in taken if isinstance(event, kind)]

    def next_event(self, kind: type[E]) -> E:
        """Wait for the next event of a kind; takes those before it."""
        while True:
            event = self.session.events().get(DEADLINE)
            if isinstance(event, kind):
                return event


@contextmanager
def live(script: Script, **options: Any) -> Iterator[Live]:
    """Start a session on a fake CLI with this script; both are ended with the block."""
    generous = {"initialize_timeout": DEADLINE, "control_timeout": DEADLINE, "eof_grace": 10.0}
    with FakeCLI(script) as fake, start_session(None, fake.options(**{**generous, **options})) as session:
        yield Live(fake, session)
