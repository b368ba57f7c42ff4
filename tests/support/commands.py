"""The `claude-actors` command for tests: in this process, or as a program of its own in a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from claude_actors.console.app import app
from support.terminal import Terminal

PROGRAM = [sys.executable, "-m", "claude_actors.console.main"]


def invoke(*arguments: str | Path, stdin: str | None = None, env: Mapping[str, str | None] | None = None) -> Result:
    """Run the command in this process, without a terminal."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, env=env)


def frames(result: Result) -> list[dict[str, Any]]:
    """Read what `--json` has written."""
    return [json.loads(line) for line in result.stdout.rstrip("\n").split("\n")]


def at_terminal(*arguments: str | Path, env: Mapping[str, str] | None = None, **settings: Any) -> Terminal:
    """Run the command in a terminal, with a small environment."""
    plain = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}
    return Terminal([*PROGRAM, *map(str, arguments)], env={**plain, **(env or {})}, **settings)
