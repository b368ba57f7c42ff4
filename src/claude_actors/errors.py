"""Every error that callers can meet, as one family under `ClaudeActorsError`.

Named for the condition, with the facts as fields; the message says what to do next. This module imports nothing of the
package, so that every layer can raise these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class ClaudeActorsError(Exception):
    """Base of every error that this library raises on purpose."""


class InvalidOptions(ClaudeActorsError, ValueError):
    """An option's value cannot be used; the message names the option. Nothing was started."""


class NotSupported(ClaudeActorsError):
    """The port or the CLI cannot carry this operation; the session goes on."""


class EncodingFailed(ClaudeActorsError, ValueError):
    """A value cannot be written as JSON. Nothing was sent."""


class InvalidCallbackResult(ClaudeActorsError, TypeError):
    """A callback returned something that its event has no meaning for; the fallback answer was used."""


class ToolError(ClaudeActorsError):
    """Raise this in a tool of yours to refuse: the model is given the message as it stands, and no traceback."""


# --- starting ---


class StartError(ClaudeActorsError):
    """The session could not be started; nothing of it is left running."""


class UnsupportedVersion(StartError):
    """The CLI is older than this library can drive; update it."""

    def __init__(self, *, version: str | None, minimum: str, detail: str = "") -> None:
        self.version, self.minimum, self.detail = version, minimum, detail
        found = f"version {version}" if version else "a version that does not know our options"
        super().__init__(
            _sentence(
                f"the claude CLI is {found}; at least {minimum} is needed (npm install -g @anthropic-ai/claude-code)",
                detail,
            )
        )


class CLINotFound(StartError):
    """No `claude` program was found in any of the places that `searched` lists."""

    def __init__(self, *, searched: Sequence[str]) -> None:
        self.searched = tuple(searched)
        places = "; ".join(self.searched) or "nowhere"
        super().__init__(
            f"no claude CLI found (looked at: {places}). Install it with 'npm install -g @anthropic-ai/claude-code', "
            "or name it with Options(cli_path=...) or CLAUDE_ACTORS_CLI."
        )


class SpawnFailed(StartError):
    """The program was found but the operating system would not start it."""

    def __init__(self, *, program: str, reason: str) -> None:
        self.program, self.reason = program, reason
        super().__init__(f"could not start {program}: {reason}")


class InitializationTimeout(StartError):
    """The CLI did not answer initialize in time; raise `Options.initialize_timeout` if it is only slow."""

    def __init__(self, *, after: float, stderr_tail: Sequence[str] = ()) -> None:
        self.after, self.stderr_tail = after, tuple(stderr_tail)
        super().__init__(_with_tail(f"the CLI did not answer initialize within {after:g} s", self.stderr_tail))


class InitializationFailed(StartError):
    """The CLI answered initialize with an error."""

    def __init__(self, *, reason: str, stderr_tail: Sequence[str] = ()) -> None:
        self.reason, self.stderr_tail = reason, tuple(stderr_tail)
        super().__init__(_with_tail(f"the CLI refused to initialize: {reason}", self.stderr_tail))


class ExitedDuringStart(StartError):
    """The CLI ended before it had answered initialize."""

    def __init__(self, *, code: int | None, signal: int | None, stderr_tail: Sequence[str] = ()) -> None:
        self.code, self.signal, self.stderr_tail = code, signal, tuple(stderr_tail)
        super().__init__(_with_tail(f"the CLI ended during start ({describe_exit(code, signal)})", self.stderr_tail))


# --- control requests ---


class ControlError(ClaudeActorsError):
    """A control operation was not carried out; unless the reason is the session's end, the session goes on."""


class RequestFailed(ControlError):
    """The CLI answered the request with an error."""

    def __init__(self, *, subtype: str, reason: str, code: str | None = None) -> None:
        self.subtype, self.reason, self.code = subtype, reason, code
        super().__init__(f"{subtype} was refused by the CLI: {reason}" + (f" [{code}]" if code else ""))


