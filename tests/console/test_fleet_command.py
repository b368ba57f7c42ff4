"""`claude-actors fleet`: tasks from a file, results as JSON lines, a journal, Ctrl-C, and a table that lives."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from support.commands import at_terminal, frames, invoke
from support.leaks import is_running, wait_until
from support.terminal import CTRL_C

from claude_actors import InvalidOptions, Options
from claude_actors.console.fleet_tasks import read_tasks
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Die, Echo
from claude_actors.testing.script import ApiError, UseTool, WaitFor, reply, script

ECHO = script(reply(Echo(), times=None))


def tasks_file(directory: Path, *tasks: object) -> Path:
    file = directory / "tasks.jsonl"
    file.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return file


def by_id(outcomes: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    assert len({outcome["id"] for outcome in outcomes}) == len(outcomes)
    return {outcome["id"]: outcome for outcome in outcomes}


# --- the file ---


def test_a_task_is_a_string_or_an_object() -> None:
    first, second = read_tasks(
        ['"a prompt"', "", '{"prompt": "b", "id": "x", "options": {"cwd": "/"}, "data": [1]}\n'], Options()
    )
    assert (first.prompt, second.prompt, second.id, second.data) == ("a prompt", "b", "x", [1])
    assert second.options_for(Options()).cwd == "/"


def test_the_same_lines_mean_the_same_tasks_wherever_they_stand() -> None:
    first = [task.id for task in read_tasks(['"a"', '"b"', '"a"', '{"prompt":"c","priority":1}'], Options())]
    second = [task.id for task in read_tasks(['"new"', '{"priority":1, "prompt":"c"}', '"a"', '"b"', '"a"'], Options())]
    assert len(set(first)) == 4
    assert set(first) < set(second)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("no json", "line 2: it is no JSON"),
        ("[1]", "line 2: a task is a string or an object"),
        ("7", "line 2: a task is a string or an object"),
        ("{}", "line 2: a task needs a prompt"),
        ('""', "line 2: a task needs a prompt"),
        ('{"prompt": "a", "colour": 1}', "line 2: .*colour"),
        ('{"prompt": "a", "timeout": -1}', "line 2: .*timeout"),
        ('{"prompt": "a", "options": {"permission_mode": "careless"}}', "line 2: .*permission_mode"),
        ('{"prompt": "a", "options": {"no_such": 1}}', "line 2: .*no_such"),
        ('{"prompt": "a", "id": "one"}', "line 2: the id 'one' stands in line 1 already"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(line: str, words: str) -> None:
    with pytest.raises(InvalidOptions, match=words):
        read_tasks(['{"prompt": "x", "id": "one"}', line], Options())


def test_a_bad_file_is_a_usage_error_before_anything_runs(tmp_path: Path) -> None:
    with FakeCLI() as fake:
        for file in (tasks_file(tmp_path, "good", 7), tmp_path / "missing.jsonl"):
            result = invoke("fleet", file, "--cli", fake.cli_path)
            assert result.exit_code == 2
        assert fake.runs() == []


def test_a_bound_that_means_nothing_is_a_usage_error(tmp_path: Path) -> None:
    with FakeCLI() as fake:
        result = invoke("fleet", tasks_file(tmp_path, "x"), "--max-budget-usd", "-1", "--cli", fake.cli_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "usd must not be negative" in result.stderr


# --- results ---


def test_every_task_has_its_result_on_standard_output(tmp_path: Path) -> None:
    file = tasks_file(tmp_path, "one", {"prompt": "two", "id": "second", "data": {"row": 2}}, "one")
    with FakeCLI(ECHO) as fake:
        result = invoke("fleet", file, "--concurrency", "2", "--cli", fake.cli_path)
    outcomes = by_id(frames(result))
    assert result.exit_code == 0
    assert sorted(str(outcome["result"]) for outcome in outcomes.values()) == ["one", "one", "two"]
    second = outcomes["second"]
    assert (second["type"], second["outcome"], second["data"]) == ("claude_actors_task", "done", {"row": 2})
    assert (second["attempts"], second["turns"], second["recorded"], second["error"]) == (1, 1, False, None)
    assert second["session_id"]
    assert "[3/3]" in result.stderr
    assert "3 done · 3 turns · $" in result.stderr


def test_results_can_go_to_a_file_and_tasks_come_from_standard_input(tmp_path: Path) -> None:
    with FakeCLI(ECHO) as fake:
        result = invoke("fleet", "-", "--output", tmp_path / "out", "--cli", fake.cli_path, stdin='"a"\n"b"\n')
    assert (result.exit_code, result.stdout) == (0, "")
    assert sorted(json.loads(line)["result"] for line in (tmp_path / "out").read_text().splitlines()) == ["a", "b"]


def test_a_failed_task_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    played = script(reply(ApiError(400, message="not this one"), when="bad", times=None), reply(Echo(), times=None))
    with FakeCLI(played) as fake:
        result = invoke("fleet", tasks_file(tmp_path, "bad", "good"), "--cli", fake.cli_path)
    good, bad = sorted(frames(result), key=lambda outcome: outcome["outcome"])
    assert result.exit_code == 1
    assert (good["outcome"], good["result"]) == ("done", "good")
    assert (bad["outcome"], bad["result"], bad["error"]["kind"]) == ("failed", None, "ApiFailed")
    assert "not this one" in bad["error"]["message"]
    assert "1 done, 1 failed" in result.stderr


def test_a_crash_is_tried_again_as_often_as_is_said(tmp_path: Path) -> None:
    with FakeCLI(script(reply(Die(9), times=None))) as fake:
        result = invoke("fleet", tasks_file(tmp_path, "x"), "--retries", "0", "--cli", fake.cli_path)
        (outcome,) = frames(result)
    assert (result.exit_code, outcome["attempts"], outcome["error"]["kind"]) == (1, 1, "SessionCrashed")


def test_a_task_has_its_time(tmp_path: Path) -> None:
    with FakeCLI(script(reply(WaitFor("never"), "x"))) as fake:
        result = invoke("fleet", tasks_file(tmp_path, "x"), "--task-timeout", "0.5", "--cli", fake.cli_path)
    assert (result.exit_code, frames(result)[0]["error"]["kind"]) == (1, "TaskTimeout")


def test_nobody_is_asked_so_what_needs_a_permission_is_denied(tmp_path: Path) -> None:
    with FakeCLI(script(reply(UseTool("Bash", {"command": "make"})), reply(Echo()))) as fake:
        result = invoke("fleet", tasks_file(tmp_path, "x"), "--cli", fake.cli_path)
        told = [note["text"] for note in fake.runs()[0].of("api_request")]
    assert result.exit_code == 0
    assert "nobody is there to approve it" in told[1]


def test_no_cli_is_one_error_and_not_one_for_each_task(tmp_path: Path) -> None:
    result = invoke("fleet", tasks_file(tmp_path, "a", "b"), "--cli", tmp_path / "claude")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.count("no claude CLI found") == 1


# --- the journal ---


def test_a_second_run_on_the_journal_runs_only_what_is_new_and_tells_all(tmp_path: Path) -> None:
    with FakeCLI(ECHO) as fake:
        command = ("--journal", tmp_path / "journal", "--cli", fake.cli_path)
        first = frames(invoke("fleet", tasks_file(tmp_path, "a", "b"), *command))
        second = frames(invoke("fleet", tasks_file(tmp_path, "new", "a", "b"), *command))
        third = invoke("fleet", tasks_file(tmp_path, "new", "a", "b"), *command, "--only-new")
        assert len(fake.runs()) == 3
    assert {(one["result"], one["recorded"]) for one in first} == {("a", False), ("b", False)}
    assert {(one["result"], one["recorded"]) for one in second} == {("a", True), ("b", True), ("new", False)}
    assert {one["id"] for one in first} < {one["id"] for one in second}
    assert (third.exit_code, third.stdout) == (0, "")
    assert "3 tasks, 3 of them done in an earlier run" in third.stderr


def test_a_journal_that_cannot_be_used_is_told_and_left_alone(tmp_path: Path) -> None:
    file = tasks_file(tmp_path, "a")
    with FakeCLI() as fake:
        result = invoke("fleet", file, "--journal", file, "--cli", fake.cli_path)
        assert fake.runs() == []
    assert (result.exit_code, result.stdout) == (3, "")
    assert "it is no journal" in result.stderr
    assert file.read_text() == '"a"\n'


def test_a_command_that_was_killed_goes_on_from_its_journal(tmp_path: Path) -> None:
    played = script(reply(WaitFor("kill"), "never said", when="slow"), reply(Echo(), times=None))
    file = tasks_file(tmp_path, "fast", "slow")
    with FakeCLI(played) as fake:
        command = ("fleet", file, "--journal", tmp_path / "journal", "--cli", fake.cli_path)
        with at_terminal(*command) as terminal:
            pid = fake.gates.wait_reached("kill")
            terminal.expect("done: fast")
            os.kill(terminal.pid, signal.SIGKILL)
            terminal.wait()
        assert wait_until(lambda: not is_running(pid))
        result = invoke(*command)
        resumed = [run for run in fake.runs() if any("--resume=" in argument for argument in run.argv)]
    outcomes = {outcome["result"]: outcome for outcome in frames(result)}
    assert result.exit_code == 0
    assert {text: outcome["recorded"] for text, outcome in outcomes.items()} == {"fast": True, "slow": False}
    assert len(resumed) == 1


# --- Ctrl-C ---


def test_ctrl_c_starts_nothing_more_and_waits_for_what_runs(tmp_path: Path) -> None:
    played = script(reply(WaitFor("go"), Echo(), times=None))
    file, output = tasks_file(tmp_path, "a", "b", "c"), tmp_path / "out"
    with FakeCLI(played) as fake:
        with at_terminal("fleet", file, "-n", "1", "--output", output, "--cli", fake.cli_path) as terminal:
            fake.gates.wait_reached("go")
            terminal.press(CTRL_C)
            terminal.expect("starting nothing more")
            fake.gates.open("go")
            assert terminal.wait() == 130
        assert len(fake.runs()) == 1
    outcomes = [json.loads(line) for line in output.read_text().splitlines()]
    assert sorted((outcome["outcome"], outcome["result"]) for outcome in outcomes) == [
        ("done", "a"),
        ("stopped", None),
        ("stopped", None),
    ]


def test_a_second_ctrl_c_stops_what_runs(tmp_path: Path) -> None:
    with FakeCLI(script(reply(WaitFor("never"), "x", times=None))) as fake:
        with at_terminal("fleet", tasks_file(tmp_path, "a", "b"), "-n", "1", "--cli", fake.cli_path) as terminal:
            pid = fake.gates.wait_reached("never")
            terminal.press(CTRL_C)
            terminal.expect("press Ctrl-C again")
            terminal.press(CTRL_C)
            terminal.expect("stopping")
            terminal.expect("2 stopped")
            assert terminal.wait() == 130
        assert wait_until(lambda: not is_running(pid))


# --- the table ---


def test_the_table_shows_states_activities_and_a_bar(tmp_path: Path) -> None:
    look = UseTool("Grep", {"pattern": "needle"}, result="found")
    played = script(
        reply(look, when="slow"), reply(WaitFor("slow"), "slow done", when="found"), reply(Echo(), times=None)
    )
    file = tasks_file(tmp_path, {"id": "first", "prompt": "slow"}, {"id": "second", "prompt": "quick"})
    with FakeCLI(played) as fake, at_terminal("fleet", file, "-n", "1", "--cli", fake.cli_path) as terminal:
        for words in ("last activity", "first slow", "running", "Grep needle", "second quick", "queued", "0/2"):
            terminal.expect(words)
        fake.gates.open("slow")
        terminal.expect("[1/2] first done: slow done")
        terminal.expect("[2/2] second done: quick")
        terminal.expect("2 done · 3 turns")
        # The results come behind the table, which is gone by then.
        last = terminal.screen[terminal.screen.rindex("[2/2]") :]
        assert terminal.wait() == 0
    results = [line for line in terminal.screen.splitlines() if line.startswith('{"type"')]
    assert [json.loads(line)["id"] for line in results] == ["first", "second"]
    assert last


def test_the_table_is_cut_to_the_terminal(tmp_path: Path) -> None:
    file = tasks_file(tmp_path, *(f"task {number}" for number in range(50)))
    played = script(reply(WaitFor("never"), "x", times=None))
    command = ("fleet", file, "-n", "1")
    with FakeCLI(played) as fake, at_terminal(*command, "--cli", fake.cli_path, size=(20, 100)) as terminal:
        terminal.expect("… and 37 more")
        terminal.press(CTRL_C)
        terminal.expect("press Ctrl-C again")
        terminal.press(CTRL_C)
        terminal.expect("50 stopped · ")
        assert terminal.wait() == 130
