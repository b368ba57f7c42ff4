"""OneShotActor: one CLI process without a control protocol, from its prompt on stdin to its exit.

It puts every line into a mailbox and closes that with the error that ended the process, if one did. It answers nothing
and decides nothing about the conversation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import pykka

from claude_actors.actors import port_messages
from claude_actors.actors.base import ActorEnded, ReactorActor
from claude_actors.actors.contained import note, warn
from claude_actors.actors.port import PortActor
from claude_actors.actors.port_types import KILL_NOW, Port
from claude_actors.actors.preparation import (
    LaunchFailed,
    Launching,
    LaunchReady,
    Preparation,
    discard_launch,
    start_port,
    stop_deadlines,
)
from claude_actors.actors.stderr_caller import StderrCaller
from claude_actors.actors.task_pool import PoolExhausted, TaskPool
from claude_actors.cli.launch import Launch
from claude_actors.errors import ActorFailed, ClaudeActorsError, SessionCrashed, SpawnFailed
from claude_actors.mailbox import Mailbox
from claude_actors.options import Options
from claude_actors.protocol.inputs import (
    FramesReceived,
    PortExited,
    PortSpawned,
    PortStartFailed,
    StderrReceived,
    StopRequested,
)
from claude_actors.protocol.outcome import exit_during_start
from claude_actors.wire.codec import Conversation, Malformed
from claude_actors.wire.messages import Message


class OneShotActor(ReactorActor):
    """Ends when its process has; a StopRequested ends the process first."""

    def __init__(self, options: Options, prompt: str, mailbox: Mailbox[Message]) -> None:
        super().__init__()
        self._options = options
        self._prompt = prompt
        self._mailbox = mailbox
        self._launch: Launch | None = None
        self._port: pykka.ActorRef[PortActor] | None = None
        self._stopped = False
        self._has_spoken = False
        self._has_result = False
        self._error: ClaudeActorsError | None = None

    def on_start(self) -> None:
        """Launch in a task's thread: that looks at the file system and may ask the CLI for its version."""
        self._pool = TaskPool.of(self.reactor)
        self._stderr = StderrCaller(self._options.stderr, self._pool)
        self._launching = Launching()
        wanted = Preparation(self._options, self._mailbox.crowded, self._launching, one_shot=self._prompt)
        try:
            self._pool.run(partial(wanted.run_for, self.actor_ref))
        except PoolExhausted as error:
            self._fail(SpawnFailed(program="the CLI", reason=str(error)))

    def on_message(self, message: Any) -> None:
        """Pass on what the process says."""
        match message:
            case FramesReceived(frames):
                self._received(frames)
            case LaunchReady(launch, port):
                self._launched(launch, port)
            case StderrReceived(lines):
                self._stderr.pass_on(lines)
            case LaunchFailed(error) | PortStartFailed(error):
                self._fail(error)
            case PortExited():
                self._exited(message)
            case StopRequested():
                self._stop_process()
            case PortSpawned():
                pass
            case ActorEnded(reason=reason):
                if reason is not None:
                    self._error = self._error or ActorFailed(f"the port actor ended: {reason!r}")
                self.finish()
            case _:
                # A line that could not be written shows in the exit; the end follows by itself.
                note("one_shot_input_failed", kind=type(message).__name__)

    def stop_requested(self) -> None:
        """pykka's own stop: end the process first."""
        self._stop_process()

    def on_end(self, reason: BaseException | None) -> None:
        """Leave nothing behind, and nobody waiting."""
        if reason is not None:
            self._error = ActorFailed(f"the query's actor failed: {reason!r}")
        if self._port is not None and self._port.is_alive():
            self._port.tell(port_messages.StopPort(KILL_NOW))
        if self._launch is not None:
            self._launch.cleanup()
        self._mailbox.close(None if self._stopped else self._error)

    @property
    def rescue(self) -> Callable[[object], bool]:
        """Ends what was launched too late."""
        return discard_launch

    # --- starting ---

    def _launched(self, launch: Launch, port: Port) -> None:
        self._launch = launch
        self._port = start_port(port, self.actor_ref, self._options)
        if self._stopped:
            self._port.tell(port_messages.StopPort(KILL_NOW))
            return
        if launch.stdin:
            self._port.tell(port_messages.WriteLines(launch.stdin))
        self._port.tell(port_messages.CloseInput())

    # --- running ---

    def _received(self, frames: list[Any]) -> None:
        lines = []
        for frame in frames:
            if isinstance(frame, list):
                lines += frame
            elif isinstance(frame, Conversation):
                lines.append(frame.line)
                self._has_result = self._has_result or frame.type == "result"
            elif isinstance(frame, Malformed):
                warn("query_line_was_no_frame", reason=frame.reason)
            else:
                note("query_frame_ignored", kind=type(frame).__name__)
        self._has_spoken = self._has_spoken or bool(lines)
        self._mailbox.put_many(lines)

    # --- ending ---

    def _stop_process(self) -> None:
        self._stopped = True
        if self._port is not None:
            # Its input has ended long since, so waiting for it to heed that would only let it run on, at a cost.
            deadlines = msgspec.structs.replace(stop_deadlines(self._options), eof=0.0)
            self._port.tell(port_messages.StopPort(deadlines))
        elif self._launching.cancel():
            self.finish()

    def _exited(self, exit: PortExited) -> None:
        # A turn that ended with an error exits with 1 too; its result says more.
        if self._has_result or (exit.code == 0 and self._has_spoken):
            return
        if self._has_spoken:
            self._error = SessionCrashed(code=exit.code, signal=exit.signal, stderr_tail=exit.stderr_tail)
        else:
            self._error = exit_during_start(exit.code, exit.signal, exit.stderr_tail)

    def _fail(self, error: ClaudeActorsError) -> None:
        self._error = error
        if self._port is None:
            self.finish()
