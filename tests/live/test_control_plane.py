"""Nothing that a host program does can block or break the control plane: not its logs, its actors, nor its ports."""

from __future__ import annotations

import logging
import queue
import subprocess
import threading
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pykka
import pytest
import structlog
from support.live import DEADLINE, in_thread, joined, running

from claude_actors import (
    Allow,
    CallbackContext,
    Hooks,
    InvalidOptions,
    Mailbox,
    NotSupported,
    Session,
    SessionStopped,
    start_session,
)
from claude_actors.actors.background_log import BACKGROUND_LOG
from claude_actors.actors.reactor import Reactor
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.script import reply, script


def works(cli: MemoryCLI, session: Session) -> None:
    """Show that callbacks, operations and prompts still go through."""
    assert cli.answered(cli.ask_permission())["response"]["behavior"] == "allow"
    answering = in_thread(lambda: cli.answer(cli.requested("still_there"), {"yes": True}))
    assert session.control("still_there", timeout=DEADLINE) == {"yes": True}
    joined(answering)
    turn = session.send("hello")
    cli.finish_turn(cli.prompted())
    assert turn.result(DEADLINE).result == "done"


def allow(request: Any, ctx: CallbackContext) -> Allow:
    return Allow()


class Blocking:
    """A log handler that takes nothing until it is released."""

    def __init__(self) -> None:
        self.entered, self.release = threading.Event(), threading.Event()

    def wait(self) -> None:
        self.entered.set()
        self.release.wait(4 * DEADLINE)


@contextmanager
def blocked_structlog() -> Iterator[Blocking]:
    blocking = Blocking()

    def processor(logger: object, name: str, event: MutableMapping[str, Any]) -> Any:
        blocking.wait()
        raise structlog.DropEvent

    structlog.configure(processors=[processor])
    try:
        yield blocking
    finally:
        blocking.release.set()
        BACKGROUND_LOG.flush()


@contextmanager
def blocked_logging() -> Iterator[Blocking]:
    """Standard logging at its most talkative, pykka's own records included."""
    blocking = Blocking()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            blocking.wait()

    handler, root, before = Handler(), logging.getLogger(), logging.getLogger().level
    structlog.reset_defaults()
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield blocking
    finally:
        blocking.release.set()
        BACKGROUND_LOG.flush()
        root.removeHandler(handler)
        root.setLevel(before)


@pytest.mark.parametrize("blocked", [blocked_structlog, blocked_logging])
def test_a_log_handler_that_blocks_delays_no_session(blocked: Any) -> None:
    hooks, cli, other = Hooks(), MemoryCLI(), MemoryCLI()

    @hooks.pre_tool_use()
    def crashes(event: Any, ctx: CallbackContext) -> None:
        raise LookupError("this is logged")

    # pykka itself logs the start of an actor where it is started, so a second session would wait in its own caller.
    with running(cli, hooks=hooks, can_use_tool=allow) as session, blocked() as blocking:
        assert cli.answered(cli.call_hook())["subtype"] == "success"
        BACKGROUND_LOG.write(logging.ERROR, "something_failed", {})
        assert blocking.entered.wait(DEADLINE)
        works(cli, session)
        if blocked is blocked_structlog:
            with running(other, can_use_tool=allow) as second:
                works(other, second)
        assert isinstance(session.stop(), SessionStopped)


def test_a_broadcast_of_the_host_program_ends_none_of_our_actors() -> None:
    cli = MemoryCLI()
    with running(cli, can_use_tool=allow) as session:
        works(cli, session)
        before = set(pykka.ActorRegistry.get_all())
        for message in ("refresh", {"command": "reload"}, object(), None, 5):
            pykka.ActorRegistry.broadcast(message)
        works(cli, session)
        assert before <= set(pykka.ActorRegistry.get_all())
        assert session.actor_ref is not None
        with pytest.raises(TypeError, match="str"):
            session.actor_ref.ask("what are you?", timeout=DEADLINE)
        works(cli, session)


