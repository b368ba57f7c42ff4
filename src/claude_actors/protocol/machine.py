"""SessionMachine: one input in, effects out; every rule of a session's life without a thread, a clock or I/O.

It must not know who carries out its effects. The time is an argument. After a final state it gives no effect any more.
"""

from __future__ import annotations

from collections import deque
from typing import assert_never

import msgspec

from claude_actors import events
from claude_actors.errors import (
    ClaudeActorsError,
    ControlError,
    EncodingFailed,
    SessionCrashed,
    SessionEnded,
)
from claude_actors.protocol import inputs
from claude_actors.protocol.callback_desk import CALLBACK_TIMER, CallbackDesk
from claude_actors.protocol.callbacks import CallbackRules
from claude_actors.protocol.conversation import ConversationTracker
from claude_actors.protocol.counters import Counters
from claude_actors.protocol.effects import (
    ClearTimer,
    Effect,
    EmitEvent,
    EndSession,
    FailOperation,
    RefuseTurn,
    SetTimer,
    StopPort,
    WriteLine,
)
from claude_actors.protocol.frames import FrameReader
from claude_actors.protocol.inputs import Input, OperationRequested, PromptRequested
from claude_actors.protocol.lifecycle import Happening, State, advance
from claude_actors.protocol.outcome import (
    Completed,
    Failed,
    Outcome,
    Stopped,
    exit_during_start,
    reason_of,
    refused_during_start,
    timeout_during_start,
)
from claude_actors.protocol.request_desk import TIMER_PREFIX as REQUEST_TIMER
from claude_actors.protocol.request_desk import RequestDesk
from claude_actors.protocol.requests import StartQueue
from claude_actors.protocol.stall import STALL_TIMER, StallWatch
from claude_actors.protocol.turns import TurnTable
from claude_actors.wire.codec import ControlResponse, encode_request
from claude_actors.wire.control import Initialize, Interrupt, ServerInfo

INITIALIZE_TIMER = "initialize"
BROKEN_TIMER = "broken"
_LAST_WORDS = 1.0
_STDERR_TAIL = 100


class MachineConfig(msgspec.Struct, frozen=True):
    """Everything that shapes one process's session; `salt` makes its request ids unique across restarts."""

    salt: str
    rules: CallbackRules = CallbackRules()
    max_queued_operations: int = 16
    max_pending_requests: int = 64
    max_pending_callbacks: int = 32
    max_open_turns: int = 64
    max_line_bytes: int = 16 * 1024 * 1024
    stderr_events: bool = False
    stall_after: float | None = None
    resumed_session_id: str | None = None


