"""The demonstration keeps its promises, says so, and fails when one is broken."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.commands import at_terminal, invoke

from claude_actors import Deny
from claude_actors.demo import acts, play, scripts
from claude_actors.demo.account import Account, PromiseBroken
from claude_actors.demo.play import run_demo
from claude_actors.testing.real_cli import bundled_cli
from claude_actors.testing.script import reply

PROMISES = [
    "the hook saw the command",
    "the model was told why it may not",
    "the directory is still there",
    "nothing is written while the question is open",
    "the answer was in time",
    "the file is written, by Ada",
    "total(items: list[Item]) was called with two Items",
    "the model was given 22.6",
    "the turn ended in the middle of its sentence",
    "the session went on",
    "a new CLI has taken up the conversation",
    "it is another process",
    "it is the same session",
    "it knows what was said before",
    "the open prompt was asked again and answered",
    "the hook is back: it refused the command again",
    "Bob finished his turn in the same process",
    "task-3 is at work",
    "all tasks are done",
    "the killed one was tried again",
    "a second fleet on the journal knows every result",
    "and has run nothing twice",
    "none of the processes is running",
    "no file is left",
]
NO_EXTRAS = (
    "import sys; sys.modules.update(typer=None, rich=None, mcp=None); "
    "from claude_actors.demo.__main__ import main; sys.exit(main())"
)


def test_every_promise_is_kept_in_order_with_its_line() -> None:
    lines: list[str] = []
    assert run_demo(Account(lines.append))
    told = "\n".join(lines)
    places = [told.find(f"   ok        {promise}\n") for promise in PROMISES]
    assert -1 not in places, PROMISES[places.index(-1)]
    assert places == sorted(places)
    assert "FAILED" not in told
    assert "kept in 7 acts" in lines[-1]
    assert max(map(len, lines)) <= 110
    assert "\x1b" not in told


def test_the_command_exits_with_0_and_leaves_no_file(tmp_path: Path) -> None:
    env = {"TMPDIR": str(tmp_path), "PATH": os.defpath}
    with at_terminal("demo", env=env) as terminal:
        terminal.expect("no key, no network")
        terminal.expect("1. A hook refuses a command")
        terminal.expect("promises kept")
        assert terminal.wait() == 0
    assert list(tmp_path.iterdir()) == []
    assert b"\x1b[32m" in terminal.raw


def test_it_is_plain_where_colour_is_not_wanted() -> None:
    with at_terminal("demo", env={"NO_COLOR": "1"}) as terminal:
        assert terminal.wait() == 0
    assert b"\x1b" not in terminal.raw


def test_it_needs_nothing_but_the_core() -> None:
    done = subprocess.run([sys.executable, "-c", NO_EXTRAS], check=False, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    assert "promises kept" in done.stdout


def test_it_ends_quietly_when_nobody_reads_on() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "claude_actors.demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


@pytest.mark.parametrize("arguments", [["--cli", "/no/such/claude"]])
def test_without_the_cli_that_was_asked_for_it_says_so(arguments: list[str]) -> None:
    result = invoke("demo", *arguments)
    assert result.exit_code == 3
    assert "/no/such/claude" in result.stderr


def test_a_broken_promise_is_told_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acts.Rules, "_guard", lambda self, event, ctx: Deny("without a trace"))
    lines: list[str] = []
    assert not run_demo(Account(lines.append))
    assert "   FAILED    the hook saw the command" in lines
    assert lines[-1].startswith("The demonstration failed: PromiseBroken: the hook saw the command")


def test_a_session_that_cannot_go_on_fails_the_demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "CONVERSATION", (reply("nothing else"),))
    monkeypatch.setattr(play, "_start", _refuse)
    lines: list[str] = []
    assert not run_demo(Account(lines.append))
    assert lines[-1] == "The demonstration failed: TimeoutError: too slow"


def _refuse(*_given: object, **_named: object) -> None:
    raise TimeoutError("too slow")


def test_a_check_that_fails_tells_what_was_found_instead() -> None:
    account = Account(lambda line: None)
    with pytest.raises(PromiseBroken, match="it is blue; instead: 'red'"):
        account.check(False, "it is blue", "red")
    assert account.kept == 0


@pytest.mark.real_cli
def test_the_same_is_true_on_the_real_cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lines: list[str] = []
    assert run_demo(Account(lines.append), bundled_cli()), lines[-1]
    assert [line.removeprefix("   ok        ") for line in lines if line.startswith("   ok ")].count(PROMISES[0]) == 1
    assert list(tmp_path.iterdir()) == []
