"""The actor that owns a port: lines out, decoded frames in, and an end that is always carried through.

It decodes and batches; what frames mean is the session's business. It reports the machine's own inputs. However the
actor ends, its port is stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, Final, assert_never, get_args

import pykka
from pykka import ActorDeadError

from claude_actors.actors.base import ReactorActor, Supervisor, tell_now
from claude_actors.actors.contained import run_contained, warn
from claude_actors.actors.port_messages import (
    ActorSink,
    ChunkReceived,
    CloseInput,
    Command,
    Exited,
    GiveUpPort,
    Happening,
    InputFailed,
    ReportTo,
    Spawned,
    SpawnRefused,
    StderrChunk,
    StopPort,
    WriteLines,
)
from claude_actors.actors.port_types import KILL_NOW, Port, StopDeadlines
from claude_actors.actors.stderr_ring import StderrRing
from claude_actors.errors import ClaudeActorsError, SpawnFailed, WriteFailed
from claude_actors.protocol.framing import MAX_LINE, WARN_AT, Framed, LineBuffer
from claude_actors.protocol.inputs import (
    FramesReceived,
    PortExited,
    PortSpawned,
    PortStartFailed,
    PortWriteFailed,
    StderrReceived,
    StopRequested,
)
from claude_actors.wire.skim import skim_lines

#: A port has this long, beyond its own deadlines, to say that it has ended.
OVERDUE: Final = 3.0


class PortActor(ReactorActor):
    """Owns one port for its whole life, which it starts; ends when the port has.

    PortSpawned or PortStartFailed is reported to the session first, and the port's end last.
    """

    accepts: ClassVar[tuple[type, ...]] = (*get_args(Command), *get_args(Happening))

    def __init__(
        self,
        port: Port,
        session: pykka.ActorRef[Any],
        *,
        supervisor: Supervisor = None,
        stderr_lines: int = 100,
        report_stderr: bool = False,
        max_line: int = MAX_LINE,
        warn_at: int = WARN_AT,
        stop_deadlines: StopDeadlines | None = None,
    ) -> None:
        super().__init__(supervisor=supervisor)
        self._port = port
        self._session = session
        self._lines = LineBuffer(max_line, warn_at)
        self._stderr = StderrRing(stderr_lines)
        self._report_stderr = report_stderr
        self._stop_deadlines = stop_deadlines or StopDeadlines()
        self._port_running = False
        self._failure: BaseException | None = None

    def on_start(self) -> None:
        """Start the port: from here on it must be stopped, whatever happens."""
        self._port_running = True
        try:
            self._port.start(ActorSink(self.actor_ref))
        except BaseException as error:
            self._fail(error)

    def on_message(self, message: Command | Happening) -> None:
        """Carry out a command or pass on what the port said; after a failure only the port's end matters."""
        if self._failure is not None:
            if isinstance(message, Exited | SpawnRefused | GiveUpPort):
                self._port_running = False
                self.finish(self._failure)
            return
        try:
            self._handle_message(message)
        except BaseException as error:
            self._fail(error)

    def _handle_message(self, message: Command | Happening) -> None:
        match message:
            case ChunkReceived(chunk):
                self._pass_on(self._lines.feed(chunk))
            case WriteLines(lines):
                self._write(lines)
            case StderrChunk(chunk):
                self._pass_on_stderr(self._stderr.feed(chunk))
            case CloseInput():
                self._port.close_input()
            case StopPort(deadlines, last_line):
                self._stop_port(deadlines, last_line)
            case ReportTo(supervisor):
                self.supervisor = supervisor
            case GiveUpPort():
                self._give_up()
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
        """End the port first; whoever asked waits until it has ended.

        The session is told, so that it does not take the end for a crash.
        """
        self._tell(StopRequested("the actor of its port was stopped"))
        self._stop_port(self._stop_deadlines)

    def on_end(self, reason: BaseException | None) -> None:
        """Leave nothing running, whatever has ended the actor."""
        if self._port_running:
            self._port.stop(KILL_NOW)

    def _stop_port(self, deadlines: StopDeadlines, last_line: bytes | None = None) -> None:
        if last_line is not None:
            with suppress(ClaudeActorsError):
                self._port.write(last_line)
        self._port.stop(deadlines)

    def _fail(self, error: BaseException) -> None:
        """End the port before the actor ends: who is told of that must find nothing left."""
        self._failure = error
        self._port.stop(KILL_NOW)
        self.tell_after(KILL_NOW.kill + OVERDUE, GiveUpPort())

    def _give_up(self) -> None:
        warn("port_did_not_end", port=type(self._port).__name__)
        self._end(PortExited(None, None, self._stderr.tail))

    def _write(self, lines: bytes) -> None:
        try:
            self._port.write(lines)
        except ClaudeActorsError as error:
            self._tell(PortWriteFailed(error))

    def _pass_on(self, framed: list[Framed]) -> None:
        if framed:
            self._tell(FramesReceived(skim_lines(framed)), tell_now)

    def _pass_on_stderr(self, lines: tuple[str, ...]) -> None:
        if lines and self._report_stderr:
            self._tell(StderrReceived(lines))

    def _end(self, last_words: PortExited | PortStartFailed) -> None:
        self._port_running = False
        self._tell(last_words)
        self.finish()

    def _tell(self, message: object, tell: Callable[[pykka.ActorRef[Any], object], None] = pykka.ActorRef.tell) -> None:
        try:
            tell(self._session, message)
        except ActorDeadError:
            # Nobody is left to read: what still runs must not go on alone.
            if self._port_running:
                run_contained("port_stop_failed", self._port.stop, self._stop_deadlines)


def _as_ours(error: BaseException, kind: Callable[[str], ClaudeActorsError]) -> ClaudeActorsError:
    return error if isinstance(error, ClaudeActorsError) else kind(str(error) or type(error).__name__)


def _start_error(error: BaseException) -> ClaudeActorsError:
    return _as_ours(error, lambda reason: SpawnFailed(program="the CLI", reason=reason))
