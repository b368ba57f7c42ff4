"""How the CLI is started: argv, environment and initialize fields from Options.

`build_launch` decides; it spawns nothing. The options' own translation stands in `claude_actors.cli.rows`, here is what
holds for every launch. Not to be called on the reactor: it looks at the file system and may write private files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from claude_actors._version import __version__
from claude_actors.cli.draft import Draft
from claude_actors.cli.private_files import PrivateFiles
from claude_actors.cli.rows import CLI_ROWS
from claude_actors.errors import SpawnFailed
from claude_actors.options import Options, given_names

# The CLI compares with exactly this name where it treats SDK sessions apart, so a name of our own would lose that;
# `client_app` is where we introduce ourselves.
ENTRYPOINT: Final = "sdk-py"
STREAM_CLOSE_TIMEOUT: Final = "CLAUDE_CODE_STREAM_CLOSE_TIMEOUT"


@dataclass(frozen=True, slots=True, repr=False)
class Launch:
    """All that a port needs to start the CLI, and what the session tells it first.

    `initialize` holds the fields of the initialize request by their wire names. `stdin` is what a one-shot run reads
    from its input, which is then closed; None in a session. `cleanup` must be called when the process has ended.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path | None
    user: str | None
    initialize: Mapping[str, Any]
    initialize_timeout: float
    stdin: bytes | None
    private_files: PrivateFiles

    def cleanup(self) -> None:
        """Remove the private files; idempotent, any thread."""
        self.private_files.remove()

    def __repr__(self) -> str:
        return f"<Launch of {self.argv[0]} with {len(self.argv) - 1} arguments>"


def build_launch(
    options: Options, *, cli: Path, streaming_input: bool = True, prompt: str | None = None, resume: str | None = None
) -> Launch:
    """Translate the options for the program `cli`.

    With `streaming_input=False` it is a one-shot run of `prompt`, which goes through stdin: it may be long, may start
    with a dash, and is nobody else's to read in the process list. `resume` continues that session instead of whatever
    the options say. Raises InvalidOptions, and SpawnFailed when cwd is not a directory.
    """
    if resume is not None:
        options = resumed(options, resume)
    cwd = _checked_cwd(options, cli)
    draft = Draft(options, one_shot=not streaming_input)
    try:
        given = set(given_names(options))
        for row in CLI_ROWS:
            if row.always or row.name in given:
                row.apply(draft)
    except BaseException:
        draft.private_files.remove()
        raise
    env = child_environment(options, draft.env)
    return Launch(
        argv=(str(cli), *_base_arguments(streaming_input), *draft.arguments),
        env=env,
        cwd=cwd,
        user=options.user,
        initialize=draft.initialize,
        initialize_timeout=_initialize_timeout(options, env),
        stdin=None if streaming_input else (prompt or "").encode(),
        private_files=draft.private_files,
    )


def resumed(options: Options, session_id: str) -> Options:
    """Return the options that continue `session_id`, as after a crash: the same session, not a fork, to its end."""
    return options.replace(
        resume=session_id,
        continue_conversation=False,
        fork_session=False,
        session_id=None,
        resume_session_at=None,
        resume_drops_turn=None,
    )


def child_environment(options: Options, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the child's environment: ours (unless `inherit_env` is off), then `options.env`, then `extra`."""
    env: dict[str, str | None] = dict(os.environ) if options.inherit_env else {}
    env["CLAUDE_CODE_ENTRYPOINT"] = ENTRYPOINT
    env.setdefault("CLAUDE_AGENT_SDK_CLIENT_APP", f"claude-actors/{__version__}")
    if options.cwd is not None:
        env["PWD"] = os.path.abspath(options.cwd)
    env |= options.env
    env |= extra or {}
    # With it the CLI believes itself inside another session and refuses to start.
    env["CLAUDECODE"] = None
    return {name: value for name, value in env.items() if value is not None}


def _base_arguments(streaming_input: bool) -> tuple[str, ...]:
    mode = "--input-format=stream-json" if streaming_input else "--print"
    return ("--output-format=stream-json", mode, "--verbose")


def _checked_cwd(options: Options, cli: Path) -> Path | None:
    if options.cwd is None:
        return None
    cwd = Path(os.path.abspath(options.cwd))
    if not cwd.is_dir():
        reason = "is not a directory" if cwd.exists() else "does not exist"
        raise SpawnFailed(program=str(cli), reason=f"the working directory {cwd} {reason}")
    return cwd


def _initialize_timeout(options: Options, env: Mapping[str, str]) -> float:
    try:
        milliseconds = float(env.get(STREAM_CLOSE_TIMEOUT, ""))
    except ValueError:
        return options.initialize_timeout
    return milliseconds / 1000 if milliseconds > 0 else options.initialize_timeout