class RequestTimeout(ControlError, TimeoutError):
    """The CLI did not answer in time. A late answer is dropped; the session is still usable."""

    def __init__(self, *, subtype: str, after: float) -> None:
        self.subtype, self.after = subtype, after
        super().__init__(f"{subtype} was not answered within {after:g} s; the session is still usable")


class TooManyPendingRequests(ControlError):
    """The limit of unanswered requests is reached; wait for some of them and try again."""

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        super().__init__(f"{limit} requests are pending already; wait for answers, then try again")


class InitQueueOverflow(ControlError):
    """Too much was sent before the session was running; wait for the start (`session.wait_running()`) first."""

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        super().__init__(f"{limit} operations are queued already while the session starts; wait until it runs")


class CheckpointingNotEnabled(ControlError):
    """`rewind_files` needs `Options(enable_file_checkpointing=True)`. Nothing was sent."""

    def __init__(self) -> None:
        super().__init__("file checkpointing is off: start the session with Options(enable_file_checkpointing=True)")


class WriteFailed(ControlError):
    """What was sent could not be written to the CLI (its input is closed, stuck, or over its bound)."""


# --- endings ---


class SessionEnded(ControlError):
    """The session is over, so the request or turn can have no answer; `reason` says how it ended."""

    def __init__(self, reason: str = "the session has ended") -> None:
        self.reason = reason
        super().__init__(reason)


class SessionStoppedError(SessionEnded):
    """The session was stopped on request before this was answered."""


class SessionCrashed(SessionEnded):
    """The CLI ended by itself with something unanswered: exit code or signal, and its last stderr lines."""

    def __init__(self, *, code: int | None, signal: int | None, stderr_tail: Sequence[str] = ()) -> None:
        self.code, self.signal, self.stderr_tail = code, signal, tuple(stderr_tail)
        super().__init__(_with_tail(f"the CLI ended ({describe_exit(code, signal)})", self.stderr_tail))


class TurnFailed(ClaudeActorsError):
    """A turn ended with an error result; `subtype` and `result` tell which, the session goes on."""

    def __init__(self, *, subtype: str, reason: str, result: object = None) -> None:
        self.subtype, self.reason, self.result = subtype, reason, result
        super().__init__(f"the turn ended with {subtype}: {reason}")


# --- mailboxes ---


class MailboxClosed(ClaudeActorsError):
    """The mailbox has given its last item; `error` is what ended its source, if that was a failure."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        super().__init__("the mailbox is closed" + (f": {error}" if error is not None else ""))


class MailboxTimeout(ClaudeActorsError, TimeoutError):
    """Nothing arrived in time; the mailbox is still usable."""

    def __init__(self, *, after: float) -> None:
        self.after = after
        super().__init__(f"nothing arrived within {after:g} s")


class MailboxOverflow(ClaudeActorsError):
    """A mailbox with `overflow="fail"` was full; its session has failed. Read faster, or choose another policy."""

    def __init__(self, *, mailbox: str, limits: Mapping[str, int]) -> None:
        self.mailbox, self.limits = mailbox, dict(limits)
        super().__init__(f"mailbox {mailbox!r} overflowed its limits {self.limits}")


class SpillFailed(ClaudeActorsError):
    """A mailbox's overflow could not be written to or read from disk. What it held before is still delivered."""

    def __init__(self, *, reason: str) -> None:
        self.reason = reason
        super().__init__(f"a mailbox could not use its spill file: {reason}; read faster, or make room on the disk")


# --- words ---


def describe_exit(code: int | None, signal: int | None) -> str:
    """Say an exit in words: `exit code 1`, `signal 9`, `unknown exit`."""
    if signal is not None:
        return f"signal {signal}"
    return f"exit code {code}" if code is not None else "unknown exit"


def _sentence(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


def _with_tail(text: str, tail: Sequence[str]) -> str:
    return text if not tail else text + "; its last output: " + " | ".join(tail[-5:])
