"""Sessions for tests: running on a CLI in memory or on a fake one, and small words for what they say."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from claude_actors import Event, Session, start_session
from claude_actors.testing.memory_cli import MemoryCLI

DEADLINE = 30.0

E = TypeVar("E", bound=Event)


@contextmanager
def running(cli: MemoryCLI, **options: Any) -> Iterator[Session]:
    """A session on a CLI in memory, accepted; stopped at the end."""
    with start_session(None, cli.options(**options), wait=False) as session:
        cli.accept()
        session.wait_running(DEADLINE)
        yield session


def taken_in(cli: MemoryCLI, session: Session) -> None:
    """Wait until everything that was pushed has been handled to its end: an operation behind it is answered."""
    asking = in_thread(session.control, "marker")
    cli.answer(cli.requested("marker"))
    joined(asking)


def next_event(session: Session, kind: type[E]) -> E:
    """Take events until one is of this kind."""
    while True:
        event = session.events().get(DEADLINE)
        if isinstance(event, kind):
            return event


def passed(gate: threading.Event) -> None:
    """Wait for a gate, which must open."""
    assert gate.wait(DEADLINE), "the gate was never opened"


def in_thread(function: Any, *args: Any) -> threading.Thread:
    """Start a thread."""
    thread = threading.Thread(target=function, args=args)
    thread.start()
    return thread


def joined(*threads: threading.Thread) -> None:
    """Wait for threads, which must end."""
    for thread in threads:
        thread.join(DEADLINE)
        assert not thread.is_alive(), f"{thread.name} does not end"
