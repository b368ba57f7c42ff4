"""Sessions that would be started again when they crash, at the moments when they must not be, or must not forget."""

from __future__ import annotations

import threading

import pykka
import pytest
from support.live import DEADLINE, in_thread, next_event

from claude_actors import (
    Backoff,
    Options,
    RestartPolicy,
    Session,
    SessionCompleted,
    SessionFailed,
    SessionRestarted,
    SessionStopped,
    start_session,
)
from claude_actors.actors.session import SessionActor
from claude_actors.cli.launch import Launch
from claude_actors.testing.memory_cli import MemoryCLI

AT_ONCE = RestartPolicy(backoff=Backoff(first=0.0), max_restarts=3, max_seconds=60.0, unanswered="resend")


class Processes:
    """A CLI in memory for each process of a session, in order."""

    def __init__(self, count: int) -> None:
        self.all = [MemoryCLI() for _ in range(count)]
        self._next = iter(self.all)
        self.started = 0

    def options(self) -> Options:
        return Options(port_factory=self._make, control_timeout=DEADLINE)

    def _make(self, launch: Launch) -> MemoryCLI:
        self.started += 1
        return next(self._next)


def started(processes: Processes, policy: RestartPolicy = AT_ONCE) -> Session:
    session = start_session(None, processes.options(), restart=policy, wait=False)
    processes.all[0].accept()
    session.wait_running(DEADLINE)
    return session


def test_stop_all_ends_a_session_that_would_be_restarted_without_restarting_it() -> None:
    for _ in range(20):
        processes = Processes(3)
        session = started(processes)
        session.send("hello")
        pykka.ActorRegistry.stop_all(timeout=DEADLINE)
        assert isinstance(session.final_event, SessionStopped)
        assert processes.started == 1


@pytest.mark.parametrize("victim", ["PortActor", "SessionActor", "SessionKeeper"])
def test_stopping_any_one_of_its_actors_is_a_stop_and_no_crash(victim: str) -> None:
    processes = Processes(3)
    session = started(processes)
    session.send("hello")
    (ref,) = pykka.ActorRegistry.get_by_class_name(victim)
    assert ref.stop(timeout=DEADLINE)
    assert isinstance(session.wait(DEADLINE), SessionStopped)
    assert processes.started == 1


def test_a_stop_while_a_restart_waits_for_its_time_ends_the_session_at_once() -> None:
    processes = Processes(2)
    session = started(processes, RestartPolicy(backoff=Backoff(first=1000.0, most=1000.0)))
    processes.all[0].exit(1)
    next_event(session, SessionRestarted)
    assert isinstance(session.stop(), SessionStopped)
    assert processes.started == 1


def test_a_finish_is_not_forgotten_by_the_next_process_and_waits_for_what_is_asked_again() -> None:
    processes = Processes(2)
    first, second = processes.all
    session = started(processes)
    turn = session.send("hello")
    first.prompted()
    session.finish()
    first.exit(1)
    second.accept()
    second.finish_turn(second.prompted())
    assert turn.result(DEADLINE).result == "done"
    assert isinstance(session.wait(DEADLINE), SessionCompleted)


def test_prompts_that_come_between_two_processes_wait_for_the_second_in_order() -> None:
    for _ in range(20):
        processes = Processes(2)
        first, second = processes.all
        session = started(processes)
        first.exit(1)
        # Some of these find the first process still there, some its actor ending, some nobody.
        turns = [session.send(f"prompt {number}") for number in range(5)]
        second.accept()
        prompts = [second.prompted() for _ in range(5)]
        assert [prompt["message"]["content"] for prompt in prompts] == [f"prompt {number}" for number in range(5)]
        for prompt in prompts:
            second.finish_turn(prompt)
        assert all(turn.result(DEADLINE) for turn in turns)
        session.stop()


def test_a_session_whose_own_actor_failed_starts_again_only_when_the_old_process_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = threading.Event()
    order: list[str] = []

    class Slow(MemoryCLI):
        def stop(self, deadlines: object) -> None:
            """Take its time, as a process does."""
            in_thread(self._end)

        def _end(self) -> None:
            gone.wait(DEADLINE)
            order.append("gone")
            self.exit(None, signal=9)

    processes = Processes(2)
    processes.all[0] = Slow()
    processes._next = iter(processes.all)
    session = started(processes)
    real = SessionActor.on_message

    def fail_once(self: SessionActor, message: object) -> None:
        monkeypatch.setattr(SessionActor, "on_message", real)
        raise LookupError("a bug of ours")

    monkeypatch.setattr(SessionActor, "on_message", fail_once)
    session.send("hello")
    gone.set()
    processes.all[1].accept()
    order.append("started again")
    assert order == ["gone", "started again"]
    second = processes.all[1]
    second.finish_turn(second.prompted())
    session.stop()


def test_a_session_that_crashes_too_often_gives_up_and_tells_every_reason() -> None:
    processes = Processes(4)
    session = started(processes)
    for number, cli in enumerate(processes.all):
        if number:
            cli.accept()
        cli.exit(number + 1)
    final = session.wait(DEADLINE)
    assert isinstance(final, SessionFailed)
    assert [getattr(error, "code", None) for error in (*final.history, final.error)] == [1, 2, 3, 4]
