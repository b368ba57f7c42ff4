"""What a session wants done, one value each: the only way out of `SessionMachine`.

Effects are carried out in the order in which they are given. None of them can block or run user code.
"""

from __future__ import annotations

from typing import Any

import msgspec

from claude_actors.errors import ClaudeActorsError
from claude_actors.events import CallbackKind, Event
from claude_actors.protocol.outcome import Outcome
from claude_actors.protocol.turns import OpenTurn
from claude_actors.wire.control import InboundRequest


class WriteLine(msgspec.Struct, frozen=True):
    """Write one whole encoded line to the CLI."""

    line: bytes


class DeliverMessages(msgspec.Struct, frozen=True):
    """Give these conversation lines to the consumers, in order."""

    lines: list[bytes]


class StartCallback(msgspec.Struct, frozen=True):
    """Run user code for a request of the CLI; `deadline` is None where it may take for ever."""

    request_id: str
    kind: CallbackKind
    name: str
    request: InboundRequest
    deadline: float | None


class CancelCallback(msgspec.Struct, frozen=True):
    """Tell a running callback that its answer is no longer wanted."""

    request_id: str
    reason: str


class CompleteOperation(msgspec.Struct, frozen=True):
    """Give a caller the payload of its response (None where the CLI sent none)."""

    operation: int
    payload: dict[str, Any] | None


class FailOperation(msgspec.Struct, frozen=True):
    """Give a caller the reason why its operation was not carried out."""

    operation: int
    error: ClaudeActorsError


class CompleteTurn(msgspec.Struct, frozen=True):
    """Give a caller the result line of its prompt."""

    uuid: str
    line: bytes


class RefuseTurn(msgspec.Struct, frozen=True):
    """Give a caller the reason why its prompt was not sent, or will have no result though the session goes on."""

    uuid: str
    error: ClaudeActorsError


class EmitEvent(msgspec.Struct, frozen=True):
    """Put an event on `events()`."""

    event: Event


class SetTimer(msgspec.Struct, frozen=True):
    """Feed `TimerFired(key)` back at this time; replaces a timer of the same key."""

    key: str
    at: float


class ClearTimer(msgspec.Struct, frozen=True):
    """Forget a timer."""

    key: str


class StopPort(msgspec.Struct, frozen=True):
    """End the process: EOF, TERM, KILL, each with its deadline; before that `last_line`, if it can be written."""

    last_line: bytes | None = None


class EndSession(msgspec.Struct, frozen=True):
    """Always last: how it ended, which prompts have no result, and what is needed to resume the conversation."""

    outcome: Outcome
    unanswered: tuple[OpenTurn, ...]
    session_id: str | None


Effect = (
    WriteLine
    | DeliverMessages
    | StartCallback
    | CancelCallback
    | CompleteOperation
    | FailOperation
    | CompleteTurn
    | RefuseTurn
    | EmitEvent
    | SetTimer
    | ClearTimer
    | StopPort
    | EndSession
)
