"""The real CLI for tests: the program inside an installed `claude-agent-sdk`, in an environment of its own.

Nothing of the caller's environment but `PATH` reaches it: no key, no settings, no session of the person who runs the
tests. It talks to the scripted Messages API on loopback and to nothing else.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from claude_actors.options import Options
from claude_actors.testing.messages_api import MessagesAPI
from claude_actors.testing.script import Script, Scripted, script

_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
}


def bundled_cli() -> Path | None:
    """Find the program that an installed `claude-agent-sdk` carries, without importing that package."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    for place in (spec and spec.submodule_search_locations) or ():
        program = Path(place) / "_bundled" / "claude"
        if program.is_file():
            return program
    return None


def real_cli_environment(api_url: str, home: Path, **besides: str) -> dict[str, str]:
    """Give the whole environment for the real CLI; start it with this and nothing else.

    `home` is a throw-away directory; the CLI's temporary files go below it too. `besides` adds or replaces variables.
    """
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "CLAUDE_CODE_TMPDIR": str(home),
        "ANTHROPIC_BASE_URL": api_url,
        "ANTHROPIC_API_KEY": "test",
        **_QUIET,
        **besides,
    }


class RealCLI:
    """A throw-away home and working directory, a scripted API, and what `Options` needs to run the real CLI in them.

    A context manager: the API lives and the directories exist inside the `with` block. `program=None` takes the bundled
    one; where none is installed, entering raises `FileNotFoundError`. `headers` are those of `MessagesAPI`.
    """

    def __init__(
        self,
        given: Script | Scripted,
        *more: Scripted,
        program: Path | None = None,
        env: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        whole = given if isinstance(given, Script) else script(given, *more)
        self.api = MessagesAPI(whole, headers=headers)
        self._program = program
        self._besides = dict(env or {})
        self._root: Path | None = None

    def __enter__(self) -> Self:
        self.cli_path = self._program or _require_bundled_cli()
        self._root = Path(tempfile.mkdtemp(prefix="rc-"))
        self.home, self.cwd = self._root / "home", self._root / "work"
        self.home.mkdir()
        self.cwd.mkdir()
        self.api.__enter__()
        self.env = real_cli_environment(self.api.url, self.home, **self._besides)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.api.__exit__(kind, error, trace)
        if self._root is not None:
            # A CLI that is just ending may still write a last file.
            shutil.rmtree(self._root, ignore_errors=True)

    def options(self, **changes: Any) -> Options:
        """Make options that run this CLI here; `changes` are further options, `env` is added to ours."""
        env = {**self.env, **changes.pop("env", {})}
        return Options(**{"cli_path": self.cli_path, "cwd": self.cwd, "env": env, "inherit_env": False, **changes})


def _require_bundled_cli() -> Path:
    found = bundled_cli()
    if found is None:
        raise FileNotFoundError("no claude-agent-sdk with a bundled CLI is installed: pip install claude-agent-sdk")
    return found
