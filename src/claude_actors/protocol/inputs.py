"""What can happen to a session, one value each: the only way into `SessionMachine`."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from claude_actors.errors import ClaudeActorsError
from claude_actors.protocol.framing import LineDiscarded, LineGrowing
from claude_actors.wire.codec import Frame
from claude_actors.wire.control import OutboundRequest


class FramesReceived(msgspec.Struct, frozen=True):
    """A batch of what the port read, in order; a list is conversation lines that steer no session, unread.

    Such a line may be a bytearray if it is long; nobody changes it.
    """

    frames: list[Frame | list[bytes] | LineDiscarded | LineGrowing]


class CallbackFinished(msgspec.Struct, frozen=True):
    """A callback has an answer: the whole encoded response line."""

    request_id: str
    line: bytes


class CallbacksFinished(msgspec.Struct, frozen=True):
    """Callbacks have answers, which are told together because they came together."""

    finished: tuple[CallbackFinished, ...]


class CallbackFailed(msgspec.Struct, frozen=True):
    """A callback raised or returned what cannot be sent."""

    request_id: str
    reason: str


class CallbackRejected(msgspec.Struct, frozen=True):
    """A callback could not be started because too many hang."""

    request_id: str
    reason: str


class PromptRequested(msgspec.Struct, frozen=True):
    """A caller sends a prompt: its uuid and its encoded user frame; `resent` is one that a crash left unanswered."""

    uuid: str
    line: bytes
    resent: bool = False


class OperationRequested(msgspec.Struct, frozen=True):
    """A caller wants a control request carried out; `operation` is the caller's own number for it."""

    operation: int
    request: OutboundRequest
    timeout: float


class Prepared(msgspec.Struct, frozen=True):
    """It is known how the CLI is started and what it is told first."""

    initialize: OutboundRequest
    initialize_timeout: float


class PortSpawned(msgspec.Struct, frozen=True):
    """The process runs."""

    pid: int | None


class PortStartFailed(msgspec.Struct, frozen=True):
    """The process could not be started."""

    error: ClaudeActorsError


class StderrReceived(msgspec.Struct, frozen=True):
    """The process wrote to stderr."""

    lines: tuple[str, ...]


class PortWriteFailed(msgspec.Struct, frozen=True):
    """Something could not be written to the process, and nothing after it can be."""

    error: ClaudeActorsError


class PortExited(msgspec.Struct, frozen=True):
    """The process has ended and everything it wrote has been read."""

    code: int | None
    signal: int | None
    stderr_tail: tuple[str, ...] = ()


class TimerFired(msgspec.Struct, frozen=True):
    """A timer that the machine has set is due."""

    key: str


class FailureRequested(msgspec.Struct, frozen=True):
    """Something around the session makes it impossible to go on (a mailbox that must not overflow did)."""

    error: ClaudeActorsError


class FinishRequested(msgspec.Struct, frozen=True):
    """Let the session go as soon as no turn, callback, request or background task needs it."""


class StopRequested(msgspec.Struct, frozen=True):
    """End the session now; overtakes what is queued."""

    urgent: ClassVar[bool] = True

    reason: str = "stop requested"


Input = (
    FramesReceived
    | CallbacksFinished
    | CallbackFailed
    | CallbackRejected
    | PromptRequested
    | OperationRequested
    | Prepared
    | PortSpawned
    | PortStartFailed
    | StderrReceived
    | PortWriteFailed
    | PortExited
    | TimerFired
    | FailureRequested
    | FinishRequested
    | StopRequested
)
