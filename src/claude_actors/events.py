"""What happens to a session, as values on its `events()` mailbox.

Past tense, frozen, small. The conversation itself is not here (that is `messages()`); exactly one of the three final
events comes last.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from claude_actors.errors import ClaudeActorsError
from claude_actors.wire.control import ServerInfo

CallbackKind = Literal["hook", "permission", "mcp", "elicitation", "dialog"]


class Event(msgspec.Struct, frozen=True):
    """Base of everything that `events()` gives."""


class LifecycleChanged(Event, frozen=True):
    """The session moved to another lifecycle state (`starting`, `init_sent`, `running`, `stopped`, `failed`)."""

    previous: str
    state: str


class SessionStarted(Event, frozen=True):
    """The CLI accepted initialize; `server_info` is what it told of itself."""

    server_info: ServerInfo
    resumed: bool = False


class StateChanged(Event, frozen=True):
    """The CLI said what it is doing: `running`, `requires_action` (waits for a permission) or `idle`."""

    state: str


class TurnStarted(Event, frozen=True):
    """The CLI began to work on the prompt with this uuid."""

    uuid: str


class TurnFinished(Event, frozen=True):
    """The prompt with this uuid has its result."""

    uuid: str
    subtype: str | None
    is_error: bool


class TurnUnanswered(Event, frozen=True):
    """The prompt with this uuid has no result; `resent_as` is its new uuid if a restarted session asks it again."""

    uuid: str
    reason: str
    started: bool
    resent_as: str | None = None


class TurnStalled(Event, frozen=True):
    """Nothing was heard for `silent_for` seconds in an open turn although nothing on our side is pending."""

    silent_for: float


class StderrReceived(Event, frozen=True):
    """The CLI wrote these lines to stderr (only with `Options(stderr_events=True)`)."""

    lines: tuple[str, ...]


class LineGrowing(Event, frozen=True):
    """An unfinished line has passed the warning mark; it may still become too long."""

    size: int


class LineDiscarded(Event, frozen=True):
    """A line over the limit was thrown away whole; the session goes on with the next."""

    size: int
    limit: int


class JunkSeen(Event, frozen=True):
    """A line was no usable frame: what is wrong with it and how it begins."""

    reason: str
    start: str
    request_id: str | None = None


class RequestRefused(Event, frozen=True):
    """The CLI asked for something that we do not know; it got an error response."""

    subtype: str
    reason: str


class CallbackTimedOut(Event, frozen=True):
    """A callback did not answer in time and the fallback was sent."""

    kind: CallbackKind
    name: str
    request_id: str
    after: float


class CallbackCrashed(Event, frozen=True):
    """A callback raised, or returned what cannot be sent, and the fallback was sent."""

    kind: CallbackKind
    name: str
    request_id: str
    reason: str


class CallbackCancelled(Event, frozen=True):
    """The CLI withdrew its request; the callback was told and no answer is sent."""

    kind: CallbackKind
    name: str
    request_id: str


class CallbackRefused(Event, frozen=True):
    """Too many callbacks are pending or hanging; the fallback was sent at once and nothing was started."""

    kind: CallbackKind
    name: str
    request_id: str
    reason: str


class CallbackAbandoned(Event, frozen=True):
    """A callback still runs after its request was decided; `abandoned` is how many threads do so now."""

    kind: CallbackKind
    name: str
    request_id: str
    abandoned: int


class CallbackWarned(Event, frozen=True):
    """A callback's result has no meaning for its event and was taken as 'continue'."""

    kind: CallbackKind
    name: str
    request_id: str
    warning: str


class MailboxOverflowed(Event, frozen=True):
    """A mailbox passed its bound: it began or ended spilling to disk, or dropped its oldest items."""

    mailbox: str
    what: Literal["spilling", "spill_drained", "dropped", "failed"]
    dropped: int = 0


class SessionRestarted(Event, frozen=True):
    """The CLI died and a new one runs: which attempt, why, and whether the conversation was resumed."""

    attempt: int
    reason: ClaudeActorsError
    resumed: bool


class SessionCompleted(Event, frozen=True):
    """Final: the CLI ended by itself with nothing left unanswered."""

    code: int | None


class SessionStopped(Event, frozen=True):
    """Final: the session was stopped on request."""

    reason: str


class SessionFailed(Event, frozen=True):
    """Final: the session could not start or go on; `history` holds the newest reasons of earlier restarts."""

    error: ClaudeActorsError
    history: tuple[ClaudeActorsError, ...] = ()


FinalEvent = SessionCompleted | SessionStopped | SessionFailed
