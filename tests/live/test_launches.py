"""From the search for the program to its process: who is first to say whether it is wanted, and what is left if not."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pykka
import pytest
from support.leaks import is_running, wait_until
from support.live import DEADLINE, passed

from claude_actors import Options, SessionStopped, query, start_session
from claude_actors.actors import preparation, process_port
from claude_actors.actors.preparation import LaunchFailed, Launching, LaunchReady, Preparation, discard_launch
from claude_actors.errors import SpawnFailed
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.script import reply, script


class Gate:
    """Holds up one step of a launch in its thread, and remembers what the step gave."""

    def __init__(self) -> None:
        self.entered, self.release = threading.Event(), threading.Event()
        self.given: list[Any] = []

    def around(self, step: Callable[..., Any], *, before: bool) -> Callable[..., Any]:
        def held(*args: Any, **keywords: Any) -> Any:
            if before:
                self._wait()
            self.given.append(step(*args, **keywords))
            if not before:
                self._wait()
            return self.given[-1]

        return held

    def _wait(self) -> None:
        self.entered.set()
        passed(self.release)


@contextmanager
def held(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, *, before: bool) -> Iterator[Gate]:
    """Hold up the step until the block ends, at the latest."""
    gate = Gate()
    monkeypatch.setattr(where, name, gate.around(getattr(where, name), before=before))
    try:
        yield gate
    finally:
        gate.release.set()


@pytest.fixture
def options() -> Iterator[Options]:
    with FakeCLI(script(reply("hello", times=None))) as cli:
        given = cli.options()
        start_session("hello", given).stop()  # so that its version is known
        yield given


def never_crowded(_relieved: object) -> float:
    return 0.0


def interrupt_when(gate: threading.Event) -> None:
    """Press Ctrl-C when the gate opens."""
    passed(gate)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@pytest.mark.parametrize("first", [True, False], ids=["spawned", "cancelled"])
def test_whether_a_launch_comes_to_a_process_is_said_once(first: bool) -> None:
    launching = Launching()
    assert (launching.go_ahead() if first else launching.cancel()) is True
    for _ in range(2):
        assert launching.go_ahead() is first
        assert launching.cancel() is not first


def test_a_stop_before_the_spawn_is_heeded_at_once_and_nothing_is_spawned(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned: list[object] = []
    monkeypatch.setattr(process_port, "spawn", lambda *args: spawned.append(args))
    with held(monkeypatch, preparation, "prepare_launch", before=False) as gate:
        session = start_session("hello", options, wait=False)
        passed(gate.entered)
        # The launch is still held up.
        assert isinstance(session.stop(DEADLINE), SessionStopped)
    assert wait_until(lambda: not pykka.ActorRegistry.get_all())
    assert spawned == []


def test_a_stop_during_the_spawn_is_over_when_the_process_is_gone_that_came_of_it(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(monkeypatch, process_port, "spawn", before=False) as gate:
        session = start_session("hello", options, wait=False)
        passed(gate.entered)
        session.stop_soon()
        machine = session._record.machine
        assert wait_until(lambda: machine is not None and machine.state.is_final)
        assert session.wait(0) is None
        assert is_running(gate.given[0].pid)
        gate.release.set()
        assert isinstance(session.wait(DEADLINE), SessionStopped)
        assert not is_running(gate.given[0].pid)


def test_a_spawn_that_fails_after_the_stop_ends_the_session_too(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise SpawnFailed(program="claude", reason="no room")

    monkeypatch.setattr(process_port, "spawn", refuse)
    with held(monkeypatch, process_port, "spawn", before=True) as gate:
        session = start_session("hello", options, wait=False)
        passed(gate.entered)
        session.stop_soon()
        gate.release.set()
        assert isinstance(session.wait(DEADLINE), SessionStopped)


def test_a_process_that_comes_up_when_its_session_has_given_it_up_is_ended(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasty = options.replace(eof_grace=0.0, term_grace=0.0, kill_grace=0.0)
    monkeypatch.setattr("claude_actors.actors.session.OVERDUE", 0.1)
    with held(monkeypatch, process_port, "spawn", before=True) as gate:
        session = start_session("hello", hasty, wait=False)
        passed(gate.entered)
        assert isinstance(session.stop(DEADLINE), SessionStopped)
        gate.release.set()
        assert wait_until(lambda: bool(gate.given))
        assert wait_until(lambda: not is_running(gate.given[0].pid))


def test_a_query_that_is_closed_while_its_process_is_spawned_leaves_none(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(monkeypatch, process_port, "spawn", before=False) as gate:
        asked = query("hello", Options(cli_path=options.cli_path))
        reading = threading.Thread(target=lambda: list(asked))
        reading.start()
        passed(gate.entered)
        asked.close()
        gate.release.set()
        reading.join(DEADLINE)
        assert not reading.is_alive()
        assert wait_until(lambda: not is_running(gate.given[0].pid))


@pytest.mark.parametrize("before", [True, False], ids=["before the spawn", "after the spawn"])
def test_a_ctrl_c_in_the_midst_of_a_start_leaves_nothing(
    before: bool, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert threading.current_thread() is threading.main_thread()
    with held(monkeypatch, process_port, "spawn", before=before) as gate:
        hit = threading.Thread(target=interrupt_when, args=(gate.entered,))
        hit.start()
        with pytest.raises(KeyboardInterrupt):
            start_session("hello", options)
        hit.join(DEADLINE)
        gate.release.set()
        assert wait_until(lambda: bool(gate.given) and not is_running(gate.given[0].pid))


def test_a_launch_that_nobody_takes_is_undone(options: Options) -> None:
    wanted = Preparation(options.replace(settings={"model": "x"}), never_crowded, Launching())
    launched = wanted.run()
    assert isinstance(launched, LaunchReady)
    pid = launched.port._process.pid  # type: ignore[attr-defined]
    assert is_running(pid)
    assert discard_launch(launched)
    assert wait_until(lambda: not is_running(pid))
    assert not discard_launch("another message")
    cancelled = Preparation(options, never_crowded, (launching := Launching()))
    launching.cancel()
    failed = cancelled.run()
    assert isinstance(failed, LaunchFailed)
    assert "stopped before" in str(failed.error)
    assert discard_launch(failed)
