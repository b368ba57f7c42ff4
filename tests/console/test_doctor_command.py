"""`claude-actors doctor`: what it finds, what it advises, and that it keeps secrets."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import pytest
from support.commands import at_terminal, invoke
from typer.testing import Result

from claude_actors.console import surroundings
from claude_actors.console.surroundings import MIB, available_memory, examine_surroundings
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import AnswerControl, Die, Stderr, VersionAnswer
from claude_actors.testing.real_cli import RealCLI
from claude_actors.testing.script import Script, script


def findings(result: Result) -> dict[str, dict[str, Any]]:
    """Read what `--json` has written, by subject."""
    return {finding["subject"]: finding for finding in json.loads(result.stdout)["findings"]}


def examined(played: Script, *more: str) -> Result:
    with FakeCLI(played) as fake:
        return invoke("doctor", "--json", "--cli", fake.cli_path, *more)


def test_a_cli_that_answers_is_healthy_and_was_sent_no_prompt() -> None:
    with FakeCLI(script("never asked")) as fake:
        result = invoke("doctor", "--json", "--cli", fake.cli_path)
        (run,) = fake.runs()
    found = findings(result)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["healthy"] is True
    assert found["claude CLI"]["text"] == str(fake.cli_path)
    assert found["version"]["text"].startswith("2.1.326")
    assert found["handshake"]["text"].startswith("answered in ")
    assert [frame["type"] for frame in run.received] == ["control_request"]
    assert not Path(run.cwd).exists()


def test_it_is_readable_at_a_terminal() -> None:
    with FakeCLI() as fake, at_terminal("doctor", "--cli", fake.cli_path) as terminal:
        terminal.expect("ok       claude CLI")
        terminal.expect("ok       handshake        answered in")
        terminal.expect("healthy: 0 problems")
        assert terminal.wait() == 0


def test_every_place_is_named_where_a_cli_was_looked_for(tmp_path: Path) -> None:
    env = {"PATH": f"{tmp_path / 'a'}:{tmp_path / 'b'}", "HOME": str(tmp_path), "CLAUDE_ACTORS_CLI": "no-such-claude"}
    result = invoke("doctor", "--json", env=env)
    found = findings(result)
    assert result.exit_code == 1
    assert found["claude CLI"]["status"] == "problem"
    assert found["claude CLI"]["facts"] == [
        f"{tmp_path / 'a' / 'no-such-claude'}: not there",
        f"{tmp_path / 'b' / 'no-such-claude'}: not there",
    ]
    assert "npm install" in found["claude CLI"]["advice"]
    assert "handshake" not in found
    assert "library" in found


def test_of_several_programs_it_tells_which_is_used(tmp_path: Path) -> None:
    with FakeCLI() as fake:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "claude").symlink_to(fake.cli_path)
        env = {"PATH": f"{tmp_path / 'a'}:{tmp_path / 'b'}", "HOME": str(tmp_path), "CLAUDE_ACTORS_CLI": None}
        found = findings(invoke("doctor", "--json", env=env))["claude CLI"]
    assert found["facts"][:2] == [f"{tmp_path / 'a' / 'claude'}: used", f"{tmp_path / 'b' / 'claude'}: there too"]
    assert f"{tmp_path}/.local/bin/claude: not there" in found["facts"]


def test_a_program_that_cannot_be_run_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "claude").write_text("no program")
    result = invoke("doctor", "--json", "--cli", tmp_path / "claude")
    assert result.exit_code == 1
    assert "not executable" in findings(result)["claude CLI"]["text"]


def test_an_old_cli_is_a_problem_and_is_not_started() -> None:
    with FakeCLI(script(version=VersionAnswer("1.0.9 (Claude Code)"))) as fake:
        result = invoke("doctor", "--json", "--cli", fake.cli_path)
        assert fake.runs() == []
    found = findings(result)
    assert result.exit_code == 1
    assert found["version"]["status"] == "problem"
    assert "1.0.9 is too old" in found["version"]["text"]
    assert "handshake" not in found


def test_a_version_that_cannot_be_told_is_a_warning() -> None:
    result = examined(script(version=VersionAnswer("who knows")))
    assert result.exit_code == 0
    assert findings(result)["version"]["status"] == "warning"
    assert findings(result)["handshake"]["status"] == "ok"


@pytest.mark.parametrize(
    ("played", "words"),
    [
        (script(controls=(AnswerControl("initialize", "never"),)), "did not answer initialize within 0.3 s"),
        (script(controls=(AnswerControl("initialize", "error", error="not today"),)), "not today"),
        (script(on_start=(Stderr(("no licence",)), Die(3))), "no licence"),
    ],
)
def test_a_cli_that_does_not_shake_hands_is_a_problem(played: Script, words: str) -> None:
    result = examined(played, "--timeout", "0.3")
    assert result.exit_code == 1
    assert findings(result)["handshake"]["status"] == "problem"
    assert words in findings(result)["handshake"]["text"]


def test_a_hanging_cli_is_told_at_the_terminal() -> None:
    played = script(controls=(AnswerControl("initialize", "never"),))
    with FakeCLI(played) as fake, at_terminal("doctor", "--cli", fake.cli_path, "--timeout", "0.3") as terminal:
        terminal.expect("PROBLEM  handshake")
        terminal.expect("-> start it in a terminal")
        terminal.expect("not healthy: 1 problem,")
        assert terminal.wait() == 1


def test_credentials_that_the_cli_does_not_have_are_a_warning() -> None:
    result = examined(script(initialize_extra={"account": {"tokenSource": "none", "apiProvider": "firstParty"}}))
    assert result.exit_code == 0
    assert findings(result)["credentials"]["status"] == "warning"


def test_names_of_variables_are_told_and_never_a_value() -> None:
    env = {
        "ANTHROPIC_API_KEY": "sk-secret-1",
        "CLAUDE_CODE_STREAM_CLOSE_TIMEOUT": "123456",
        "https_proxy": "u:secret-2",
    }
    with FakeCLI() as fake:
        for form in ([], ["--json"]):
            result = invoke("doctor", *form, "--cli", fake.cli_path, env=env)
            assert "ANTHROPIC_API_KEY" in result.output
            assert "https_proxy" in result.output
            assert "CLAUDE_CODE_STREAM_CLOSE_TIMEOUT (replaces Options.initialize_timeout)" in result.output
            assert not any(value in result.output for value in env.values())


# --- the machine ---


def surrounding(subject: str) -> Any:
    return next(finding for finding in examine_surroundings() if finding.subject == subject)


def test_few_open_files_are_a_warning_with_the_number_of_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {resource.RLIMIT_NOFILE: (256, 4096), resource.RLIMIT_NPROC: (resource.RLIM_INFINITY,) * 2}
    monkeypatch.setattr(resource, "getrlimit", limits.__getitem__)
    found = surrounding("limits")
    assert (found.status, found.text) == ("warning", "open files for about 48 sessions at once")
    assert found.facts == ("open files: 256, at most 4096", "processes: no limit")
    limits[resource.RLIMIT_NOFILE] = (resource.RLIM_INFINITY,) * 2
    assert surrounding("limits").status == "ok"


def test_free_memory_is_the_machines_or_what_a_container_leaves(tmp_path: Path) -> None:
    assert available_memory(tmp_path, tmp_path) is None
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 2048 kB\n")
    assert available_memory(tmp_path, tmp_path) == 2 * MIB
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text(f"{MIB}\n")
    assert available_memory(tmp_path, tmp_path) == 2 * MIB
    (tmp_path / "memory.max").write_text(f"{MIB + 5}\n")
    assert available_memory(tmp_path, tmp_path) == 5


def test_too_little_memory_for_one_session_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "available_memory", lambda: 100 * MIB)
    assert surrounding("memory").status == "warning"
    monkeypatch.setattr(surroundings, "available_memory", lambda: None)
    assert surrounding("memory").status == "ok"


def test_a_tmpdir_that_cannot_be_used_is_a_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    assert "TMPDIR cannot be used" in surrounding("temporary files").text


def test_no_place_for_temporary_files_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(directory: str | None) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(surroundings, "open_anonymous", refuse)
    assert surrounding("temporary files").status == "problem"


def test_little_room_on_the_disk_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "ENOUGH_SPACE", 1 << 70)
    assert surrounding("temporary files").status == "warning"


def test_a_home_that_cannot_be_written_to_is_a_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "gone"))
    assert surrounding("home").status == "warning"


@pytest.mark.real_cli
def test_the_real_cli_is_healthy() -> None:
    with RealCLI("never asked") as real:
        with at_terminal("doctor", "--cli", real.cli_path, env=real.env) as terminal:
            terminal.expect("ok       version")
            terminal.expect("ok       handshake        answered in")
            terminal.expect("the CLI has some, from ANTHROPIC_API_KEY")
            terminal.expect("healthy: 0 problems, 0 warnings")
            assert terminal.wait() == 0
        assert real.api.requests == ()
