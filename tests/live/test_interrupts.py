"""Ctrl-C and signal handlers, in the midst of anything that a user's thread does with a session."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import repeat
from typing import Any

import msgspec
import pytest
from support.leaks import wait_until
from support.live import DEADLINE, running

from claude_actors import Mailbox, MailboxTimeout, Options, Session, SessionStopped, query, select, start_session
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.script import reply, script


class Interrupts:
    """Raises KeyboardInterrupt in this thread again and again, but only where the test is ready for it."""

    def __init__(self) -> None:
        self.armed = False
        self._enough = threading.Event()
        self._main = threading.main_thread().ident or 0
        self._thread = threading.Thread(target=self._send)

    def _send(self) -> None:
        while not self._enough.wait(0.001):
            signal.pthread_kill(self._main, signal.SIGUSR2)

    def handle(self, *_: object) -> None:
        if self.armed:
            self.armed = False
            raise KeyboardInterrupt

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self.armed = False
        self._enough.set()
        self._thread.join(DEADLINE)

    def hit(self, function: Callable[[], object]) -> bool:
        """Run the function; says whether it was interrupted."""
        try:
            self.armed = True
            function()
            self.armed = False
        except KeyboardInterrupt:
            return True
        return False


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    sender = Interrupts()
    before = signal.signal(signal.SIGUSR2, sender.handle)
    sender.begin()
    try:
        yield sender
    finally:
        sender.end()
        signal.signal(signal.SIGUSR2, before)


# An interrupt in the midst of the collector's own work has nobody to go to, and Python only warns of it.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def answers(cli: MemoryCLI, session: Any) -> None:
    turn = session.send("hello")
    cli.frame_of(lambda frame: frame.get("uuid") == turn.uuid)
    cli.finish_turn(turn.uuid)
    assert turn.result(DEADLINE).result == "done"


def test_an_interrupt_while_somebody_waits_leaves_the_session_usable(interrupts: Interrupts) -> None:
    cli = MemoryCLI()
    empty: Mailbox[Any] = Mailbox(None, overflow="drop_oldest")
    with running(cli, control_timeout=1000.0) as session:
        waits: list[Callable[[], object]] = [
            empty.get,
            lambda: select([empty, session.events()][:1]),
            session.wait,
            lambda: session.control("never answered"),
            session.send("never answered").result,
        ]
        for wait in waits * 5:
            assert interrupts.hit(wait)
            answers(cli, session)


def test_interrupts_in_the_midst_of_sending_lose_no_actor_and_no_later_prompt(interrupts: Interrupts) -> None:
    cli, hits, read = MemoryCLI(), 0, 0
    with running(cli) as session:
        while hits < 30:
            hits += interrupts.hit(lambda: [session.send("hello") for _ in range(20)])
            # Whatever was hit, the actors run and the next prompt is answered.
            answers(cli, session)
            frames = [msgspec.json.decode(line) for line in cli.written[read:]]
            read += len(frames)
            for frame in frames:
                cli.finish_turn(frame.get("uuid", ""))
        answers(cli, session)
        assert wait_until(lambda: session.snapshot().open_turns == 0)


def test_interrupts_in_the_midst_of_taking_lose_no_message(interrupts: Interrupts) -> None:
    cli, taken, count = MemoryCLI(), list[Any](), 50_000
    with running(cli, mailbox_max_items=count) as session:
        cli.push(b"".join(b'{"type":"numbered","number":%d}\n' % number for number in range(count)))
        assert wait_until(lambda: session.snapshot().messages.put == count)

        def take() -> None:
            # No code of the test's own between a `get` and the list, where an interrupt would lose one.
            with suppress(MailboxTimeout):
                taken.extend(map(session.messages().get, repeat(0)))

        while interrupts.hit(take):
            pass
        counts = session.messages().counts()
    assert [message.raw["number"] for message in taken] == list(range(count))
    assert (counts.taken, counts.memory_bytes) == (count, 0)


def test_interrupts_in_the_midst_of_starts_leave_nothing(interrupts: Interrupts) -> None:
    # No actor, thread, process or file: the fixture that looks after every test says so.
    with FakeCLI(script(reply("hello", times=None))) as cli:
        options = cli.options()
        start_session("hello", options).stop()  # so that its version is known
        for _ in range(60):
            started: list[Session] = []
            interrupts.hit(lambda started=started: started.append(start_session("hello", options)))  # type: ignore[misc]
            for session in started:
                session.stop()


def test_interrupts_in_the_midst_of_queries_leave_nothing(interrupts: Interrupts) -> None:
    with FakeCLI(script(*[reply("hello")] * 100)) as cli:
        list(query("hello", Options(cli_path=cli.cli_path)))
        for _ in range(60):
            assert interrupts.hit(lambda: list(query("hello", Options(cli_path=cli.cli_path))))


def test_a_signal_handler_may_stop_a_session() -> None:
    with running(MemoryCLI()) as session:
        before = signal.signal(signal.SIGUSR1, lambda *_: session.stop_soon("signalled"))
        try:
            signal.raise_signal(signal.SIGUSR1)
            assert session.wait(DEADLINE) == SessionStopped("signalled")
        finally:
            signal.signal(signal.SIGUSR1, before)
