"""How a session ends, and which error names the end of a failed start.

Pure decisions on what is known: the exit, the captured output, what was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import msgspec

from claude_actors.errors import (
    ClaudeActorsError,
    ControlError,
    ExitedDuringStart,
    InitializationFailed,
    InitializationTimeout,
    ResumeFailed,
    SessionEnded,
    SessionStoppedError,
    StartError,
    UnsupportedVersion,
)

MINIMUM_VERSION = "2.0.0"
_NO_CONVERSATION = "No conversation found"


class Completed(msgspec.Struct, frozen=True):
    """The CLI ended by itself, or was let go, with nothing left unanswered."""

    code: int | None = 0


class Stopped(msgspec.Struct, frozen=True):
    """Somebody stopped the session."""

    reason: str = "stop requested"


class Failed(msgspec.Struct, frozen=True):
    """The session could not start, or could not go on."""

    error: ClaudeActorsError


Outcome = Completed | Stopped | Failed


def reason_of(outcome: Outcome) -> ControlError:
    """Give the error for who still waits when a session ends so."""
    match outcome:
        case Failed(error) if isinstance(error, ControlError):
            return error
        case Failed(error):
            ended = SessionEnded(str(error))
            ended.__cause__ = error
            return ended
        case Stopped(reason):
            return SessionStoppedError(reason)
        case Completed():
            return SessionEnded("the session has completed")
        case _:
            assert_never(outcome)


def exit_during_start(code: int | None, signal: int | None, stderr_tail: Sequence[str]) -> StartError:
    """Name the error of a process that ended before it had accepted initialize."""
    kind = ResumeFailed if any(_NO_CONVERSATION in line for line in stderr_tail) else ExitedDuringStart
    return _unknown_option(stderr_tail) or kind(code=code, signal=signal, stderr_tail=stderr_tail)


def refused_during_start(reason: str, stderr_tail: Sequence[str]) -> StartError:
    """Name the error of a process that answered initialize with an error."""
    return _unknown_option(stderr_tail) or InitializationFailed(reason=reason, stderr_tail=stderr_tail)


def timeout_during_start(after: float, stderr_tail: Sequence[str]) -> StartError:
    """Name the error of a process that did not answer initialize in time."""
    return _unknown_option(stderr_tail) or InitializationTimeout(after=after, stderr_tail=stderr_tail)


def _unknown_option(stderr_tail: Sequence[str]) -> UnsupportedVersion | None:
    """An old CLI refuses our flags; its complaint tells more than its exit code does."""
    for line in stderr_tail:
        if "unknown option" in line:
            return UnsupportedVersion(version=None, minimum=MINIMUM_VERSION, detail=line.strip())
    return None
