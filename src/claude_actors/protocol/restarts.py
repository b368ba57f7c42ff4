"""When a dead session is started again: intensity, backoff and the policy for what it left unanswered.

Pure decisions over times and reasons; who starts what is the keeper's business. The words are OTP's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Literal, assert_never

import msgspec

from claude_actors.errors import (
    ClaudeActorsError,
    CLINotFound,
    EncodingFailed,
    InvalidOptions,
    MailboxOverflow,
    ResumeFailed,
    SpawnFailed,
    SpillFailed,
    UnsupportedVersion,
)
from claude_actors.protocol.outcome import Completed, Failed, Outcome, Stopped
from claude_actors.protocol.turns import OpenTurn


class Backoff(msgspec.Struct, frozen=True, kw_only=True):
    """How long to wait before a restart: `first`, doubled each time up to `most`, and a random part of it more."""

    first: float = 0.1
    most: float = 30.0
    jitter: float = 0.5

    def delay(self, attempt: int, chance: float) -> float:
        """Return the seconds before restart `attempt` (from 1); `chance` is a random number from 0 to 1."""
        base = min(self.most, self.first * 2.0 ** min(attempt - 1, 62))
        return base * (1.0 + self.jitter * chance)


class Intensity:
    """At most `max_restarts` within `max_seconds`; one more means that restarting does not help."""

    def __init__(self, max_restarts: int, max_seconds: float) -> None:
        self._max_restarts = max_restarts
        self._max_seconds = max_seconds
        self._times: deque[float] = deque()

    def allow(self, now: float) -> bool:
        """Count a restart at `now`; False if it is one too many."""
        while self._times and now - self._times[0] > self._max_seconds:
            self._times.popleft()
        if len(self._times) >= self._max_restarts:
            return False
        self._times.append(now)
        return True

    @property
    def recent(self) -> int:
        """How many restarts count at present."""
        return len(self._times)


class UnansweredTurn(msgspec.Struct, frozen=True):
    """A prompt that a crash left without a result, as a policy's callable gets it."""

    uuid: str
    started: bool
    reason: str


UnansweredPolicy = Literal["report", "resend"] | Callable[[UnansweredTurn], Literal["report", "resend"]]


class RestartPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Keep a session alive over the death of its CLI.

    `unanswered`: what happens to prompts without a result: `report` fails them (a turn may have had effects), `resend`
    asks them again, a callable decides for each; it must not block, and runs in a thread of the task pool.
    `on_resume_failure`: `fail` the session, or go on with a `fresh` conversation. `on_stall`: `report` or `restart`.
    Of `max_seconds` only the time counts in which the session runs, so that one that never gets there is given up.
    """

    max_restarts: int = 3
    max_seconds: float = 5.0
    unanswered: UnansweredPolicy = "report"
    on_resume_failure: Literal["fail", "fresh"] = "fail"
    on_stall: Literal["report", "restart"] = "report"
    backoff: Backoff = Backoff()

    def __post_init__(self) -> None:
        if self.max_restarts < 0 or self.max_seconds <= 0:
            raise InvalidOptions("RestartPolicy: max_restarts must not be negative and max_seconds must be positive")
        if self.unanswered not in ("report", "resend") and not callable(self.unanswered):
            raise InvalidOptions("RestartPolicy: unanswered is 'report', 'resend' or a callable")
        if self.on_resume_failure not in ("fail", "fresh") or self.on_stall not in ("report", "restart"):
            raise InvalidOptions(
                "RestartPolicy: on_resume_failure is 'fail' or 'fresh', on_stall 'report' or 'restart'"
            )
        if not isinstance(self.backoff, Backoff):
            raise InvalidOptions("RestartPolicy: backoff is a Backoff(first=…, most=…, jitter=…)")


#: The newest reasons of a session that is restarted now and then for years.
MOST_REASONS: Final = 100


class Restarts:
    """The restarts of one session: whether one more may be, after which delay, and the newest `reasons`.

    Its clock stands still while nothing runs. A CLI that is slow to start, and dies, would else never be given up:
    its starts and the growing delays between them take longer than the window.
    """

    def __init__(self, policy: RestartPolicy) -> None:
        self._intensity = Intensity(policy.max_restarts, policy.max_seconds)
        self._backoff = policy.backoff
        self._ran = 0.0
        self.reasons: deque[ClaudeActorsError] = deque(maxlen=MOST_REASONS)

    def ran(self, seconds: float) -> None:
        """Note that a process has run for so long, from its start's end to its own."""
        self._ran += seconds

    def allow(self) -> bool:
        """Count one more; False if it is one too many."""
        return self._intensity.allow(self._ran)

    def delay(self, chance: float) -> float:
        """Return the seconds before the restart that was counted last: those that were long ago add nothing."""
        return self._backoff.delay(self._intensity.recent, chance)


# A mailbox outlives its processes, and one that has refused something takes nothing more.
_HOPELESS = (
    CLINotFound,
    EncodingFailed,
    InvalidOptions,
    MailboxOverflow,
    SpawnFailed,
    SpillFailed,
    UnsupportedVersion,
)
Verdict = Literal["finish", "resume", "fresh", "give_up"]


def decide(
    outcome: Outcome,
    policy: RestartPolicy | None,
    *,
    resumable: bool,
    forgettable: bool,
    allowed: Callable[[], bool],
) -> Verdict:
    """Say what follows an ending.

    `resumable`: a session id is known. `forgettable`: no turn has ended yet, so that starting as at first loses nothing
    (the CLI writes a conversation down a moment after it has told its id). `allowed()` counts one more restart.
    """
    match outcome:
        case Completed() | Stopped():
            return "finish"
        case Failed() if policy is None:
            return "finish"
        case Failed(error) if not _can_help(error, policy, forgettable) or not allowed():
            return "give_up"
        case Failed(ResumeFailed()):
            return "fresh"
        case Failed():
            return "resume" if resumable else "fresh"
        case _:
            assert_never(outcome)


def _can_help(error: ClaudeActorsError, policy: RestartPolicy | None, forgettable: bool) -> bool:
    """Starting again changes nothing about a program that is not there, too old, or given nonsense."""
    if isinstance(error, ResumeFailed):
        return forgettable or (policy is not None and policy.on_resume_failure == "fresh")
    return not isinstance(error, _HOPELESS)


def must_resend(policy: RestartPolicy, turn: OpenTurn, reason: str) -> bool:
    """Say whether a prompt without a result is asked again. A callable that raises counts as `report`."""
    choice = policy.unanswered
    if not callable(choice):
        return choice == "resend"
    try:
        return choice(UnansweredTurn(turn.uuid, turn.started, reason)) == "resend"
    except BaseException:
        return False
