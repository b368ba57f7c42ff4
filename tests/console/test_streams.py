"""Standard streams that are closed, full, or that nobody reads any more: a word at most, a code, never a traceback."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import PROGRAM, invoke

from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.script import WaitFor, reply, script

FULL = Path("/dev/full")
WITHIN = 60.0


@pytest.fixture
def fake() -> Iterator[FakeCLI]:
    with FakeCLI(script(reply("an answer\nof lines", times=None))) as made:
        yield made


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    file = tmp_path / "tasks.jsonl"
    file.write_text('"one"\n"two"\n"three"\n')
    return file


def commands(fake: FakeCLI, tasks: Path) -> list[list[str]]:
    cli = ["--cli", str(fake.cli_path)]
    return [["run", "hello", *cli], ["run", "hello", "--json", *cli], ["fleet", str(tasks), *cli], ["doctor", *cli]]


def run(arguments: list[str], **streams: Any) -> tuple[int, str]:
    """Run the command as a program of its own; return its code and what it says on standard error."""
    done = subprocess.run(
        [*PROGRAM, *arguments],
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **streams},
        stderr=subprocess.PIPE,
        timeout=WITHIN,
        check=False,
    )
    return done.returncode, done.stderr.decode()


def test_it_ends_quietly_when_nobody_reads_on(tasks: Path) -> None:
    # Each task is answered when somebody opens its gate, and that is when the reader has gone.
    with FakeCLI(script(reply(WaitFor("gone"), "an answer", times=None))) as fake:
        arguments = [*PROGRAM, "fleet", str(tasks), "--cli", str(fake.cli_path)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            fake.gates.wait_reached("gone")
            process.stdout.close()
            fake.gates.open("gone")
            told = process.stderr.read().decode()
            assert process.wait(WITHIN) == 1
    assert "Traceback" not in told
    assert "pipe" not in told.lower()
    assert "Usage" not in told


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_told_in_a_line(fake: FakeCLI, tasks: Path) -> None:
    for arguments in commands(fake, tasks):
        with FULL.open("wb") as full:
            code, told = run(arguments, stdout=full)
        assert code == 1, arguments
        assert "claude-actors: input or output failed: [Errno 28]" in told.splitlines()[-1]
        assert "Traceback" not in told
        assert "Usage" not in told


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "0<&- 1>&- 2>&-"])
def test_streams_that_the_caller_has_closed_are_no_trouble(closed: str, fake: FakeCLI, tasks: Path) -> None:
    for arguments in commands(fake, tasks):
        shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, *arguments]
        done = subprocess.run(shell, capture_output=True, stdin=subprocess.DEVNULL, timeout=WITHIN, check=False)
        assert done.returncode == 0, (arguments, done.stderr)
        assert b"Traceback" not in done.stderr


def test_what_is_no_text_is_a_usage_error_that_says_where(tmp_path: Path, fake: FakeCLI) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_bytes(b'"one"\n"\xff"\n')
    cli = ["--cli", str(fake.cli_path)]
    assert "line 2 is no UTF-8 text" in _usage(["fleet", str(file), *cli])
    with file.open("rb") as stdin:
        assert "line 2 is no UTF-8 text" in _usage(["fleet", "-", *cli], stdin=stdin)
    with file.open("rb") as stdin:
        assert "no text" in _usage(["run", *cli], stdin=stdin)
    assert "no text" in _usage(["run", b"\xff".decode(errors="surrogateescape"), *cli])
    assert fake.runs() == []


def test_a_byte_order_mark_is_no_part_of_the_first_task(tmp_path: Path, fake: FakeCLI) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_bytes(b'\xef\xbb\xbf"one"\n')
    assert invoke("fleet", file, "--cli", fake.cli_path).exit_code == 0


def test_results_that_cannot_be_put_where_they_should_are_a_usage_error(
    tmp_path: Path, fake: FakeCLI, tasks: Path
) -> None:
    result = invoke("fleet", tasks, "--output", tmp_path, "--cli", fake.cli_path)
    assert result.exit_code == 2
    assert fake.runs() == []


def _usage(arguments: list[str], **streams: Any) -> str:
    code, told = run(arguments, **streams)
    assert code == 2, told
    assert "Traceback" not in told
    return " ".join(told.split())
