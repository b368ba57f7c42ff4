"""`claude-actors run` without a terminal: what goes where, JSON, and an exit code for every ending."""

from __future__ import annotations

import os
import re
import signal
import threading
from pathlib import Path

import pytest
from support.commands import frames, invoke

from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import AnswerControl, Die, Emit, Hang, Stderr, VersionAnswer
from claude_actors.testing.script import ApiError, Say, Script, Think, UseTool, WaitFor, reply, script

BASH = UseTool("Bash", {"command": "make all"}, result="made")


def test_the_answer_alone_goes_to_standard_output(tmp_path: Path) -> None:
    with FakeCLI(
        script(reply(Think("hm"), UseTool("Glob", {"pattern": "*.py"}, result="a.py\nb.py")), "two files")
    ) as fake:
        result = invoke("run", "which files?", "--cli", fake.cli_path, "--cwd", tmp_path)
    assert (result.exit_code, result.stdout) == (0, "two files\n")
    assert "● Glob *.py" in result.stderr
    assert "a.py (+1 lines)" in result.stderr
    assert "hm" not in result.stderr
    assert re.search(r"done · 2 turns · \$\d", result.stderr)
    assert re.search(r"go on with: claude-actors run --resume [0-9a-f-]{36}", result.stderr)


def test_verbose_shows_thinking_and_whole_tool_results() -> None:
    with FakeCLI(script(reply(Think("hm"), UseTool("Glob", {"pattern": "*"}, result="a.py\nb.py")), "two")) as fake:
        result = invoke("run", "go", "--verbose", "--cli", fake.cli_path)
    assert {"hm", "  a.py", "  b.py"} <= set(result.stderr.splitlines())


def test_the_prompt_can_come_from_standard_input() -> None:
    with FakeCLI() as fake:
        for arguments in (["run"], ["run", "-"]):
            result = invoke(*arguments, "--cli", fake.cli_path, stdin="from a pipe\n")
            assert result.stdout.endswith("what you said: from a pipe\n")
        assert invoke("run", "--cli", fake.cli_path, stdin=" \n").exit_code == 2
        assert len(fake.runs()) == 2


def test_the_options_reach_the_cli(tmp_path: Path) -> None:
    with FakeCLI() as fake:
        result = invoke(
            *("run", "go", "--cli", fake.cli_path, "--cwd", tmp_path, "--model", "sonnet", "--permission-mode", "plan"),
            *("--allow", "Read", "--allow", "Bash(ls *)", "--deny", "Write", "--add-dir", tmp_path, "--max-turns", "3"),
        )
        (run,) = fake.runs()
    assert result.exit_code == 0
    assert run.cwd == str(tmp_path)
    text = " ".join(run.argv)
    for part in ("--model=sonnet", "--permission-mode=plan", "Bash(ls *)", "--disallowedTools=Write", "--max-turns=3"):
        assert part in text


def test_terminal_escapes_of_the_model_never_reach_the_terminal() -> None:
    evil = "safe\x1b[2J\x1b]0;title\x07\r\x9b1A words"
    with FakeCLI(script(reply(UseTool("Glob", {"pattern": evil}, result=evil)), evil)) as fake:
        result = invoke("run", "go", "--cli", fake.cli_path)
    assert result.stdout == "safe words\n"
    assert "● Glob safe words" in result.stderr
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", result.stdout + result.stderr)


# --- JSON ---


def test_json_gives_every_frame_as_it_came_and_a_summary_as_the_last_line() -> None:
    odd = {"type": "news", "of": ["a", {"kind": "not known"}], "text": "ü \u2028 \x1b[2J"}
    with FakeCLI(script(reply(Emit(odd), "said"))) as fake:
        result = invoke("run", "go", "--json", "--cli", fake.cli_path)
    *messages, summary = frames(result)
    assert result.exit_code == 0
    assert odd.items() <= next(frame for frame in messages if frame["type"] == "news").items()
    (answer,) = (frame for frame in messages if frame["type"] == "result")
    assert summary["type"] == "claude_actors_summary"
    assert (summary["outcome"], summary["exit_code"], summary["error"]) == ("ok", 0, None)
    assert (summary["result"], summary["session_id"]) == ("said", answer["session_id"])
    assert (summary["cost_usd"], summary["num_turns"]) == (answer["total_cost_usd"], 1)


