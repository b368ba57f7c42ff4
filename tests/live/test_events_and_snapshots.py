"""What a session tells of itself: its events in order, the final one once, and its numbers at any moment."""

from __future__ import annotations

import threading
import time
from typing import Any

from support.leaks import wait_until
from support.live import DEADLINE, in_thread, joined, next_event, running, taken_in

from claude_actors import (
    Allow,
    Approvals,
    CallbackContext,
    Hooks,
    LifecycleChanged,
    Session,
    SessionCompleted,
    SessionFailed,
    SessionStarted,
    SessionStopped,
    StateChanged,
    TurnFinished,
    TurnStarted,
    start_session,
)
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.script import UseTool, WaitFor, reply, script


def told(session: Session) -> list[Any]:
    """Every event, as something short."""
    short: list[Any] = []
    for event in session.events():
        match event:
            case LifecycleChanged() | StateChanged():
                short.append(event.state)
            case TurnFinished(subtype=subtype):
                short.append(("finished", subtype))
            case _:
                short.append(type(event))
    return short


def test_a_session_tells_of_its_start_its_turns_its_state_and_its_end_in_order() -> None:
    with (
        FakeCLI(script(reply(UseTool("Bash", {"command": "touch here"})), "done")) as cli,
        start_session("go", cli.options(can_use_tool=lambda request, ctx: Allow())) as session,
    ):
        assert session.last_turn is not None
        session.last_turn.result(DEADLINE)
        session.finish()
        assert isinstance(session.wait(DEADLINE), SessionCompleted)
    assert told(session) == [
        "init_sent",
        "running",
        SessionStarted,
        "running",
        TurnStarted,
        "requires_action",
        "running",
        ("finished", "success"),
        "idle",
        "stopped",
        SessionCompleted,
    ]


def test_the_final_event_is_the_last_and_the_only_one_however_it_ends() -> None:
    def stop(cli: MemoryCLI, session: Session) -> None:
        joined(*(in_thread(session.stop) for _ in range(4)))

    def crash(cli: MemoryCLI, session: Session) -> None:
        cli.exit(1)

    def complete(cli: MemoryCLI, session: Session) -> None:
        cli.exit(0)

    def race(cli: MemoryCLI, session: Session) -> None:
        joined(in_thread(session.stop), in_thread(cli.exit, 1), in_thread(session.finish))

    for end in (stop, crash, complete, race) * 10:
        cli = MemoryCLI()
        with running(cli) as session:
            end(cli, session)
            assert session.wait(DEADLINE) is not None
        finals = [type(event) for event in session.events() if isinstance(event, FINAL)]
        assert finals == [type(session.final_event)]


FINAL = (SessionCompleted, SessionStopped, SessionFailed)


def test_what_the_cli_says_of_itself_is_there_after_the_start() -> None:
    cli = MemoryCLI(pid=77)
    session = start_session(None, cli.options(), wait=False)
    assert (session.server_info(), session.pid, session.session_id) == (None, None, None)
    cli.accept(pid=77, commands=[{"name": "compact"}], novelty={"x": 1})
    started = next_event(session, SessionStarted)
    assert session.server_info() == started.server_info
    assert started.server_info.raw["novelty"] == {"x": 1}
    assert session.pid == 77
    session.stop()
    assert session.pid is None


def test_a_snapshot_counts_what_is_open_and_what_has_passed() -> None:
    hooks, cli, release = Hooks(), MemoryCLI(spawn=False), threading.Event()

    @hooks.pre_tool_use()
    def waits(event: Any, ctx: CallbackContext) -> None:
        release.wait(DEADLINE)

    before = time.monotonic()
    session = start_session(None, cli.options(hooks=hooks, can_use_tool=Approvals()), wait=False)
    assert session.snapshot().state == "starting"
    session.send("one")
    asking = in_thread(session.control, "anything")
    assert wait_until(lambda: session.snapshot().queued_operations == 2)
    cli.spawned()
    cli.accept()
    request = cli.requested("anything")
    hook = cli.call_hook()
    cli.ask_permission("Write")
    session.permissions().get(DEADLINE)
    now = session.snapshot()
    assert (now.state, now.open_turns, now.queued_operations) == ("running", 1, 0)
    assert (now.pending_requests, now.pending_callbacks, now.pending_permissions) == (1, 2, ("Write",))
    assert (now.abandoned_callbacks, now.restarts, now.running_tasks) == (0, 0, 0)
    assert 0 <= now.uptime <= time.monotonic() - before
    cli.answer(request)
    joined(asking)
    release.set()
    cli.answered(hook)
    cli.push_frame({"type": "system", "subtype": "session_state_changed", "state": "idle", "session_id": "s"})
    cli.push(b"junk\n")
    taken_in(cli, session)
    later = session.snapshot()
    assert (later.pending_requests, later.pending_callbacks, later.cli_state) == (0, 1, "idle")
    counters = later.counters
    assert (counters.requests_sent, counters.callbacks_started, counters.callbacks_answered) == (2, 2, 1)
    assert (counters.messages, counters.junk_lines, later.messages.waiting) == (1, 1, 1)
    # A snapshot is of its moment.
    assert now.pending_requests == 1
    session.stop()
    last = session.snapshot()
    assert (last.state, last.pending_callbacks, last.pending_permissions, last.open_turns) == ("stopped", 0, (), 0)


def test_a_session_has_a_short_face_in_logs() -> None:
    with FakeCLI(script("hello", reply(WaitFor("never")))) as cli, start_session("hi", cli.options()) as session:
        assert session.last_turn is not None
        session.last_turn.result(DEADLINE)
        assert repr(session) == f"<Session {session.session_id} running>"
        assert repr(session.last_turn) == f"<Turn {session.last_turn.uuid} done>"
        assert repr(session.send("more")).endswith("open>")