def test_a_callback_that_waits_for_the_end_of_its_session_does_not_deadlock_stop_all() -> None:
    hooks, cli, begun = Hooks(), MemoryCLI(), threading.Semaphore(0)

    @hooks.pre_tool_use()
    def waits(event: Any, ctx: CallbackContext) -> None:
        begun.release()
        assert ctx.wait_cancelled(4 * DEADLINE)

    with running(cli, hooks=hooks) as session:
        # Several, so that some of their tasks are younger than the session's actors and are stopped before them.
        for _ in range(5):
            cli.call_hook()
            assert begun.acquire(timeout=DEADLINE)
        pykka.ActorRegistry.stop_all(timeout=DEADLINE)
        assert isinstance(session.final_event, SessionStopped)


def test_a_session_survives_stop_all_of_idle_tasks_and_gets_new_ones() -> None:
    cli = MemoryCLI()
    with running(cli, can_use_tool=allow) as session:
        for _ in range(50):
            works(cli, session)
            for ref in pykka.ActorRegistry.get_by_class_name("HookTask"):
                ref.stop(block=False)


def test_a_snapshot_never_waits_for_the_control_plane() -> None:
    cli = MemoryCLI()
    with running(cli) as session:
        reactor, stuck, release = Reactor.acquire(), threading.Event(), threading.Event()

        def block() -> None:
            stuck.set()
            release.wait(4 * DEADLINE)

        reactor.call_soon(block)
        assert stuck.wait(DEADLINE)
        # The reactor is blocked by the test itself: whatever waited for it would wait here.
        assert session.snapshot().state == session.state == "running"
        assert (session.pid, session.session_id, session.final_event) == (None, None, None)
        assert session.server_info() is not None
        session.send("queued")
        session.stop_soon()
        session.finish()
        assert session.snapshot().open_turns == 1
        release.set()
        reactor.release()


def test_a_subscriber_whose_inbox_blocks_or_whose_mailbox_calls_back_is_refused() -> None:
    class Bounded(pykka.ThreadingActor):
        @staticmethod
        def _create_actor_inbox() -> Any:
            return queue.Queue(maxsize=1)

    actor = Bounded.start()
    with running(MemoryCLI()) as session:
        with pytest.raises(NotSupported, match="maxsize"):
            session.subscribe(actor)
        calling_back: Mailbox[Any] = Mailbox(None, overflow="drop_oldest", on_overflow=print)
        with pytest.raises(InvalidOptions, match="on_overflow"):
            session.subscribe(calling_back, "events")
    actor.stop()


def test_a_port_whose_methods_raise_fails_its_session_and_no_other() -> None:
    class Broken(MemoryCLI):
        def write(self, line: bytes) -> None:
            if b"poison" in line:
                raise LookupError("a bug in this port")
            super().write(line)

    cli, other = Broken(), MemoryCLI()
    with running(other, can_use_tool=allow) as healthy, running(cli) as session:
        turn = session.send("poison")
        with pytest.raises(Exception, match="a bug in this port"):
            turn.result(DEADLINE)
        assert session.wait(DEADLINE) is not None
        works(other, healthy)


def test_a_spawn_that_hangs_holds_up_no_other_session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocking = Blocking()
    popen: Any = subprocess.Popen.__init__

    def slow(process: Any, *args: Any, cwd: Path | None = None, **keywords: Any) -> None:
        if cwd == tmp_path:
            blocking.wait()
        popen(process, *args, cwd=cwd, **keywords)

    monkeypatch.setattr(subprocess.Popen, "__init__", slow)
    short = {"eof_grace": 0.1, "term_grace": 0.1, "kill_grace": 0.1}
    with FakeCLI(script(reply("hello", times=None))) as cli:
        with start_session("hello", cli.options()) as running_before:
            hung = start_session("hello", cli.options(cwd=tmp_path, **short), wait=False)
            assert blocking.entered.wait(DEADLINE)
            with start_session("hello", cli.options()) as started_meanwhile:
                for session in (running_before, started_meanwhile):
                    assert session.send("still there?").result(DEADLINE).result == "hello"
                    assert isinstance(session.stop(), SessionStopped)
        assert isinstance(hung.stop(), SessionStopped)
        blocking.release.set()
