"""`claude-actors run` in a real terminal: streaming, questions, Ctrl-C."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import at_terminal
from support.leaks import is_running, wait_until
from support.terminal import CTRL_C, CTRL_D

from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import AnswerControl, Hang, IgnoreTerm
from claude_actors.testing.real_cli import RealCLI
from claude_actors.testing.script import Say, Script, UseTool, WaitFor, reply, script

MAKE = UseTool("Bash", {"command": "make all"}, result="made")
QUESTION = "? Bash asks for permission"


@pytest.fixture
def fake() -> Iterator[FakeCLI]:
    with FakeCLI() as fake:
        yield fake


def played(fake: FakeCLI, given: Script) -> FakeCLI:
    fake.play(given)
    return fake


def told(fake: FakeCLI) -> list[str]:
    """What the model was told with each request."""
    return [note["text"] for note in fake.runs()[0].of("api_request")]


def test_words_are_shown_while_they_are_said(fake: FakeCLI) -> None:
    played(fake, script(reply(Say("first words, then the last", chunks=2, wait_for="rest"))))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        terminal.expect("first words")
        assert "the last" not in terminal.screen
        fake.gates.open("rest")
        terminal.expect("the last")
        terminal.expect("done · 1 turn")
        assert terminal.wait() == 0
    assert terminal.screen.count("first words") == 1


def test_only_the_answer_goes_to_a_file(fake: FakeCLI, tmp_path: Path) -> None:
    played(fake, script(reply(UseTool("Glob", {"pattern": "*"}, result="a")), "the answer"))
    with (
        (tmp_path / "answer.txt").open("wb") as file,
        at_terminal("run", "go", "--cli", fake.cli_path, stdout=file.fileno()) as terminal,
    ):
        terminal.expect("● Glob *")
        terminal.expect("done")
        assert terminal.wait() == 0
    assert (tmp_path / "answer.txt").read_text() == "the answer\n"
    assert "the answer" not in terminal.screen


# --- questions ---


def test_a_question_shows_all_that_the_tool_would_do_and_yes_lets_it(fake: FakeCLI, tmp_path: Path) -> None:
    write = UseTool("Write", {"file_path": "a.txt", "content": "one\ntwo\x1b[2J"})
    played(fake, script(reply(write), "written"))
    with at_terminal("run", "go", "--cli", fake.cli_path, "--cwd", tmp_path) as terminal:
        terminal.expect("? Write asks for permission")
        shown = terminal.expect("answer: ")
        assert f"file_path: {tmp_path / 'a.txt'}" in shown
        assert "content: one\n        two\n" in shown
        assert not (tmp_path / "a.txt").exists()
        terminal.enter("y")
        terminal.expect("allowed")
        terminal.expect("written")
        assert terminal.wait() == 0
    assert (tmp_path / "a.txt").read_text().startswith("one\ntwo")
    assert b"\x1b[2J" not in terminal.raw


def test_no_denies_and_words_after_it_reach_the_model(fake: FakeCLI) -> None:
    played(fake, script(reply(MAKE), "as you like"))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        terminal.expect(QUESTION)
        terminal.expect("answer: ")
        terminal.enter("n use ninja instead")
        terminal.expect("denied")
        assert terminal.wait() == 0
    assert "the user denied it: use ninja instead" in told(fake)[1]


def test_what_is_no_clear_answer_is_asked_again(fake: FakeCLI) -> None:
    played(fake, script(reply(MAKE), "as you like"))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        terminal.expect("answer: ")
        for unclear in ("", "maybe", "yes please", "9"):
            terminal.enter(unclear)
            terminal.expect("please answer y, n, a number, or v: ")
        terminal.enter("no")
        terminal.expect("denied")
        assert terminal.wait() == 0


def test_always_takes_up_the_suggested_rule_so_that_it_is_not_asked_again(fake: FakeCLI) -> None:
    again = UseTool("Bash", {"command": "make all -j2"}, result="made twice")
    played(fake, script(reply(MAKE), reply(again), "all made"))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        terminal.expect("a  allow it, and always allow Bash(make all *) (kept in localSettings)")
        terminal.expect("3  allow it, and switch to the permission mode acceptEdits (for this session)")
        terminal.expect("answer: ")
        terminal.enter("a")
        terminal.expect("all made")
        assert terminal.wait() == 0
    assert terminal.screen.count(QUESTION) == 1
    assert "  made twice" in terminal.screen


def test_a_long_input_is_cut_with_a_note_and_can_be_seen_whole(fake: FakeCLI) -> None:
    command = "\n".join(f"step {number}" for number in range(100)) + "\nrm -rf /"
    played(fake, script(reply(UseTool("Bash", {"command": command})), "as you like"))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        terminal.expect(QUESTION)
        terminal.expect("… and 71 more lines: v shows them")
        terminal.expect("answer: ")
        terminal.enter("v")
        terminal.expect("rm -rf /")
        terminal.expect("answer: ")
        terminal.enter("n")
        assert terminal.wait() == 0


def test_what_was_typed_before_the_question_is_no_answer(fake: FakeCLI) -> None:
    played(fake, script(reply(WaitFor("typed"), MAKE), "as you like"))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        fake.gates.wait_reached("typed")
        terminal.enter("y")
        terminal.expect("y")
        fake.gates.open("typed")
        terminal.expect("answer: ")
        terminal.enter("n")
        terminal.expect("denied")
        assert terminal.wait() == 0


def test_the_end_of_the_input_denies(fake: FakeCLI) -> None:
    played(fake, script(reply(MAKE), "as you like"))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        terminal.expect("answer: ")
        terminal.press(CTRL_D)
        terminal.expect("denied")
        assert terminal.wait() == 0
    assert "closed the terminal's input" in told(fake)[1]


# --- Ctrl-C ---


def test_ctrl_c_interrupts_the_turn(fake: FakeCLI) -> None:
    played(fake, script(reply(Say("a long story", chunks=2, wait_for="never"))))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        terminal.expect("a long")
        terminal.press(CTRL_C)
        terminal.expect("interrupting the turn; press Ctrl-C again to end the session")
        terminal.expect("interrupted: ")
        assert terminal.wait() == 130
    assert fake.runs()[0].exit_code is not None


def test_ctrl_c_withdraws_an_open_question(fake: FakeCLI) -> None:
    played(fake, script(reply(MAKE), "never said"))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        terminal.expect("answer: ")
        terminal.press(CTRL_C)
        terminal.expect("the question was withdrawn")
        assert terminal.wait() == 130
    assert len(told(fake)) == 1


def test_a_second_ctrl_c_ends_a_cli_that_answers_nothing_any_more(fake: FakeCLI) -> None:
    played(fake, script(reply("said", IgnoreTerm(), WaitFor("hanging"), Hang())))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        pid = fake.gates.wait_reached("hanging")
        fake.gates.open("hanging")
        terminal.expect("said")
        terminal.press(CTRL_C)
        terminal.expect("interrupting the turn")
        terminal.press(CTRL_C)
        terminal.expect("ending the session")
        assert terminal.wait() == 130
    assert wait_until(lambda: not is_running(pid))


def test_ctrl_c_during_the_start_ends_it(fake: FakeCLI) -> None:
    played(fake, script(controls=(AnswerControl("initialize", "late", until="never"),)))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        pid = fake.gates.wait_reached("never")
        terminal.press(CTRL_C)
        terminal.expect("interrupted")
        assert terminal.wait() == 130
    assert wait_until(lambda: not is_running(pid))


def test_the_cli_dies_with_a_command_that_is_killed(fake: FakeCLI) -> None:
    played(fake, script(reply(WaitFor("never"), "x")))
    with at_terminal("run", "go", "--cli", fake.cli_path) as terminal:
        pid = fake.gates.wait_reached("never")
        assert is_running(pid)
        os.kill(terminal.pid, signal.SIGKILL)
        assert terminal.wait() == -signal.SIGKILL
    assert wait_until(lambda: not is_running(pid))


@pytest.mark.real_cli
def test_the_real_cli_asks_writes_and_streams() -> None:
    write = UseTool("Write", {"file_path": "a.txt", "content": "by the real one"})
    with RealCLI(reply(write), "it is written") as real:
        with at_terminal("run", "go", "--cli", real.cli_path, "--cwd", real.cwd, env=real.env) as terminal:
            terminal.expect("? Write asks for permission")
            terminal.expect("answer: ")
            terminal.enter("y")
            terminal.expect("it is written")
            terminal.expect("done · 2 turns")
            assert terminal.wait() == 0
        assert (real.cwd / "a.txt").read_text() == "by the real one"
    assert terminal.screen.count("it is written") == 1
