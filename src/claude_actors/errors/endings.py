"""How a session that is over is told to whoever still waits for it."""

from __future__ import annotations

from collections.abc import Sequence

from claude_actors.errors.base import ClaudeActorsError
from claude_actors.errors.control import ControlError
from claude_actors.errors.words import describe_exit, with_tail


class SessionEnded(ControlError):
    """The session is over, so this has no answer; `reason` says how it ended. `Options.resume` goes on in another."""

    def __init__(self, reason: str = "the session has ended") -> None:
        self.reason = reason
        super().__init__(reason)


class SessionStoppedError(SessionEnded):
    """The session was stopped on request before this was answered. Nothing is wrong with it; it can be resumed."""


class SessionCrashed(SessionEnded):
    """The CLI ended by itself with something unanswered: exit code or signal, and its last stderr lines.

    The session is over; `Options.resume` takes its conversation up. A `RestartPolicy` would have done so by itself.
    """

    def __init__(self, *, code: int | None, signal: int | None, stderr_tail: Sequence[str] = ()) -> None:
        self.code, self.signal, self.stderr_tail = code, signal, tuple(stderr_tail)
        super().__init__(with_tail(f"the CLI ended ({describe_exit(code, signal)})", self.stderr_tail))


class ActorFailed(SessionEnded):
    """A part of this library failed under the session; the cause is chained. Please report it."""


class TurnSilent(SessionEnded):
    """The CLI was silent in an open turn for longer than `Options.stall_after`; the policy restarts it."""


class StopTimeout(ClaudeActorsError, TimeoutError):
    """The session was not over within the time that its caller would wait. The end goes on; `wait()` for it."""

    def __init__(self, *, after: float) -> None:
        self.after = after
        super().__init__(f"the session was not over within {after:g} s; the end goes on: wait() for it")
