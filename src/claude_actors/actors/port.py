"""The actor that owns a port: lines out, decoded frames in, and an end that is always carried through.

It decodes and batches; what frames mean is the session's business. It reports the machine's own inputs. However the
actor ends, its port is stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

import pykka
from pykka import ActorDeadError

from claude_actors.actors.base import ReactorActor, Supervisor
from claude_actors.actors.contained import run_contained
from claude_actors.actors.port_messages import (
    ActorSink,
    ChunkReceived,
    CloseInput,
    Command,
    Exited,
    Happening,
    InputFailed,
    Spawned,
    SpawnRefused,
    StartPort,
    StderrChunk,
    StopPort,
    WriteLine,
)
from claude_actors.actors.port_types import KILL_NOW, Port, StopDeadlines
from claude_actors.actors.stderr_ring import StderrRing
from claude_actors.errors import ClaudeActorsError, SpawnFailed, WriteFailed
from claude_actors.protocol.framing import MAX_LINE, Framed, LineBuffer
from claude_actors.protocol.inputs import (
    FramesReceived,
    PortExited,
    PortSpawned,
    PortStartFailed,
    PortWriteFailed,
    StderrReceived,
)
from claude_actors.wire.codec import decode_line


class PortActor(ReactorActor):
    """Owns one port for its whole life; ends when the port has."""

    def __init__(
        self,
        port: Port,
        session: pykka.ActorRef[Any],
        *,
        supervisor: Supervisor = None,
        stderr_lines: int = 100,
        report_stderr: bool = False,
        max_line: int = MAX_LINE,
        stop_deadlines: StopDeadlines | None = None,
    ) -> None:
        super().__init__(supervisor=supervisor)
        self._port = port
        self._session = session
        self._lines = LineBuffer(max_line)
        self._stderr = StderrRing(stderr_lines)
        self._report_stderr = report_stderr
        self._stop_deadlines = stop_deadlines or StopDeadlines()
        self._port_running = False

    def on_message(self, message: Command | Happening) -> None:
        """Carry out a command or pass on what the port said."""
        match message:
            case ChunkReceived(chunk):
                self._pass_on(self._lines.feed(chunk))
            case WriteLine(line):
                self._write(line)
            case StderrChunk(chunk):
                self._pass_on_stderr(self._stderr.feed(chunk))
            case StartPort():
                self._start()
            case CloseInput():
                self._port.close_input()
            case StopPort(deadlines):
                self._stop_port(deadlines)
            case Spawned(pid):
                self._tell(PortSpawned(pid))
            case InputFailed(error):
                self._tell(PortWriteFailed(_as_ours(error, WriteFailed)))
            case SpawnRefused(error):
                self._end(PortStartFailed(_start_error(error)))
            case Exited(exit):
                self._pass_on(self._lines.finish())
                self._pass_on_stderr(self._stderr.finish())
                self._end(PortExited(exit.code, exit.signal, self._stderr.tail))
            case _:
                assert_never(message)

    def stop_requested(self) -> None:
        """End the port first; whoever asked waits until it has ended."""
        self._stop_port(self._stop_deadlines)

    def on_end(self, reason: BaseException | None) -> None:
        """Leave nothing running, whatever has ended the actor."""
        if self._port_running:
            self._port.stop(KILL_NOW)

    def _start(self) -> None:
        if self._port_running or self.ended:
            return
        self._port_running = True
        self._port.start(ActorSink(self.actor_ref))

    def _stop_port(self, deadlines: StopDeadlines) -> None:
        if self._port_running:
            self._port.stop(deadlines)
        else:
            self._end(PortStartFailed(SpawnFailed(program="the CLI", reason="stopped before it was started")))

    def _write(self, line: bytes) -> None:
        try:
            self._port.write(line)
        except ClaudeActorsError as error:
            self._tell(PortWriteFailed(error))

    def _pass_on(self, framed: list[Framed]) -> None:
        if framed:
            self._tell(FramesReceived([decode_line(item) if isinstance(item, bytes) else item for item in framed]))

    def _pass_on_stderr(self, lines: tuple[str, ...]) -> None:
        if lines and self._report_stderr:
            self._tell(StderrReceived(lines))

    def _end(self, last_words: PortExited | PortStartFailed) -> None:
        self._port_running = False
        self._tell(last_words)
        self.finish()

    def _tell(self, message: object) -> None:
        try:
            self._session.tell(message)
        except ActorDeadError:
            # Nobody is left to read: what still runs must not go on alone.
            if self._port_running:
                run_contained("port_stop_failed", self._port.stop, self._stop_deadlines)


def _as_ours(error: BaseException, kind: Callable[[str], ClaudeActorsError]) -> ClaudeActorsError:
    return error if isinstance(error, ClaudeActorsError) else kind(str(error) or type(error).__name__)


def _start_error(error: BaseException) -> ClaudeActorsError:
    return _as_ours(error, lambda reason: SpawnFailed(program="the CLI", reason=reason))
