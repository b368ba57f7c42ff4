"""Which failures are worth another attempt, and when.

Pure. The table decides by the error's class, the nearest base first; what it does not know is not tried again, because
a turn may have had effects.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from claude_actors import errors
from claude_actors.protocol.restarts import Backoff

Verdict = Literal["retry", "fresh", "limit", "stop", "fail"]
"""`retry` later; `fresh`: at once with a new conversation; `limit`: when the rate limit opens; `stop`: leave the task
unfinished, since somebody else stopped its session; `fail` for good."""


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often a failure that may pass is tried again, and how long to wait before each time."""

    retries: int = 2
    backoff: Backoff = Backoff(first=1.0, most=60.0, jitter=0.5)

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise errors.InvalidOptions("RetryPolicy: retries must not be negative")


VERDICTS: Final[dict[type[BaseException], Verdict]] = {
    # The process: crashes pass, a program that is missing or too old does not come by waiting.
    errors.SessionEnded: "retry",
    errors.SessionStoppedError: "stop",
    errors.WriteFailed: "retry",
    errors.StartError: "retry",
    errors.CLINotFound: "fail",
    errors.SpawnFailed: "fail",
    errors.UnsupportedVersion: "fail",
    errors.InitializationFailed: "fail",
    errors.ResumeFailed: "fresh",
    # The API: its own troubles pass, ours do not.
    errors.Overloaded: "retry",
    errors.RateLimited: "limit",
    errors.AuthenticationFailed: "fail",
    errors.ApiFailed: "fail",
    errors.TurnFailed: "fail",
    errors.ClaudeActorsError: "fail",
}

# They ask for another try by their definition.
_PASSING_STATUS: Final = (408, 409)


def classify(error: BaseException) -> Verdict:
    """Say what follows a failed attempt."""
    if type(error) is errors.ApiFailed and (error.status in _PASSING_STATUS or _was_not_reached(error)):
        return "retry"
    for kind in type(error).__mro__:
        if kind in VERDICTS:
            return VERDICTS[kind]
    return "fail"


def _was_not_reached(error: errors.ApiFailed) -> bool:
    """Tell a broken connection from other ends that have no status either, such as a prompt that is too long."""
    return error.status is None and getattr(error.result, "terminal_reason", None) == "api_error"
