"""TaskActor: user code in a thread of its own, and nothing of it outside."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pykka
import pytest
from pykka import ActorDeadError

from claude_actors.actors.base import ActorEnded
from claude_actors.actors.task_base import TaskActor

DEADLINE = 30.0


class Worker(TaskActor):
    def on_message(self, message: Any) -> Any:
        return message() if callable(message) else message


def supervised() -> tuple[pykka.ActorRef[Worker], list[ActorEnded], threading.Event]:
    reports: list[ActorEnded] = []
    came = threading.Event()

    def supervisor(ended: ActorEnded) -> None:
        reports.append(ended)
        came.set()

    return Worker.start(supervisor=supervisor), reports, came


def test_a_task_runs_in_its_own_daemon_thread() -> None:
    ref = Worker.start()
    thread: Any = ref.ask(threading.current_thread, timeout=DEADLINE)
    assert thread is not threading.current_thread()
    assert thread.daemon
    ref.stop()


def test_system_exit_in_a_task_stops_no_other_actor_and_is_reported_once() -> None:
    other = Worker.start()
    ref, reports, came = supervised()
    ref.tell(lambda: sys.exit(5))
    assert came.wait(DEADLINE)
    assert other.ask("alive", timeout=DEADLINE) == "alive"
    assert isinstance(reports[0].reason, SystemExit)
    assert ref.stop() is False
    assert len(reports) == 1
    other.stop()


def test_keyboard_interrupt_from_an_asked_task_reaches_the_asker_as_a_dead_actor() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    ref, reports, came = supervised()
    with pytest.raises(ActorDeadError):
        ref.ask(interrupt, timeout=DEADLINE)
    assert came.wait(DEADLINE)
    assert isinstance(reports[0].reason, KeyboardInterrupt)


def test_an_exception_of_an_asked_task_goes_to_the_asker_and_the_task_lives_on() -> None:
    ref = Worker.start()
    with pytest.raises(ZeroDivisionError):
        ref.ask(lambda: 1 / 0, timeout=DEADLINE)
    assert ref.ask("alive", timeout=DEADLINE) == "alive"
    ref.stop()


def test_what_is_queued_behind_a_failure_is_answered_as_dead() -> None:
    ref, _reports, came = supervised()
    gate = threading.Event()
    ref.tell(lambda: gate.wait(DEADLINE))
    ref.tell(lambda: 1 / 0)
    answer = ref.ask("behind", block=False)
    gate.set()
    with pytest.raises(ActorDeadError):
        answer.get(timeout=DEADLINE)
    assert came.wait(DEADLINE)


def test_a_failing_on_start_is_reported() -> None:
    class Stillborn(Worker):
        def on_start(self) -> None:
            raise RuntimeError("no")

    reports: list[ActorEnded] = []
    ref = Stillborn.start(supervisor=reports.append)
    assert ref.actor_stopped.wait(DEADLINE)
    ref.stop()
    assert str(reports[0].reason) == "no"
