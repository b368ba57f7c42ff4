"""The guide says what is true: its exit codes, its commands, its options and its fields."""

from __future__ import annotations

import re
from pathlib import Path

from support.commands import invoke

from claude_actors.console.exits import Exit
from claude_actors.console.fleet_run import TaskOutcome
from claude_actors.console.turn import Report

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "command_line.md").read_text(encoding="utf-8")


def test_the_guide_lists_every_exit_code() -> None:
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", GUIDE, re.MULTILINE)} == set(Exit)


def test_every_option_in_the_guide_is_an_option() -> None:
    helps = "".join(
        invoke(command, "--help", env={"COLUMNS": "200"}).stdout for command in ("run", "fleet", "doctor", "demo")
    )
    for option in set(re.findall(r"`(--[a-z-]+)", GUIDE)):
        assert option in helps, option


def test_every_field_that_is_written_is_in_the_guide() -> None:
    for field in (*Report(exit=Exit.OK).summary(), *TaskOutcome.__struct_fields__):
        assert f'"{field}":' in GUIDE, field