def test_json_has_stream_events_only_if_they_are_asked_for() -> None:
    with FakeCLI(script("one")) as fake:
        plain, partial = (invoke("run", "go", "--json", *more, "--cli", fake.cli_path) for more in ([], ["--partial"]))
    assert "stream_event" not in {frame["type"] for frame in frames(plain)}
    assert "stream_event" in {frame["type"] for frame in frames(partial)}


def test_a_session_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with FakeCLI(script("one", "two")) as fake:
        first = frames(invoke("run", "a", "--json", "--cli", fake.cli_path, "--cwd", tmp_path))[-1]
        resumed = ["--resume", first["session_id"]]
        second = frames(invoke("run", "b", "--json", "--cli", fake.cli_path, "--cwd", tmp_path, *resumed))[-1]
        last = frames(invoke("run", "c", "--json", "--cli", fake.cli_path, "--cwd", tmp_path, "--continue"))[-1]
    assert (first["result"], second["result"]) == ("one", "two")
    assert first["session_id"] == second["session_id"] == last["session_id"]


def test_a_session_that_cannot_go_on_is_not_offered_for_going_on() -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    with FakeCLI() as fake:
        shown = invoke("run", "a", "--cli", fake.cli_path, "--resume", unknown)
        summary = frames(invoke("run", "a", "--json", "--cli", fake.cli_path, "--resume", unknown))[-1]
    assert "not started" in shown.stderr
    assert "go on with" not in shown.stderr
    assert summary["session_id"] is None


def test_a_turn_that_took_too_long_is_over_and_is_said_to_be() -> None:
    with FakeCLI(script(reply(Hang()))) as fake:
        result = invoke("run", "a", "--cli", fake.cli_path, "--timeout", "0.2")
    assert "within 0.2 s; the session was ended" in result.stderr


# --- permissions without a person ---


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_without_a_terminal_permissions_are_denied_and_everybody_is_told(more: list[str]) -> None:
    with FakeCLI(script(reply(BASH), "as you like")) as fake:
        result = invoke("run", "go", *more, "--cli", fake.cli_path)
        told = [note["text"] for note in fake.runs()[0].of("api_request")]
    assert result.exit_code == 0
    assert "denied Bash: nobody is there to approve it" in result.stderr
    assert "nobody is there to approve it" in told[1]


def test_what_is_allowed_beforehand_needs_no_person() -> None:
    with FakeCLI(script(reply(BASH), "made it")) as fake:
        result = invoke("run", "go", "--allow", "Bash", "--cli", fake.cli_path)
    assert "denied" not in result.stderr
    assert "  made" in result.stderr


def test_a_mode_in_which_nobody_is_asked_is_no_matter_for_a_warning_to_a_person() -> None:
    with FakeCLI(script("done")) as fake:
        result = invoke("run", "go", "--permission-mode", "dontAsk", "--cli", fake.cli_path)
    assert result.exit_code == 0
    assert "Warning" not in result.stderr


# --- exit codes ---

ENDINGS: list[tuple[str, int, str, Script, list[str]]] = [
    ("an error of the API", 1, "ApiFailed", script(reply(ApiError(400, message="no"))), []),
    (
        "too many turns",
        1,
        "MaxTurnsReached",
        script(reply(UseTool("Glob")), reply(UseTool("Glob")), "x"),
        ["--max-turns", "1"],
    ),
    ("an old CLI", 3, "UnsupportedVersion", script(version=VersionAnswer("1.0.9 (Claude Code)")), []),
    (
        "a CLI that does not know our flags",
        3,
        "UnsupportedVersion",
        script(unknown_options=("--model",)),
        ["--model", "x"],
    ),
    ("a refused handshake", 3, "InitializationFailed", script(controls=(AnswerControl("initialize", "error"),)), []),
    ("a CLI that dies at once", 3, "ExitedDuringStart", script(on_start=(Stderr(("boom",)), Die(7))), []),
    ("an unknown session", 3, "ResumeFailed", script(), ["--resume", "00000000-0000-4000-8000-000000000000"]),
    ("a directory that is not there", 3, "SpawnFailed", script(), ["--cwd", "/no/such/directory"]),
    ("a CLI that dies in a turn", 4, "SessionCrashed", script(reply("half", Die(signal=9))), []),
    ("a CLI that leaves in a turn", 4, "SessionCrashed", script(reply(Die(0))), []),
    ("silence", 124, "TurnTimeout", script(reply(Hang())), ["--timeout", "0.2"]),
]


