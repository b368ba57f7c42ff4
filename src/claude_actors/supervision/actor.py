"""SupervisorActor: the thin shell over TreeMachine.

Feeds the machine whatever happens and carries out the effects, in order. It never waits and never runs user code: start
functions, stops and kills run in threads of the task pool and come back as messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias, assert_never, get_args

import msgspec

from claude_actors.actors.base import ReactorActor
from claude_actors.actors.contained import run_contained, warn
from claude_actors.actors.task_pool import TaskPool
from claude_actors.actors.timers import TimerHandle
from claude_actors.errors import SupervisionError, SupervisorStopped, describe_end
from claude_actors.mailbox.promise import Promise
from claude_actors.supervision import steps
from claude_actors.supervision.record import TreeRecord
from claude_actors.supervision.starter import Announced, Arrived, Starter


class WhichChildren(msgspec.Struct, frozen=True):
    """Ask for a tuple of ChildInfo."""


Message: TypeAlias = (
    WhichChildren | steps.Command | Arrived | Announced | steps.ChildEnded | steps.ChildStartFailed | steps.TimePassed
)


class SupervisorActor(ReactorActor):
    """One supervisor; ends when nothing of its tree is left, with a reason if it gave up.

    Commands are asked: the answer is a Promise that is settled when the command is carried out.
    """

    accepts: ClassVar[tuple[type, ...]] = get_args(Message)

    def __init__(self, record: TreeRecord) -> None:
        super().__init__()
        self._record = record
        self._machine = record.machine
        self._requests: set[Promise[Any]] = set()
        self._announced: dict[int, Any] = {}
        self._timer: TimerHandle | None = None

    def on_start(self) -> None:
        """Start the first child."""
        self._pool = TaskPool.of(self.reactor)
        self._step(steps.Begun())

    def on_message(self, message: Message) -> Any:
        """Feed the machine, or answer a question."""
        match message:
            case WhichChildren():
                return self._record.which_children()
            case steps.StartChild() | steps.TerminateChild() | steps.RestartChild() | steps.DeleteChild():
                return self._command(message)
            case Arrived():
                self._arrived(message)
            case Announced():
                self._supervisor_announced(message)
            case steps.ChildEnded(run):
                self._record.release(run)
                self._step(message)
            case steps.ChildStartFailed(run):
                self._announced.pop(run, None)
                self._step(message)
            case steps.TimePassed():
                self._step(message)
            case _:
                assert_never(message)
        return None

    def stop_requested(self) -> None:
        """pykka's own stop: stop the tree; whoever asked waits until nothing is left of it."""
        self._step(steps.StopTree())

    def on_end(self, reason: BaseException | None) -> None:
        """Leave nobody waiting, and no child running even if this actor itself has failed."""
        if self._timer is not None:
            self._timer.cancel()
        error = reason if isinstance(reason, SupervisionError) else SupervisorStopped(reason)
        for request in self._requests:
            request.fail(error)
        for run in self._record.runs():
            self._stop_child(run, None, for_good=True)
        self._record.finish(error)

    # --- the machine ---

    def _command(self, command: steps.Command) -> Promise[Any]:
        request: Promise[Any] = Promise()
        self._requests.add(request)
        self._step(msgspec.structs.replace(command, request=request))
        return request

    def _step(self, event: steps.Input) -> None:
        now = self.reactor.now()
        for effect in self._machine.handle(event, now):
            self._carry_out(effect)
        if self._timer is not None:
            self._timer.cancel()
        when = None if self.ended else self._machine.next_deadline(now)
        self._timer = None if when is None else self.tell_at(when, steps.TimePassed())

    def _carry_out(self, effect: steps.Effect) -> None:
        match effect:
            case steps.BeginStart(run, spec):
                self._begin_start(Starter(self.actor_ref, self._record, run, spec))
            case steps.AbortStart(run):
                if run in self._announced:
                    self._announced[run].stop_soon()
            case steps.BeginStop(run, timeout):
                self._stop_child(run, timeout)
            case steps.Kill(run):
                self._kill_child(run)
            case steps.Discard(run):
                self._stop_child(run, None, for_good=True)
            case steps.Reply(request, value, error):
                self._reply(request, value, error)
            case steps.ReportRestart(failed, ids, reason, delay):
                warn("child_restarted", child=failed, restarted=ids, reason=describe_end(reason), delay=round(delay, 3))
            case steps.ReportStarted():
                self._record.started.settle(None)
            case steps.ReportEnded(reason):
                self.finish(reason)
            case _:
                assert_never(effect)

    def _reply(self, request: Promise[Any], value: Any, error: BaseException | None) -> None:
        self._requests.discard(request)
        if error is None:
            request.settle(value)
        else:
            request.fail(error)

    # --- children ---

    def _begin_start(self, starter: Starter) -> None:
        try:
            self._pool.run(starter)
        except Exception as error:
            self.actor_ref.tell(steps.ChildStartFailed(starter.run, error))

    def _arrived(self, arrived: Arrived) -> None:
        self._announced.pop(arrived.run, None)
        child = arrived.child
        if child is not None:
            self._record.adopt(arrived.run, arrived.spec, child)
        self._step(steps.ChildStarted(arrived.run, None if child is None else child.target))
        self._record.wake()

    def _supervisor_announced(self, announced: Announced) -> None:
        if self._machine.wants_start(announced.run):
            self._announced[announced.run] = announced.handle
        else:
            announced.handle.stop_soon()

    def _stop_child(self, run: int, timeout: float | None, *, for_good: bool = False) -> None:
        child = self._record.release(run) if for_good else self._record.child_of(run)
        if child is not None:
            self._run_stop(lambda: child.stop(timeout))

    def _kill_child(self, run: int) -> None:
        child = self._record.release(run)
        if child is not None:
            warn("child_abandoned", child=str(child.target))
            self._record.abandon(child)
            self._run_stop(child.kill)

    def _run_stop(self, stop: Callable[[], object]) -> None:
        # A start can be refused where threads are short, a stop cannot: it is what makes room.
        run_contained(
            "child_stop_failed", self._pool.run, lambda: run_contained("child_stop_failed", stop), needed=True
        )
