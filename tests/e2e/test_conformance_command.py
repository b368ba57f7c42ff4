"""The conformance command tells which features pass, and fails when one does not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from claude_actors.testing.conformance import FakeStage, Group, NotHere, Scenario, Stage
from claude_actors.testing.conformance.__main__ import FAILED, UNUSABLE, main
from claude_actors.testing.conformance.report import Outcome, identify, lines, play, play_all

group = Group("trials")


@group.scenario
def it_works(stage: Stage) -> None:
    stage.play("unused")


@group.scenario
def it_does_not(stage: Stage) -> None:
    assert stage.name == "another"


@group.scenario
def it_cannot_be_tried(stage: Stage) -> None:
    raise NotHere("the moon is not full")


def outcome(scenario: Scenario) -> Outcome:
    return play(scenario, FakeStage)


def test_each_outcome_says_what_happened_and_where() -> None:
    passed, failed, absent = map(outcome, group.scenarios)
    assert (passed.verdict, passed.why) == ("passed", "")
    assert failed.verdict == "failed"
    assert 'assert stage.name == "another"' in failed.why
    assert (absent.verdict, absent.why) == ("not here", "the moon is not full")


def test_the_report_counts_by_feature_and_names_what_did_not_pass() -> None:
    told: list[Outcome] = []
    report = play_all(group.scenarios, FakeStage, jobs=2, told=told.append)
    assert tuple(told) == report.outcomes
    assert [failure.claim for failure in report.failed] == ["it does not"]
    text = "\n".join(lines(report))
    assert "FAILED  trials             1 of 3, 1 not here" in text
    assert "not here: trials: it cannot be tried" in text
    assert text.splitlines()[-1].startswith("claude 2.1.326 (")


def test_a_program_that_does_not_start_is_reported_as_such(tmp_path: Path) -> None:
    broken = tmp_path / "claude"
    broken.write_text("#!/bin/sh\necho 'not today' >&2\nexit 3\n")
    broken.chmod(0o755)

    class Broken(FakeStage):
        def play(self, *scripted: object, **more: object) -> None:
            super().play()
            self.fake.cli_path = broken

    program, version = identify(Broken)
    assert program == str(broken)
    assert "not today" in version


def test_the_command_plays_what_was_asked_for_and_exits_with_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--fake", "--only", "handshake", "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    assert "ok      handshake          7 of 7" in printed


def test_the_command_reports_as_json_too() -> None:
    command = [sys.executable, "-m", "claude_actors.testing.conformance", "--fake", "--only", "unknown flag", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    report = json.loads(done.stdout)
    assert report["version"] == "2.1.326"
    assert [entry["verdict"] for entry in report["outcomes"]] == ["passed"]


def test_a_cli_that_fails_a_scenario_gives_exit_code_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    assert main(["--cli", str(program), "--only", "before any prompt"]) == FAILED
    assert "FAILED  handshake" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--fake", "--only", "no scenario says this"]])
def test_nothing_to_play_is_no_success(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == UNUSABLE
    assert "no scenario says" in capsys.readouterr().err


def test_without_a_cli_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("claude_actors.testing.conformance.__main__.bundled_cli", lambda: None)
    assert main([]) == UNUSABLE
    assert "claude-agent-sdk" in capsys.readouterr().err


def test_it_runs_as_a_module_without_pytest() -> None:
    code = "import sys; sys.modules['pytest'] = None; from claude_actors.testing.conformance.__main__ import main; "
    command = [sys.executable, "-c", code + "sys.exit(main(['--fake', '--only', 'unknown flag']))"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 of 1" in done.stdout