@pytest.mark.parametrize(("code", "kind", "played", "more"), [pytest.param(*e[1:], id=e[0]) for e in ENDINGS])
def test_every_ending_has_its_exit_code(code: int, kind: str, played: Script, more: list[str]) -> None:
    with FakeCLI(played) as fake:
        result = invoke("run", "go", "--json", "--cli", fake.cli_path, *more)
    summary = frames(result)[-1]
    assert (result.exit_code, summary["exit_code"], summary["error"]["kind"]) == (code, code, kind)
    assert "Traceback" not in result.stderr


def test_what_went_wrong_is_said_to_a_person_too() -> None:
    with FakeCLI(script(on_start=(Stderr(("the disk is full",)), Die(7)))) as fake:
        result = invoke("run", "go", "--cli", fake.cli_path)
    assert (result.exit_code, result.stdout) == (3, "")
    assert "not started: the CLI ended during start (exit code 7)" in result.stderr
    assert "the disk is full" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "go", "--permission-mode", "careless"],
        ["run", "go", "--max-turns", "many"],
        ["run", "go", "--no-such-option"],
        ["sing"],
    ],
)
def test_what_cannot_be_used_is_a_usage_error(arguments: list[str]) -> None:
    with FakeCLI() as fake:
        result = invoke(*arguments, env={"CLAUDE_ACTORS_CLI": str(fake.cli_path)})
        assert result.exit_code == 2
        assert fake.runs() == []


def test_no_cli_is_told_with_where_it_was_looked_for(tmp_path: Path) -> None:
    result = invoke("run", "go", "--cli", tmp_path / "claude")
    assert result.exit_code == 3
    assert str(tmp_path / "claude") in result.stderr


def test_the_exit_codes_are_in_the_help() -> None:
    for arguments in (["--help"], ["run", "--help"], ["doctor", "--help"]):
        text = " ".join(invoke(*arguments).stdout.replace("│", " ").split())
        for words in ("0 it went well", "3 it could not be started", "4 the CLI died", "130 interrupted"):
            assert words in text


# --- Ctrl-C, in this process ---


def test_a_signal_interrupts_the_turn_and_the_session_ends_well() -> None:
    with FakeCLI(script(reply(Say("a long story", chunks=2, wait_for="never")))) as fake:
        presser = threading.Thread(target=_press_at, args=(fake, ["never"]))
        presser.start()
        result = invoke("run", "go", "--json", "--partial", "--cli", fake.cli_path)
        presser.join()
        (run,) = fake.runs()
    summary = frames(result)[-1]
    assert (result.exit_code, summary["outcome"], summary["error"]["kind"]) == (130, "interrupted", "TurnInterrupted")
    assert "press Ctrl-C again" in result.stderr
    assert [frame["request"]["subtype"] for frame in run.received if frame["type"] == "control_request"] == [
        "initialize",
        "interrupt",
    ]


def test_a_second_signal_ends_a_session_that_does_not_answer() -> None:
    played = script(reply(WaitFor("open"), "x"), controls=(AnswerControl("interrupt", "late", until="asked"),))
    with FakeCLI(played) as fake:
        presser = threading.Thread(target=_press_at, args=(fake, ["open", "asked"]))
        presser.start()
        result = invoke("run", "go", "--json", "--cli", fake.cli_path)
        presser.join()
    assert (result.exit_code, frames(result)[-1]["outcome"]) == (130, "interrupted")
    assert "ending the session" in result.stderr


def test_afterwards_ctrl_c_is_what_it_was() -> None:
    before = signal.getsignal(signal.SIGINT)
    with FakeCLI() as fake:
        invoke("run", "go", "--cli", fake.cli_path)
    assert signal.getsignal(signal.SIGINT) is before


def _press_at(fake: FakeCLI, gates: list[str]) -> None:
    for gate in gates:
        fake.gates.wait_reached(gate)
        os.kill(os.getpid(), signal.SIGINT)
