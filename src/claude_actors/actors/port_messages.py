"""What a PortActor can be told: the session's commands, and what its port says.

The sink stands here too, because it does nothing but turn a port's reports into these messages.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import pykka
from msgspec import Struct
from pykka import ActorDeadError

from claude_actors.actors.base import tell_now
from claude_actors.actors.port_types import PortExit, StopDeadlines

# --- commands ---


class WriteLines(Struct, frozen=True):
    """Write whole lines, newlines included; only a failure is reported."""

    lines: bytes


class CloseInput(Struct, frozen=True):
    """End the other side's input after what was written."""


class StopPort(Struct, frozen=True):
    """End the other side within the deadlines; overtakes what is queued. PortExited is reported, once, at the end.

    `last_line` is written before its input ends; whether that succeeds makes no difference.
    """

    urgent: ClassVar[bool] = True

    deadlines: StopDeadlines = StopDeadlines()
    last_line: bytes | None = None


class ReportTo(Struct, frozen=True):
    """Have another supervisor told of the actor's end: the one that it had is gone."""

    supervisor: pykka.ActorRef[Any]


class GiveUpPort(Struct, frozen=True):
    """Wait no more for a port that does not say that it has ended."""

    urgent: ClassVar[bool] = True


Command: TypeAlias = WriteLines | CloseInput | StopPort | ReportTo | GiveUpPort

# --- what the port says, on its way from the sink into the actor ---


class Spawned(Struct, frozen=True):
    """The sink's `spawned`."""

    pid: int | None


class SpawnRefused(Struct, frozen=True):
    """The sink's `spawn_failed`."""

    error: BaseException


class ChunkReceived(Struct, frozen=True):
    """The sink's `received`."""

    chunk: bytes


class StderrChunk(Struct, frozen=True):
    """The sink's `stderr`."""

    chunk: bytes


class InputFailed(Struct, frozen=True):
    """The sink's `write_failed`."""

    error: BaseException


class Exited(Struct, frozen=True):
    """The sink's `exited`."""

    exit: PortExit


Happening: TypeAlias = Spawned | SpawnRefused | ChunkReceived | StderrChunk | InputFailed | Exited


class ActorSink:
    """Turns a port's reports into messages; those for a dead actor vanish."""

    def __init__(self, ref: pykka.ActorRef[Any]) -> None:
        self._ref = ref

    def spawned(self, pid: int | None) -> None:
        """Pass it on."""
        self._tell(Spawned(pid))

    def spawn_failed(self, error: BaseException) -> None:
        """Pass it on."""
        self._tell(SpawnRefused(error))

    def received(self, chunk: bytes) -> None:
        """Pass it on."""
        try:
            tell_now(self._ref, ChunkReceived(chunk))
        except ActorDeadError:
            return

    def stderr(self, chunk: bytes) -> None:
        """Pass it on."""
        self._tell(StderrChunk(chunk))

    def write_failed(self, error: BaseException) -> None:
        """Pass it on."""
        self._tell(InputFailed(error))

    def exited(self, exit: PortExit) -> None:
        """Pass it on."""
        self._tell(Exited(exit))

    def _tell(self, message: Happening) -> None:
        try:
            self._ref.tell(message)
        except ActorDeadError:
            return
