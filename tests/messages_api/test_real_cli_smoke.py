"""The real CLI, driven by bare lines, plays a script of the scripted API."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from claude_actors.testing.real_cli import RealCLI, bundled_cli, real_cli_environment
from claude_actors.testing.script import Think, UseTool, reply

FLAGS = ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]
USER = {"type": "user", "message": {"role": "user", "content": "say it"}, "parent_tool_use_id": None}


def converse(real: RealCLI, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the CLI on these input lines to its end and give the frames it wrote."""
    fed = "".join(json.dumps(line) + "\n" for line in lines)
    argv = [str(real.cli_path), *FLAGS]
    done = subprocess.run(
        argv, input=fed, env=real.env, cwd=real.cwd, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.real_cli
def test_the_real_cli_runs_the_scripted_tool_and_reports_the_scripted_answer() -> None:
    first = reply(Think("hm"), "looking", UseTool("Bash", {"command": "echo from the tool"}, id="toolu_1"))
    with RealCLI(first, "done") as real:
        frames = converse(real, USER)
        assert real.api.unscripted_requests == ()
        result = real.api.requests[1].tool_result("toolu_1")
    assert result is not None
    assert result["content"] == "from the tool"
    assert [frame["result"] for frame in frames if frame["type"] == "result"] == ["done"]


@pytest.mark.real_cli
def test_the_real_cli_leaves_nothing_behind_in_the_temporary_directory() -> None:
    with RealCLI("done") as real:
        frames = converse(real, USER)
        root = real.home.parent
        init = next(frame for frame in frames if frame.get("subtype") == "init")
        assert init["cwd"] == str(real.cwd)
        assert init["messaging_socket_path"].startswith(str(real.home))
    assert not root.exists()


def test_the_environment_takes_only_the_path_from_the_caller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "a secret of the caller")
    monkeypatch.setenv("CLAUDECODE", "1")
    env = real_cli_environment("http://127.0.0.1:1", tmp_path, EXTRA="x")
    assert env["PATH"] == os.environ["PATH"]
    assert env["EXTRA"] == "x"
    assert not {"ANTHROPIC_AUTH_TOKEN", "CLAUDECODE"} & set(env)
    assert "a secret of the caller" not in env.values()


def test_the_bundled_program_is_found_without_importing_its_package() -> None:
    code = "import sys; from claude_actors.testing.real_cli import bundled_cli; bundled_cli(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "claude_agent_sdk" not in done.stdout.split()


def test_without_a_program_entering_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert bundled_cli() is None
    with pytest.raises(FileNotFoundError, match="pip install claude-agent-sdk"), RealCLI("unused"):
        pass


def test_options_run_the_cli_in_its_own_environment_only(tmp_path: Path) -> None:
    with RealCLI("unused", program=tmp_path / "claude", env={"ONE": "1"}) as real:
        options = real.options(model="opus", env={"TWO": "2"})
    assert options.inherit_env is False
    assert options.model == "opus"
    assert options.env == {**real.env, "TWO": "2"}
