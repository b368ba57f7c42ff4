"""The entry point, and what the library itself must not load."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.commands import invoke

import claude_actors
from claude_actors.console.main import main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_it_says_in_a_sentence_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    for name in [name for name in sys.modules if name.startswith("claude_actors.console.app")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 3
    told = capsys.readouterr().err
    assert "pip install 'claude-actors[console]'" in told
    assert "python -m claude_actors.demo" in told
    assert "Traceback" not in told


def test_another_missing_module_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "claude_actors.console.exits", None)
    monkeypatch.delitem(sys.modules, "claude_actors.console.app", raising=False)
    with pytest.raises(ModuleNotFoundError):
        main()


def test_the_script_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"]["claude-actors"] == "claude_actors.console.main:main"


def test_the_library_loads_nothing_of_the_command() -> None:
    code = (
        "import sys, claude_actors; "
        "print([name for name in sys.modules if name.startswith(('typer', 'rich', 'click', 'claude_actors.console'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_it_tells_its_version_and_its_commands() -> None:
    assert invoke("--version").stdout == f"claude-actors {claude_actors.__version__}\n"
    text = invoke("--help").stdout
    assert all(command in text for command in ("run", "doctor", "demo"))
