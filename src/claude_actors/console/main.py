"""The entry point: loads the command, or says in a sentence what must be installed for it."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Final

from claude_actors.console.exits import Exit

_OF_THE_EXTRA: Final = ("typer", "rich", "click", "shellingham")
MISSING: Final = (
    "claude-actors: the command line needs typer and rich, and {name} is not installed here. Install them with\n"
    "    pip install 'claude-actors[console]'\n"
    "The demonstration works without them: python -m claude_actors.demo\n"
)


def main() -> None:
    """Run the command with this process's arguments. Does not return: it exits with a code of `Exit`."""
    _open_missing_streams()
    try:
        importlib.import_module("rich")
        from claude_actors.console.app import app
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in _OF_THE_EXTRA:
            raise
        sys.stderr.write(MISSING.format(name=name))
        sys.exit(Exit.NOT_STARTED)
    try:
        app(prog_name="claude-actors")
    except OSError as error:
        # A full disk, say. That the reader has gone (`| head`) is no news: typer ends with this code in silence then.
        sys.stderr.write(f"claude-actors: input or output failed: {error}\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains of it again
        sys.exit(Exit.FAILED)


def _open_missing_streams() -> None:
    """Stand in for standard streams that the caller has closed: their numbers must not go to a session's pipes."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we live


if __name__ == "__main__":
    main()
