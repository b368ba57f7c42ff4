"""The version gate, on real programs: only a clear "too old" is an obstacle, and nothing is left running."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from claude_actors.cli.prepare import prepare_launch
from claude_actors.cli.version import check_version
from claude_actors.errors import CLINotFound, UnsupportedVersion
from claude_actors.options import Options

ENV = {"PATH": os.defpath}


def program(tmp_path: Path, body: str, name: str = "claude") -> Path:
    path = tmp_path / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("answer", ["2.0.0", "2.1.326 (Claude Code)", "10.0.1", "v2.0.0-beta.1", "claude/2.5.9\nmore"])
def test_a_version_that_is_new_enough_is_told(tmp_path: Path, answer: str) -> None:
    check = check_version(program(tmp_path, f"printf '{answer}'"), ENV)
    assert check.version is not None
    assert check.version in answer
    assert check.warning is None


@pytest.mark.parametrize("answer", ["1.0.128 (Claude Code)", "0.9.9", "1.99.99"])
def test_a_version_that_is_too_old_is_refused(tmp_path: Path, answer: str) -> None:
    with pytest.raises(UnsupportedVersion, match=r"2\.0\.0") as caught:
        check_version(program(tmp_path, f"echo '{answer}'"), ENV)
    assert caught.value.version == answer.split()[0]


@pytest.mark.parametrize(
    ("body", "warning"),
    [
        ("echo hello", "names no version"),
        ("echo 1.0.0; exit 3", "exit code 3"),
        (":", "names no version"),
        ("kill -9 $$", "exit code -9"),
    ],
)
def test_an_answer_that_says_nothing_is_only_a_warning(tmp_path: Path, body: str, warning: str) -> None:
    check = check_version(program(tmp_path, body), ENV)
    assert check.version is None
    assert warning in str(check.warning)


def test_a_program_that_cannot_be_run_is_only_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "claude"
    path.write_text("#!/no/such/interpreter\n")
    path.chmod(0o755)
    assert "could not be run" in str(check_version(path, ENV).warning)
    assert "could not be run" in str(check_version(tmp_path / "missing", ENV).warning)


@pytest.mark.parametrize("closing", ["", "exec >/dev/null;"])
def test_a_program_that_does_not_answer_in_time_is_ended_with_its_children(tmp_path: Path, closing: str) -> None:
    gate, alive = tmp_path / "gate", tmp_path / "alive"
    os.mkfifo(gate)
    os.mkfifo(alive)
    # The program and its child wait for a writer that never comes. Both hold `alive` open, so its end is theirs.
    path = program(tmp_path, f"exec 9>{alive}; echo started >&9; {closing} cat {gate} & cat {gate}")
    listening = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(listening, "rb") as lives:
        check = check_version(path, ENV, timeout=1.0)
        assert "within 1 s" in str(check.warning)
        os.set_blocking(listening, True)
        assert lives.read() == b"started\n"


def test_a_program_that_never_stops_talking_is_not_listened_to(tmp_path: Path) -> None:
    check = check_version(program(tmp_path, "exec yes 2.0.0"), ENV, timeout=0.5)
    assert check.version is None
    assert check.warning is not None


def test_the_program_runs_in_the_childs_environment_without_input(tmp_path: Path) -> None:
    path = program(tmp_path, 'cat > /dev/null; echo "2.0.$PATCH"; test -z "$HOME"')
    assert check_version(path, {**ENV, "PATCH": "7"}).version == "2.0.7"


def test_a_program_is_asked_once_until_it_changes(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    path = program(tmp_path, f"echo x >> {asked}; echo 2.0.0")
    assert [check_version(path, ENV).version for _ in range(3)] == ["2.0.0"] * 3
    assert asked.read_text() == "x\n"
    program(tmp_path, f"echo x >> {asked}; echo 2.22.0")
    assert check_version(path, ENV).version == "2.22.0"


def test_a_program_that_was_too_old_is_asked_again(tmp_path: Path) -> None:
    """The file that was asked may only be a wrapper, and what it starts may have been updated."""
    version = tmp_path / "version"
    path = program(tmp_path, f"cat {version}")
    version.write_text("1.0.0")
    with pytest.raises(UnsupportedVersion):
        check_version(path, ENV)
    version.write_text("2.0.0")
    assert check_version(path, ENV).version == "2.0.0"


def test_preparing_a_launch_finds_asks_and_builds(tmp_path: Path) -> None:
    path = program(tmp_path, "echo 2.3.4")
    launch, check = prepare_launch(Options(cli_path=path, model="opus"), resume="lost")
    assert (launch.argv[0], check.version) == (str(path), "2.3.4")
    assert launch.argv[-2:] == ("--model=opus", "--resume=lost")


def test_preparing_a_launch_refuses_what_is_missing_or_old(tmp_path: Path) -> None:
    with pytest.raises(CLINotFound):
        prepare_launch(Options(cli_path=tmp_path / "missing"))
    with pytest.raises(UnsupportedVersion):
        prepare_launch(Options(cli_path=program(tmp_path, "echo 1.0.0"), settings={"a": 1}))


def test_the_version_check_can_be_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = Options(cli_path=program(tmp_path, "echo 1.0.0"))
    assert prepare_launch(options.replace(skip_version_check=True))[1].version is None
    monkeypatch.setenv("CLAUDE_ACTORS_SKIP_VERSION_CHECK", "1")
    assert prepare_launch(options)[1].version is None
