"""SessionActor: the thin shell over SessionMachine for the life of one CLI process.

Feeds the machine whatever happens and carries out the effects, in order. It never runs user code, never waits, and
knows nothing of restarts: it ends when its process has, and tells its keeper how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, assert_never, get_args

import pykka
from pykka import ActorDeadError

from claude_actors import events
from claude_actors.actors import port_messages
from claude_actors.actors.base import ActorEnded, ReactorActor, Supervisor, tell_now
from claude_actors.actors.callback_runner import CallbackRunner
from claude_actors.actors.contained import warn
from claude_actors.actors.machine_config import machine_config
from claude_actors.actors.port import OVERDUE, PortActor
from claude_actors.actors.port_types import KILL_NOW, Port
from claude_actors.actors.preparation import (
    LaunchFailed,
    Launching,
    LaunchReady,
    discard_launch,
    start_port,
    stop_deadlines,
)
from claude_actors.actors.record import SessionRecord
from claude_actors.actors.session_messages import (
    Begin,
    Happening,
    PortOverdue,
    ServersRequested,
    SessionOver,
    Wish,
)
from claude_actors.actors.stderr_caller import StderrCaller
from claude_actors.actors.task_pool import PoolExhausted, TaskPool
from claude_actors.actors.timers import TimerHandle
from claude_actors.callbacks.shadowing import hook_warnings
from claude_actors.cli.launch import Launch
from claude_actors.errors import ActorFailed, ClaudeActorsError, SpawnFailed, TurnSilent
from claude_actors.protocol import effects, inputs
from claude_actors.protocol.machine import SessionMachine
from claude_actors.wire.control import OpenRequest


class SessionActor(ReactorActor):
    """One CLI process and its session; ends when the process is gone."""

    accepts: ClassVar[tuple[type, ...]] = (*get_args(inputs.Input), *get_args(Happening), events.CallbackWarned)

    def __init__(
        self, record: SessionRecord, pool: TaskPool, *, supervisor: Supervisor, resume: str | None, delay: float
    ) -> None:
        super().__init__(supervisor=supervisor)
        self._record = record
        self._options = record.options
        self._pool = pool
        self._resume = resume
        self._delay = delay
        self._timers: dict[str, TimerHandle] = {}
        self._launching: Launching | None = None
        self._launch: Launch | None = None
        self._port: pykka.ActorRef[PortActor] | None = None
        self._port_over = False
        self._end: effects.EndSession | None = None
        self._late: list[Wish] = []
        self._servers: dict[int, Mapping[str, Any]] = {}

    def on_start(self) -> None:
        """Make the machine, and begin at once or when the backoff is over."""
        self._callbacks = CallbackRunner(self._record, self.actor_ref, self._pool)
        self._stderr = StderrCaller(self._options.stderr, self._pool)
        self._machine = SessionMachine(machine_config(self._options, self._callbacks.rules(), self._resume))
        self._record.machine = self._machine
        self.tell_after(self._delay, Begin()) if self._delay > 0 else self._begin()

    def on_message(self, message: Any) -> None:
        """Feed the machine, or do what is the shell's own business."""
        match message:
            case inputs.FramesReceived():
                self._step(message)
            case inputs.CallbacksFinished() | inputs.CallbackFailed():
                self._callbacks.ended(message)
                self._step(message)
            case Begin():
                self._begin()
            case LaunchReady(launch, port):
                self._launched(launch, port)
            case LaunchFailed(error):
                self._launch_failed(error)
            case PortOverdue():
                self._give_up()
            case ActorEnded(reason=reason):
                self._port_ended(reason)
            case events.CallbackWarned():
                self._record.deliveries.emit(message)
            case inputs.StderrReceived(lines):
                self._stderr.pass_on(lines)
                self._step(message)
            case inputs.PromptRequested() | inputs.OperationRequested() | ServersRequested() if self._end is not None:
                self._late.append(message)
            case ServersRequested(servers, operation):
                self._callbacks.invocations.add_servers(servers)
                self._servers[operation.operation] = servers
                self._step(operation)
            case _:
                self._step(message)

    def stop_requested(self) -> None:
        """pykka's own stop: end as on request; whoever asked waits until the process is gone.

        The keeper is told, so that it does not start another process.
        """
        stop = inputs.StopRequested("the session's actor was stopped")
        if isinstance(self.supervisor, pykka.ActorRef) and self.supervisor.is_alive():
            self.supervisor.tell(stop)
        self._step(stop)

    def on_end(self, reason: BaseException | None) -> None:
        """Leave nothing behind, whatever has ended the actor."""
        for timer in self._timers.values():
            timer.cancel()
        self._callbacks.close()
        self._tell_port(port_messages.StopPort(KILL_NOW))
        if self._launch is not None:
            self._launch.cleanup()

    @property
    def rescue(self) -> Callable[[object], bool] | None:
        """Gives wishes back to the keeper, whose next process or end serves them; ends what was launched too late."""
        return partial(_give_back, self.supervisor)

    # --- starting ---

    def _begin(self) -> None:
        if self._end is not None:
            return
        first = self._record.take_first_launch()
        if first is not None:
            self.on_message(first)
            return
        self._launching = Launching()
        wanted = self._record.preparation(self._launching, self._resume)
        try:
            self._pool.run(partial(wanted.run_for, self.actor_ref))
        except PoolExhausted as error:
            self._launching = None
            self._step(inputs.PortStartFailed(SpawnFailed(program="the CLI", reason=str(error))))

    def _launched(self, launch: Launch, port: Port) -> None:
        self._launching, self._launch = None, launch
        self._port = self._record.port = start_port(port, self.actor_ref, self._options)
        if self._end is None:
            # The port's first report comes after this: it is told to us, and we are busy.
            self._step(inputs.Prepared(OpenRequest("initialize", launch.initialize), launch.initialize_timeout))
        else:
            self._port.tell(port_messages.StopPort(KILL_NOW))

    def _launch_failed(self, error: ClaudeActorsError) -> None:
        self._launching = None
        if self._end is None:
            self._step(inputs.PortStartFailed(error))
        else:
            self._finish_session()

    # --- running ---

    def _step(self, event: inputs.Input) -> None:
        wanted = self._machine.handle(event, self.reactor.now())
        # First of all: the CLI reads meanwhile.
        self._write([effect.line for effect in wanted if type(effect) is effects.WriteLine])
        for effect in wanted:
            self._carry_out(effect)

    def _carry_out(self, effect: effects.Effect) -> None:  # noqa: C901 - one line for each effect
        record = self._record
        match effect:
            case effects.DeliverMessages(lines):
                record.deliveries.deliver(lines)
            case effects.WriteLine():
                pass  # written before everything else
            case effects.StartCallback():
                self._callbacks.start(effect)
            case effects.SetTimer(key, at):
                self._set_timer(key, at)
            case effects.ClearTimer(key):
                self._clear_timer(key)
            case effects.EmitEvent(event):
                self._emit(event)
            case effects.CancelCallback(request_id, reason):
                self._callbacks.cancel(request_id, reason)
            case effects.CompleteOperation(operation, payload):
                self._servers_set(self._servers.pop(operation, None))
                record.complete_operation(operation, payload)
            case effects.FailOperation(operation, error):
                self._servers.pop(operation, None)
                record.fail_operation(operation, error)
            case effects.CompleteTurn(uuid, line):
                record.complete_turn(uuid, line)
            case effects.RefuseTurn(uuid, error):
                record.fail_turn(uuid, error)
            case effects.StopPort(last_line):
                self._stop_port(last_line)
            case effects.EndSession():
                self._end_with(effect)
            case _:
                assert_never(effect)

    def _emit(self, event: events.Event) -> None:
        self._record.deliveries.emit(event)
        if isinstance(event, events.LifecycleChanged) and event.state == "running":
            self._record.has_started(self.reactor.now())
        if isinstance(event, events.SessionStarted) and self._options.hooks is not None:
            for reason in hook_warnings(self._options.hooks.registrations(), event.server_info):
                warn("hooks_not_heeded", reason=reason)
        policy = self._record.policy
        if isinstance(event, events.TurnStalled) and policy is not None and policy.on_stall == "restart":
            silent = TurnSilent(f"the CLI was silent for {event.silent_for:g} s in an open turn")
            self.actor_ref.tell(inputs.FailureRequested(silent))

    def _servers_set(self, servers: Mapping[str, Any] | None) -> None:
        if servers is not None:
            self._record.present.use_servers(servers)
            self._callbacks.invocations.keep_servers(servers)

    def _set_timer(self, key: str, at: float) -> None:
        self._clear_timer(key)
        self._timers[key] = self.tell_at(at, inputs.TimerFired(key))

    def _clear_timer(self, key: str) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    def _write(self, lines: list[bytes]) -> None:
        """Write all lines of a step together: a write costs as much as the rest of an answer."""
        if not lines or self._port is None or not self._port.is_alive():
            return
        together = b"".join(lines)
        for written in (together,) if len(together) <= self._options.write_limit_bytes else lines:
            tell_now(self._port, port_messages.WriteLines(written))

    def _tell_port(self, message: port_messages.Command) -> None:
        if self._port is not None and self._port.is_alive():
            self._port.tell(message)

    # --- ending ---

    def _stop_port(self, last_line: bytes | None) -> None:
        deadlines = stop_deadlines(self._options)
        self._tell_port(port_messages.StopPort(deadlines, last_line))
        # The end of a process is certain. That of a port that somebody else has made is not.
        overdue = deadlines.eof + deadlines.term + deadlines.kill + OVERDUE
        self._timers["overdue"] = self.tell_after(overdue, PortOverdue())

    def _end_with(self, end: effects.EndSession) -> None:
        self._end = end
        self._callbacks.close()
        if self._needs_no_wait():
            self._finish_session()

    def _needs_no_wait(self) -> bool:
        if self._port is not None:
            # The port's last words may still wait in our inbox, behind a stop that overtook them; its end is the last.
            return self._port_over
        # A process that is being spawned is ended as soon as it is there.
        return self._launching is None or self._launching.cancel()

    def _give_up(self) -> None:
        if self._port is None:
            self._finish_session()
        else:
            self._tell_port(port_messages.GiveUpPort())

    def _port_ended(self, reason: BaseException | None) -> None:
        self._port_over = True
        if self._end is None:
            failure = ActorFailed(f"the port actor ended: {reason!r}")
            failure.__cause__ = reason
            self._step(inputs.FailureRequested(failure))
        if not self.ended:
            self._finish_session()

    def _finish_session(self) -> None:
        assert self._end is not None
        if isinstance(self.supervisor, pykka.ActorRef) and self.supervisor.is_alive():
            self.supervisor.tell(SessionOver(self._end, tuple(self._late)))
        self.finish()


def _give_back(keeper: Supervisor, message: object) -> bool:
    if discard_launch(message):
        return True
    if not isinstance(message, Wish) or not isinstance(keeper, pykka.ActorRef):
        return False
    try:
        keeper.tell(message)
    except ActorDeadError:
        return False
    return True
