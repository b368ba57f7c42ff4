"""ProcessPort: spawning, reading, exits. Its writer and its ending have files of their own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from support.leaks import is_running
from support.ports import ECHO, CollectingSink, python, started

from claude_actors.actors import exit_watch, process_port
from claude_actors.actors.port_types import KILL_NOW, PortExit, StopDeadlines
from claude_actors.actors.process_port import ProcessPort
from claude_actors.actors.warden import COOKIE_NAME
from claude_actors.errors import SpawnFailed

PATIENT = StopDeadlines(eof=30.0, term=30.0, kill=30.0)


def test_what_is_written_comes_back_from_an_echoing_process_and_end_of_input_ends_it() -> None:
    port, sink = started(ECHO)
    port.write(b"before the spawn\n")
    sink.pid()
    port.write(b"after it\n")
    assert sink.lines(2) == [b"before the spawn", b"after it"]
    port.close_input()
    assert sink.exit() == PortExit(code=0)
    assert sink.kinds[0] == "spawned"


@pytest.mark.parametrize("code", [0, 1, 143])
def test_an_exit_code_is_reported_as_it_is(code: int) -> None:
    _port, sink = started(f"raise SystemExit({code})")
    assert sink.exit() == PortExit(code=code)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_death_by_a_signal_is_reported_as_that_signal(number: int) -> None:
    _port, sink = started(f"import os; os.kill(os.getpid(), {int(number)})")
    assert sink.exit() == PortExit(signal=number)


def test_everything_a_process_wrote_before_it_died_is_received_before_its_exit() -> None:
    _port, sink = started("""
        import os
        os.set_blocking(1, True)
        for _ in range(64):
            os.write(1, b"x" * 65536)
        os.write(1, b"last")
        os._exit(7)
    """)
    assert sink.exit() == PortExit(code=7)
    assert len(sink.output) == 64 * 65536 + 4
    assert sink.output.endswith(b"last")


def test_error_output_is_kept_apart_from_output() -> None:
    _port, sink = started("import os; os.write(1, b'out'); os.write(2, b'err')")
    sink.exit()
    assert sink.output == b"out"
    assert sink.first("stderr") == b"err"


@pytest.mark.parametrize("by_thread", [False, True])
def test_an_exit_is_noticed_with_and_without_process_handles(by_thread: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if by_thread:
        monkeypatch.setattr(exit_watch, "open_pidfd", lambda _pid: None)
    port, sink = started(ECHO)
    sink.pid()
    port.stop(PATIENT)
    assert sink.exit() == PortExit(code=0)


def test_a_process_that_somebody_else_has_reaped_ends_with_an_unknown_exit() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        port, sink = started(ECHO)
        port.close_input()
        assert sink.exit() == PortExit()
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_program_that_does_not_exist_fails_to_spawn_and_says_which() -> None:
    port, sink = ProcessPort(["/nowhere/claude"], env={}), CollectingSink()
    port.start(sink)
    error = sink.first("spawn_failed")
    assert isinstance(error, SpawnFailed)
    assert "/nowhere/claude" in str(error)
    assert sink.kinds == ["spawn_failed"]


def test_a_file_that_is_not_executable_fails_to_spawn(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("not a program")
    port, sink = ProcessPort([str(program)], env={}), CollectingSink()
    port.start(sink)
    assert "Permission denied" in str(sink.first("spawn_failed"))


def test_a_directory_that_does_not_exist_fails_to_spawn_and_is_named(tmp_path: Path) -> None:
    port, sink = ProcessPort(python("pass"), env={}, cwd=tmp_path / "gone"), CollectingSink()
    port.start(sink)
    assert "gone" in str(sink.first("spawn_failed"))


def test_a_process_gets_the_environment_it_was_given_and_its_cookie_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_PARENT", "x")
    monkeypatch.delenv(COOKIE_NAME, raising=False)
    port = ProcessPort(python("import os; print(sorted(os.environ), os.getcwd())"), env={"A": "1"}, cwd=tmp_path)
    sink = CollectingSink()
    port.start(sink)
    sink.exit()
    names = sink.output.decode()
    assert "SECRET" not in names
    assert f"'A', '{COOKIE_NAME}'" in names
    assert str(tmp_path) in names


def test_the_cookie_of_an_outer_session_is_kept_beside_the_own_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COOKIE_NAME, "outer")
    _port, sink = started(f"import os; print(os.environ['{COOKIE_NAME}'])")
    sink.exit()
    assert sink.output.startswith(b"outer:")


def test_a_process_has_a_session_and_a_group_of_its_own() -> None:
    _port, sink = started("import os; print(os.getpid(), os.getpgid(0), os.getsid(0), sep='\\n')")
    sink.exit()
    assert len(set(sink.numbers(3))) == 1


def test_a_stopped_port_that_was_never_spawned_says_so_and_starts_nothing() -> None:
    port, sink = ProcessPort(python("pass"), env={}), CollectingSink()
    port.stop(PATIENT)
    port.start(sink)
    assert "stopped before" in str(sink.first("spawn_failed"))
    assert sink.kinds == ["spawn_failed"]


def test_a_stop_at_any_moment_of_the_start_ends_in_exactly_one_last_report() -> None:
    for _ in range(20):
        port, sink = started(ECHO)
        port.stop(KILL_NOW)
        assert sink.ending() in ("exited", "spawn_failed")


def test_a_process_that_closes_its_output_and_stays_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_port, "_LAST_WORDS_TO_EXIT", 0.05)
    _port, sink = started("import os, signal; os.close(1); signal.pause()")
    assert sink.exit() == PortExit(signal=signal.SIGTERM)


def test_a_descendant_that_cannot_be_found_does_not_hold_up_the_exit_by_holding_the_output() -> None:
    _port, sink = started("""
        import os, sys
        if os.fork() == 0:
            os.setsid()
            says_pid = "import os, signal; print(os.getpid(), flush=True); signal.pause()"
            os.execve(sys.executable, [sys.executable, "-ISc", says_pid], {})
        os.read(0, 1)
    """)
    (stranger,) = sink.numbers()
    os.kill(sink.pid(), signal.SIGKILL)
    assert sink.exit() == PortExit(signal=signal.SIGKILL)
    assert is_running(stranger)
    os.kill(stranger, signal.SIGKILL)