class SessionMachine:
    """All state of a session over one CLI process. Feed it inputs, carry out what it returns, in order."""

    def __init__(self, config: MachineConfig) -> None:
        self.config = config
        self.state = State.STARTING
        self.counters = Counters()
        self.server_info: ServerInfo | None = None
        self.pid: int | None = None
        self.turns = TurnTable(limit=config.max_open_turns)
        self.requests = RequestDesk(salt=config.salt, limit=config.max_pending_requests, counters=self.counters)
        self.callbacks = CallbackDesk(rules=config.rules, limit=config.max_pending_callbacks, counters=self.counters)
        self.conversation = ConversationTracker(turns=self.turns, counters=self.counters)
        self.conversation.session_id = config.resumed_session_id
        self.queue: StartQueue[PromptRequested | OperationRequested] = StartQueue(limit=config.max_queued_operations)
        self._prepared = inputs.Prepared(Initialize(), 10.0)
        self._initialize_id = f"req_0_{config.salt}"
        self._frames = FrameReader(self)
        self._stderr: deque[str] = deque(maxlen=_STDERR_TAIL)
        self._finish_when_quiet = False
        self._broken: ClaudeActorsError | None = None
        self._stall = StallWatch(config.stall_after)

    def handle(self, event: Input, now: float) -> list[Effect]:
        """Take in what has happened and return what must be done about it, in order."""
        if self.state.is_final:
            self.counters.dropped_after_end += 1
            return _refusal(event)
        out: list[Effect] = []
        self._dispatch(event, now, out)
        if self._finish_when_quiet and self.is_quiet and not self.state.is_final:
            self._end(Happening.STOP_REQUESTED, Completed(), out)
        return out

    @property
    def is_quiet(self) -> bool:
        """Say whether no turn, callback, request or background task still needs the session."""
        busy = len(self.turns) or len(self.callbacks) or len(self.requests) or self.conversation.running_tasks
        return not busy and self.conversation.is_idle and self.state is State.RUNNING

    @property
    def _is_working(self) -> bool:
        conversation = self.conversation
        return bool(len(self.callbacks) or conversation.running_tasks or conversation.running_tools)

    def _dispatch(self, event: Input, now: float, out: list[Effect]) -> None:  # noqa: C901 - one line for each input
        match event:
            case inputs.FramesReceived():
                self._stall.heard(now)
                self._frames.read(event.frames, now, out)
            case inputs.CallbacksFinished():
                for finished in event.finished:
                    self.callbacks.finished(finished.request_id, finished.line, out)
            case inputs.CallbackFailed():
                self.callbacks.failed(event.request_id, event.reason, out)
            case inputs.CallbackRejected():
                self.callbacks.rejected(event.request_id, event.reason, out)
            case inputs.TimerFired():
                self._timer(event.key, now, out)
            case inputs.PromptRequested() | inputs.OperationRequested():
                self._wanted(event, now, out)
            case inputs.Prepared():
                self._prepared = event
            case inputs.PortSpawned():
                self._spawned(event, now, out)
            case inputs.StderrReceived():
                self._stderr.extend(event.lines)
                if self.config.stderr_events:
                    out.append(EmitEvent(events.StderrReceived(event.lines)))
            case inputs.PortStartFailed():
                self._end(Happening.REFUSED, Failed(event.error), out, port_alive=False)
            case inputs.PortWriteFailed():
                self._write_failed(event.error, now, out)
            case inputs.FailureRequested():
                self._end(Happening.BROKEN, Failed(event.error), out)
            case inputs.PortExited():
                self._exited(event, out)
            case inputs.FinishRequested():
                self._finish_when_quiet = True
            case inputs.StopRequested():
                self._end(Happening.STOP_REQUESTED, Stopped(event.reason), out)
            case _:
                assert_never(event)

    # --- starting ---

    def _spawned(self, event: inputs.PortSpawned, now: float, out: list[Effect]) -> None:
        if not self._move(Happening.SPAWNED, out):
            return
        self.pid = event.pid
        out.append(SetTimer(INITIALIZE_TIMER, now + self._prepared.initialize_timeout))
        try:
            out.append(WriteLine(encode_request(self._initialize_id, self._prepared.initialize)))
        except EncodingFailed as error:
            self._end(Happening.REFUSED, Failed(error), out)

    def confirm(self, now: float, out: list[Effect]) -> None:
        """The CLI accepted initialize: run, and send what was waiting, in order, without waiting between."""
        if self.state is not State.INIT_SENT:
            return
        out.append(ClearTimer(INITIALIZE_TIMER))
        self._move(Happening.CONFIRMED, out)
        for wanted in self.queue.drain():
            self._send(wanted, now, out)

    def responded(self, response: ControlResponse, now: float, out: list[Effect]) -> None:
        """Take in a response: to initialize, or to an operation."""
        if response.request_id != self._initialize_id or self.server_info is not None:
            self.requests.answered(response, out)
        elif response.success:
            self.server_info = ServerInfo.read(response.response)
            self.confirm(now, out)
            resumed = self.config.resumed_session_id is not None
            out.append(EmitEvent(events.SessionStarted(self.server_info, resumed)))
        else:
            # Also where a request had seemed to confirm: hooks may be missing, so going on would not be safe.
            error = refused_during_start(response.error or "no reason given", tuple(self._stderr))
            self._end(Happening.REFUSED, Failed(error), out)

    # --- sending ---

    def _wanted(self, wanted: PromptRequested | OperationRequested, now: float, out: list[Effect]) -> None:
        error: ControlError | None = None
        if isinstance(wanted, PromptRequested):
            error = self.turns.open(wanted.uuid, wanted.line)
        if error is None and self.state is State.RUNNING:
            self._send(wanted, now, out)
        elif error is None:
            error = self._queue(wanted)
        if error is not None:
            out.append(_refused(wanted, error))

    def _queue(self, wanted: PromptRequested | OperationRequested) -> ControlError | None:
        if isinstance(wanted, OperationRequested):
            return self.queue.add(wanted)
        # What was taken in once is not refused at a restart; the limit of open turns holds for it.
        error = self.queue.add(wanted, beyond_limit=wanted.resent)
        if error is not None:
            self.turns.withdraw(wanted.uuid)
        return error

    def _send(self, wanted: PromptRequested | OperationRequested, now: float, out: list[Effect]) -> None:
        if isinstance(wanted, OperationRequested):
            self.requests.send(wanted, now, out)
            return
        out.append(WriteLine(self.turns.written(wanted.uuid)))
        self._stall.arm(now, out)

    # --- timers ---

    def _timer(self, key: str, now: float, out: list[Effect]) -> None:
        if key == INITIALIZE_TIMER:
            error = timeout_during_start(self._prepared.initialize_timeout, tuple(self._stderr))
            if self.state is State.INIT_SENT:
                self._end(Happening.TIMED_OUT, Failed(error), out)
        elif key == BROKEN_TIMER and self._broken is not None:
            self._end(Happening.BROKEN, Failed(self._broken), out)
        elif key == STALL_TIMER:
            self._stall.look(now, out, turn_open=len(self.turns) > 0, explained=self._is_working)
        elif key == CALLBACK_TIMER:
            self.callbacks.look(now, out)
        elif key.startswith(REQUEST_TIMER):
            self.requests.timed_out(key.removeprefix(REQUEST_TIMER), out)

    # --- ending ---

    def _write_failed(self, error: ClaudeActorsError, now: float, out: list[Effect]) -> None:
        # A process that dies closes its input first: its exit and its last words tell more than the broken pipe does,
        # and there may be frames of it to read.
        if self._broken is None:
            self._broken = error
            out.append(SetTimer(BROKEN_TIMER, now + _LAST_WORDS))

    def _exited(self, event: inputs.PortExited, out: list[Effect]) -> None:
        tail = event.stderr_tail or tuple(self._stderr)
        if self.state is not State.RUNNING:
            error: ClaudeActorsError = exit_during_start(event.code, event.signal, tail)
            self._end(Happening.CRASHED, Failed(error), out, port_alive=False)
        elif event.code == 0 and not len(self.turns) and not len(self.requests):
            self._end(Happening.EXITED, Completed(event.code), out, port_alive=False)
        else:
            error = SessionCrashed(code=event.code, signal=event.signal, stderr_tail=tail)
            self._end(Happening.CRASHED, Failed(error), out, port_alive=False)

    def _end(self, happening: Happening, outcome: Outcome, out: list[Effect], *, port_alive: bool = True) -> None:
        if self.state is State.INIT_SENT:
            out.append(ClearTimer(INITIALIZE_TIMER))
        if self._broken is not None:
            out.append(ClearTimer(BROKEN_TIMER))
        in_turn = self.state is State.RUNNING and len(self.turns) > 0
        # An end is an end, also one that the table does not foresee in this state.
        self._move(happening if advance(self.state, happening).is_final else Happening.BROKEN, out)
        reason = reason_of(outcome)
        self._stall.disarm(out)
        self.requests.fail_all(reason, out)
        queued = [wanted for wanted in self.queue.drain() if isinstance(wanted, OperationRequested)]
        out += [FailOperation(wanted.operation, reason) for wanted in queued]
        self.callbacks.stop_all(out)
        if port_alive:
            # A CLI that is told to end finishes its turn first, however long that takes, unless it is interrupted.
            must_interrupt = in_turn and isinstance(outcome, Stopped)
            out.append(
                StopPort(encode_request(f"req_stop_{self.config.salt}", Interrupt()) if must_interrupt else None)
            )
        out.append(EndSession(outcome, self.turns.take_all(), self.conversation.session_id))

    def _move(self, happening: Happening, out: list[Effect]) -> bool:
        before, self.state = self.state, advance(self.state, happening)
        if self.state is before:
            return False
        out.append(EmitEvent(events.LifecycleChanged(before.value, self.state.value)))
        return True


def _refused(wanted: PromptRequested | OperationRequested, error: ControlError) -> Effect:
    if isinstance(wanted, PromptRequested):
        return RefuseTurn(wanted.uuid, error)
    return FailOperation(wanted.operation, error)


def _refusal(event: Input) -> list[Effect]:
    """Answer a caller that comes after the end: nothing reaches the CLI, but nobody waits in vain either."""
    if isinstance(event, PromptRequested | OperationRequested):
        return [_refused(event, SessionEnded())]
    return []
