"""Two hundred idle sessions on processes of their own: no thread each, no CPU, all at work when asked, a clean end."""

from __future__ import annotations

import threading
import time

from support.live import DEADLINE, in_thread, joined

from claude_actors import Session, SessionStopped, start_session
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Echo
from claude_actors.testing.script import reply, script

SESSIONS = 200
#: The reactor, its helper, the log's writer, and up to sixteen idle tasks: shared by all sessions.
SHARED_THREADS = 19


def started(cli: FakeCLI) -> list[Session]:
    """Start them, a few at a time, as a service would."""
    sessions: list[Session] = []

    def start() -> None:
        # The machine may be busy; a start that takes long is no failure here.
        patient = cli.options(initialize_timeout=60.0)
        sessions.extend([start_session(None, patient) for _ in range(SESSIONS // 4)])

    joined_late(*(in_thread(start) for _ in range(4)))
    return sessions


def joined_late(*threads: threading.Thread) -> None:
    for thread in threads:
        thread.join(4 * DEADLINE)
        assert not thread.is_alive()


def test_two_hundred_idle_sessions_cost_no_thread_each_and_no_cpu_work_when_asked_and_stop_cleanly() -> None:
    threads_before = threading.active_count()
    with FakeCLI(script(reply(Echo(), times=None))) as cli:
        sessions = started(cli)
        assert [session.state for session in sessions] == ["running"] * SESSIONS
        assert len({session.pid for session in sessions}) == SESSIONS
        assert threading.active_count() - threads_before <= SHARED_THREADS

        spent = time.process_time()
        threading.Event().wait(0.5)  # not for anything: this is the idleness that is measured
        assert time.process_time() - spent < 0.1

        turns = [session.send(str(number)) for number, session in enumerate(sessions)]
        assert [turn.result(4 * DEADLINE).result for turn in turns] == [str(number) for number in range(SESSIONS)]

        for session in sessions:
            session.stop_soon()
        finals = [session.wait(4 * DEADLINE) for session in sessions]
        assert finals == [SessionStopped("stop requested")] * SESSIONS


def test_an_idle_session_holds_no_thread_of_its_own() -> None:
    with FakeCLI(script(reply(Echo(), times=None))) as cli, start_session(None, cli.options()) as first:
        first.send("hello").result(DEADLINE)
        before = {thread.ident for thread in threading.enumerate()}
        with start_session(None, cli.options()) as second:
            assert second.send("hello").result(DEADLINE).result == "hello"
            added = {thread.name for thread in threading.enumerate() if thread.ident not in before}
            assert {name for name in added if not name.startswith(("HookTask", "claude-actors-log"))} == set()


def test_waiting_consumers_of_many_idle_sessions_are_woken_by_their_own_only() -> None:
    with FakeCLI(script(reply(Echo(), times=None))) as cli:
        sessions = [start_session(None, cli.options()) for _ in range(10)]
        heard: dict[int, list[str]] = {number: [] for number in range(10)}

        def listen(number: int) -> None:
            heard[number].extend(message.type for message in sessions[number].messages())

        threads = [in_thread(listen, number) for number in range(10)]
        sessions[3].send("hello").result(DEADLINE)
        for session in sessions:
            session.stop()
        joined(*threads)
        assert [number for number, types in heard.items() if "assistant" in types] == [3]
