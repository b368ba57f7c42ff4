"""What keeps a session from running."""

from __future__ import annotations

from collections.abc import Sequence

from claude_actors.errors.base import ClaudeActorsError
from claude_actors.errors.words import describe_exit, sentence, with_tail


class StartError(ClaudeActorsError):
    """The session could not be started; nothing of it is left running."""


class UnsupportedVersion(StartError):
    """The CLI is older than this library can drive; update it."""

    def __init__(self, *, version: str | None, minimum: str, detail: str = "") -> None:
        self.version, self.minimum, self.detail = version, minimum, detail
        needed = f"at least {minimum} is needed (npm install -g @anthropic-ai/claude-code)"
        if version:
            said = f"the claude CLI is version {version}; {needed}"
        else:
            said = f"the claude CLI does not know one of our options; {needed}, or extra_args names a flag wrongly"
        super().__init__(sentence(said, detail))


class CLINotFound(StartError):
    """There is no `claude` in any of the places that `searched` lists; install it, or give `Options.cli_path`."""

    def __init__(self, *, searched: Sequence[str]) -> None:
        self.searched = tuple(searched)
        places = "; ".join(self.searched) or "nowhere"
        super().__init__(
            f"no claude CLI found (looked at: {places}). Install it with 'npm install -g @anthropic-ai/claude-code', "
            "or name it with Options(cli_path=...) or CLAUDE_ACTORS_CLI."
        )


class SpawnFailed(StartError):
    """The program is there but the system would not start it; `reason` says why. Look at its rights and its `cwd`."""

    def __init__(self, *, program: str, reason: str) -> None:
        self.program, self.reason = program, reason
        super().__init__(f"could not start {program}: {reason}")


class InitializationTimeout(StartError):
    """The CLI did not answer initialize in time; raise `Options.initialize_timeout` if it is only slow."""

    def __init__(self, *, after: float, stderr_tail: Sequence[str] = ()) -> None:
        self.after, self.stderr_tail = after, tuple(stderr_tail)
        text = f"the CLI did not answer initialize within {after:g} s (Options.initialize_timeout)"
        super().__init__(with_tail(text, self.stderr_tail))


class InitializationFailed(StartError):
    """The CLI refused the session's options; `reason` is its own word for it. Correct them."""

    def __init__(self, *, reason: str, stderr_tail: Sequence[str] = ()) -> None:
        self.reason, self.stderr_tail = reason, tuple(stderr_tail)
        super().__init__(with_tail(f"the CLI refused to initialize: {reason}", self.stderr_tail))


class ExitedDuringStart(StartError):
    """The CLI ended before it had answered initialize; `stderr_tail` says why. `claude-actors doctor` looks further."""

    def __init__(self, *, code: int | None, signal: int | None, stderr_tail: Sequence[str] = ()) -> None:
        self.code, self.signal, self.stderr_tail = code, signal, tuple(stderr_tail)
        super().__init__(with_tail(f"the CLI ended during start ({describe_exit(code, signal)})", self.stderr_tail))


class StartTimeout(ClaudeActorsError, TimeoutError):
    """The session was not running within the time that its caller would wait. The start goes on; wait, or stop it."""

    def __init__(self, *, after: float) -> None:
        self.after = after
        super().__init__(f"the session was not running within {after:g} s; the start goes on: wait again, or stop() it")


class ResumeFailed(ExitedDuringStart):
    """The CLI knows no conversation with that id. Resume with the `cwd` and `HOME` that it had, or begin anew."""
