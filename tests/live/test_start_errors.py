"""Why a session cannot start: each reason has its own error, the more telling one first, and nothing is left behind."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.live import DEADLINE

from claude_actors import (
    CLINotFound,
    ExitedDuringStart,
    Fleet,
    Hooks,
    InitializationFailed,
    InitializationTimeout,
    InvalidOptions,
    LifecycleChanged,
    Options,
    SessionEnded,
    SessionFailed,
    SpawnFailed,
    StartError,
    StartTimeout,
    UnsupportedVersion,
    query,
    start_session,
)
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import AnswerControl, Die, Hang, IgnoreEof, IgnoreTerm, Stderr, VersionAnswer
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.script import WaitFor, reply, script

#: The CLI never answers; the test waits for this long.
SOON = 0.3


def error_of(options: Options) -> Exception:
    with pytest.raises(StartError) as raised:
        start_session("hello", options)
    return raised.value


def test_a_program_that_is_not_there_is_not_found_and_the_error_says_where_it_was_looked_for(tmp_path: Path) -> None:
    error = error_of(Options(cli_path=tmp_path / "claude"))
    assert isinstance(error, CLINotFound)
    assert error.searched == (str(tmp_path / "claude"),)


def test_a_program_that_is_not_executable_cannot_be_spawned(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\n")
    error = error_of(Options(cli_path=program))
    assert isinstance(error, SpawnFailed)
    assert error.program == str(program)
    assert "not executable" in error.reason


@pytest.mark.parametrize("content", ["#!/nowhere/interpreter\n", "no program at all\n"])
def test_a_program_that_the_system_refuses_to_run_cannot_be_spawned(tmp_path: Path, content: str) -> None:
    program = tmp_path / "claude"
    program.write_text(content)
    program.chmod(0o755)
    assert isinstance(error_of(Options(cli_path=program)), SpawnFailed)


def test_a_working_directory_that_is_not_there_cannot_be_spawned_in(tmp_path: Path) -> None:
    with FakeCLI() as cli:
        error = error_of(cli.options(cwd=tmp_path / "nowhere"))
    assert isinstance(error, SpawnFailed)
    assert "nowhere" in str(error)


def test_a_version_below_the_minimum_is_refused_before_anything_is_started() -> None:
    with FakeCLI(script(version=VersionAnswer("1.0.128 (Claude Code)"))) as cli:
        error = error_of(cli.options())
        assert isinstance(error, UnsupportedVersion)
        assert error.version == "1.0.128"
        assert cli.runs() == []


@pytest.mark.parametrize("answer", [VersionAnswer("what?"), VersionAnswer(code=1), VersionAnswer(until="never")])
def test_a_version_that_cannot_be_learnt_is_no_obstacle(answer: VersionAnswer) -> None:
    with FakeCLI(script("hello", version=answer)) as cli, start_session("hi", cli.options()) as session:
        assert session.last_turn is not None
        assert session.last_turn.result(DEADLINE).result == "hello"


def test_a_cli_that_does_not_know_our_options_is_too_old_whatever_its_version_says() -> None:
    with FakeCLI(script(unknown_options=("--input-format",))) as cli:
        error = error_of(cli.options())
    assert isinstance(error, UnsupportedVersion)
    assert "unknown option" in error.detail


COMPLAINT = Stderr(("error: unknown option '--verbose'",))
TALKING = Stderr(("something is wrong here",))


@pytest.mark.parametrize(
    ("steps", "controls", "expected"),
    [
        ((COMPLAINT, Die(1)), (), UnsupportedVersion),
        ((COMPLAINT,), (AnswerControl("initialize", "error", error="no"),), UnsupportedVersion),
        ((TALKING,), (AnswerControl("initialize", "error", error="no"),), InitializationFailed),
        ((TALKING,), (AnswerControl("initialize", "die"),), ExitedDuringStart),
        ((TALKING, Die(0)), (), ExitedDuringStart),
        ((TALKING, Die(7)), (), ExitedDuringStart),
    ],
)
def test_the_more_telling_error_comes_first(steps: Any, controls: Any, expected: type[StartError]) -> None:
    with FakeCLI(script(on_start=steps, controls=controls)) as cli:
        error = error_of(cli.options())
    assert type(error) is expected
    if expected is not UnsupportedVersion:
        assert getattr(error, "stderr_tail", None) == TALKING.lines
        assert "something is wrong here" in str(error)


@pytest.mark.parametrize(("said", "expected"), [(COMPLAINT, UnsupportedVersion), (TALKING, InitializationTimeout)])
def test_what_was_said_before_a_timeout_is_in_its_error(said: Stderr, expected: type[StartError]) -> None:
    cli = MemoryCLI(spawn=False)
    session = start_session("hello", cli.options(initialize_timeout=SOON), wait=False)
    cli.push_stderr("\n".join(said.lines).encode() + b"\n")
    cli.spawned()
    with pytest.raises(expected, match=said.lines[0]):
        session.wait_running(DEADLINE)


@pytest.mark.parametrize("steps", [(Hang(),), (IgnoreTerm(), IgnoreEof(), Hang())])
def test_a_program_that_never_answers_is_ended_whatever_it_ignores(steps: Any) -> None:
    graces = {"eof_grace": 0.05, "term_grace": 0.05, "initialize_timeout": SOON}
    with FakeCLI(script(on_start=steps)) as cli:
        error = error_of(cli.options(**graces))
    assert isinstance(error, InitializationTimeout)
    assert error.after == SOON


def test_an_initialization_error_says_what_the_cli_said() -> None:
    with FakeCLI(script(controls=(AnswerControl("initialize", "error", error="hooks are forbidden"),))) as cli:
        error = error_of(cli.options())
    assert isinstance(error, InitializationFailed)
    assert error.reason == "hooks are forbidden"


def test_a_session_that_did_not_wait_for_its_start_tells_the_reason_in_every_way() -> None:
    with FakeCLI(script(on_initialize=(WaitFor("go"), Die(3)))) as cli:
        session = start_session("hello", cli.options(), wait=False)
        with pytest.raises(StartTimeout):
            session.wait_running(timeout=0)
        cli.gates.open("go")
        final = session.wait(DEADLINE)
        assert isinstance(final, SessionFailed)
        assert isinstance(final.error, ExitedDuringStart)
        with pytest.raises(ExitedDuringStart):
            list(session.messages())
        with pytest.raises(SessionEnded) as raised:
            session.send("more")
        assert isinstance(raised.value.__cause__, ExitedDuringStart)
        states = [event.state for event in session.events() if isinstance(event, LifecycleChanged)]
        assert states == ["init_sent", "failed"]


def test_a_port_factory_that_raises_cannot_spawn_and_one_that_raises_ours_is_heard() -> None:
    def broken(launch: object) -> object:
        raise LookupError("no port here")

    def refused(launch: object) -> object:
        raise UnsupportedVersion(version="0.1", minimum="2.0.0")

    error = error_of(Options(port_factory=broken))
    assert isinstance(error, SpawnFailed)
    assert "no port here" in str(error)
    assert isinstance(error_of(Options(port_factory=refused)), UnsupportedVersion)


def test_a_port_that_fails_to_start_or_exits_at_once_is_told() -> None:
    for act, expected in ((lambda cli: cli.fail_to_spawn(OSError("no room")), SpawnFailed), (exit_at_once, StartError)):
        cli = MemoryCLI(spawn=False)
        session = start_session(None, cli.options(), wait=False)
        act(cli)
        with pytest.raises(expected):
            session.wait_running(DEADLINE)


def exit_at_once(cli: MemoryCLI) -> None:
    cli.spawned(1)
    cli.exit(2)


def test_options_that_cannot_be_served_fail_the_start_by_name() -> None:
    cli = MemoryCLI()
    with pytest.raises(InvalidOptions, match="local"):
        start_session(None, cli.options(mcp_servers={"local": 5}, hooks=Hooks()))


def test_a_start_that_fails_a_hundred_times_leaves_nothing(tmp_path: Path) -> None:
    # What would be left is found by the fixture that looks after every test.
    for number in range(100):
        assert isinstance(error_of(Options(cli_path=tmp_path / f"{number}")), CLINotFound)


def no_more_files(*_: object) -> int:
    raise OSError(errno.EMFILE, "Too many open files")


def no_more_threads(*_: object) -> None:
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize(
    ("where", "name", "refuse"),
    [(os, "eventfd", no_more_files), (threading.Thread, "start", no_more_threads)],
    ids=["files", "threads"],
)
@pytest.mark.parametrize("start", [start_session, lambda prompt, options: list(query(prompt, options))])
def test_a_process_that_has_no_more_files_or_threads_for_the_runtime_cannot_spawn(
    start: Callable[..., object], where: Any, name: str, refuse: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeCLI(script(reply("hello"))) as cli:
        with monkeypatch.context() as patch:
            patch.setattr(where, name, refuse)
            with pytest.raises(SpawnFailed, match=r"Too many open files|can't start new thread"):
                start("hello", cli.options())
        with start_session("hello", cli.options()) as session:
            assert session.last_turn is not None
            assert session.last_turn.result(DEADLINE).result == "hello"


def test_options_in_the_place_of_the_prompt_are_refused_in_words_that_help() -> None:
    with pytest.raises(InvalidOptions, match=r"start_session\(options="):
        start_session(Options())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "start",
    [
        lambda given: start_session(options=given),
        lambda given: query("hello", given),
        lambda given: Fleet(options=given),
    ],
)
def test_what_is_no_options_is_refused_before_anything_is_started(start: Callable[[Any], object]) -> None:
    with pytest.raises(InvalidOptions, match="must be an Options, not dict"):
        start({"model": "sonnet"})
