"""Where the program is looked for, in which order, and what is said when it is not there."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from claude_actors.cli import discovery
from claude_actors.cli.discovery import find_cli
from claude_actors.errors import CLINotFound, SpawnFailed
from claude_actors.options import Options


def program(path: Path, *, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


@pytest.fixture(autouse=True)
def empty_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which no `claude` is installed anywhere."""
    monkeypatch.delenv("CLAUDE_ACTORS_CLI", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin1:{tmp_path}/bin2")
    monkeypatch.setattr(discovery, "USUAL_PLACES", tuple(p for p in discovery.USUAL_PLACES if p.startswith("~")))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    monkeypatch.delitem(sys.modules, "claude_agent_sdk", raising=False)


def bundle(tmp_path: Path) -> Path:
    package = tmp_path / "site" / "claude_agent_sdk"
    found = program(package / "_bundled" / "claude")
    (package / "__init__.py").write_text("raise AssertionError('must not be imported')")
    return found


def test_each_place_yields_to_the_one_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = ("site", "home/.bun/bin/claude", "home/.claude/local/claude", "bin2/claude", "bin1/claude")
    for place in places:
        found = bundle(tmp_path) if place == "site" else program(tmp_path / place)
        assert find_cli() == found
    monkeypatch.setenv("CLAUDE_ACTORS_CLI", str(program(tmp_path / "by_variable")))
    assert find_cli() == tmp_path / "by_variable"
    assert find_cli(Options(cli_path=program(tmp_path / "by_option"))) == tmp_path / "by_option"


def test_nothing_found_lists_every_place_and_how_to_install(tmp_path: Path) -> None:
    bundle(tmp_path).unlink()
    with pytest.raises(CLINotFound) as caught:
        find_cli()
    searched = caught.value.searched
    assert searched[:2] == (f"{tmp_path}/bin1/claude", f"{tmp_path}/bin2/claude")
    assert f"{tmp_path}/home/.local/bin/claude" in searched
    assert searched[-1].endswith("claude_agent_sdk/_bundled/claude")
    for word in ("npm install", "cli_path", "CLAUDE_ACTORS_CLI"):
        assert word in str(caught.value)


def test_a_named_program_that_is_missing_is_never_replaced_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin1/claude")
    with pytest.raises(CLINotFound) as caught:
        find_cli(Options(cli_path=tmp_path / "missing"))
    assert caught.value.searched == (str(tmp_path / "missing"),)
    monkeypatch.setenv("CLAUDE_ACTORS_CLI", str(tmp_path / "missing"))
    with pytest.raises(CLINotFound):
        find_cli()


def test_a_named_program_that_cannot_be_executed_says_why(tmp_path: Path) -> None:
    program(tmp_path / "bin1/claude")
    with pytest.raises(SpawnFailed, match="not executable"):
        find_cli(Options(cli_path=program(tmp_path / "plain", mode=0o644)))
    with pytest.raises(SpawnFailed, match="directory"):
        find_cli(Options(cli_path=tmp_path))


def test_what_cannot_be_executed_on_path_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path / "bin1/claude", mode=0o644)
    (tmp_path / "home/.claude/local/claude").mkdir(parents=True)
    found = program(tmp_path / "bin2/claude")
    assert find_cli() == found


def test_a_bare_name_is_looked_up_on_path(tmp_path: Path) -> None:
    found = program(tmp_path / "bin2/claude-next")
    assert find_cli(Options(cli_path="claude-next")) == found
    with pytest.raises(CLINotFound) as caught:
        find_cli(Options(cli_path="claude-other"))
    assert caught.value.searched == (f"{tmp_path}/bin1/claude-other", f"{tmp_path}/bin2/claude-other")


def test_a_relative_path_is_ours_and_not_the_childs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = program(tmp_path / "here/claude")
    monkeypatch.chdir(tmp_path)
    assert find_cli(Options(cli_path="here/claude", cwd="/")) == found


def test_a_home_directory_in_a_named_path_is_expanded(tmp_path: Path) -> None:
    found = program(tmp_path / "home/claude")
    assert find_cli(Options(cli_path="~/claude")) == found


def test_the_path_given_to_the_child_is_the_one_that_is_searched(tmp_path: Path) -> None:
    program(tmp_path / "bin1/claude")
    found = program(tmp_path / "childs/claude")
    assert find_cli(Options(env={"PATH": str(tmp_path / "childs")})) == found


def test_a_relative_entry_of_path_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "claude")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", "bin9"]))
    with pytest.raises(CLINotFound):
        find_cli()


def test_a_broken_official_package_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    # A module without a spec makes find_spec raise.
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", ModuleType("claude_agent_sdk"))
    with pytest.raises(CLINotFound):
        find_cli()
