"""Where the `claude` program is.

Named by the caller, then by `CLAUDE_ACTORS_CLI`, then on PATH, in the usual places, inside an installed
`claude-agent-sdk`. What was named and cannot be used is an error: another program than the named one is never taken.
Nothing is run here; whether the program is new enough is for `claude_actors.cli.version`.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from claude_actors.errors import CLINotFound, SpawnFailed
from claude_actors.options import Options

PROGRAM: Final = "claude"
VARIABLE: Final = "CLAUDE_ACTORS_CLI"
USUAL_PLACES: Final = (
    "~/.claude/local/claude",
    "~/.local/bin/claude",
    "/usr/local/bin/claude",
    "/opt/homebrew/bin/claude",
    "/home/linuxbrew/.linuxbrew/bin/claude",
    "~/.npm-global/bin/claude",
    "~/node_modules/.bin/claude",
    "~/.yarn/bin/claude",
    "~/.bun/bin/claude",
    "~/.volta/bin/claude",
)


def find_cli(options: Options | None = None) -> Path:
    """Return the absolute path of the program.

    Looks at the file system. Raises CLINotFound, which lists where it looked, and SpawnFailed when a program was named
    that exists but cannot be executed.
    """
    places = search_places(options)
    found = next(filter(_is_program, places), None)
    if found is not None:
        return found
    if _is_one_file(_named(options or Options())) and places[0].exists():
        reason = "it is a directory" if places[0].is_dir() else "it is not executable (chmod +x)"
        raise SpawnFailed(program=str(places[0]), reason=reason)
    raise CLINotFound(searched=[str(place) for place in places])


def search_places(options: Options | None = None) -> tuple[Path, ...]:
    """Return every path that `find_cli` looks at, in its order; if a program is named, only where that can be."""
    options = options or Options()
    search_path = options.env.get("PATH") or os.environ.get("PATH", os.defpath)
    name = _named(options)
    if name is None:
        return tuple(_candidates(search_path))
    if _is_one_file(name):
        return (Path(os.path.abspath(os.path.expanduser(name))),)
    return tuple(_path_entries(name, search_path))


def _named(options: Options) -> str | None:
    named = options.cli_path or options.env.get(VARIABLE) or os.environ.get(VARIABLE)
    return os.fspath(named) if named else None


def _is_one_file(name: str | None) -> bool:
    """Say whether a name is a path; one without a slash is looked for on PATH."""
    return name is not None and os.sep in name


def _candidates(search_path: str) -> Iterator[Path]:
    yield from _path_entries(PROGRAM, search_path)
    yield from (Path(os.path.expanduser(place)) for place in USUAL_PLACES)
    yield from _bundled()


def _path_entries(name: str, search_path: str) -> Iterator[Path]:
    # A relative entry means the current directory, where a checkout could place a program of its own.
    return (Path(entry) / name for entry in search_path.split(os.pathsep) if os.path.isabs(entry))


def _bundled() -> Iterator[Path]:
    try:
        # Finds the package without importing it, which would take a second.
        spec = importlib.util.find_spec("claude_agent_sdk")
    except (ImportError, ValueError):
        return
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent / "_bundled" / PROGRAM


def _is_program(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
