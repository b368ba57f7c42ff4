"""`Supervisor`: the handle of a tree, for any thread.

It only tells the supervisor's actor what is wanted and waits where its caller asked it to wait.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self

import pykka
from pykka import ActorDeadError

from claude_actors.actors.endings import kept_reason
from claude_actors.actors.here import HERE
from claude_actors.errors import NotRunning, NotSupported, SupervisionTimeout, SupervisorStopped
from claude_actors.mailbox.promise import Promise
from claude_actors.protocol.restarts import Backoff
from claude_actors.supervision import steps
from claude_actors.supervision.actor import SupervisorActor, WhichChildren
from claude_actors.supervision.children import ref_of
from claude_actors.supervision.machine import TreeMachine, TreeState
from claude_actors.supervision.names import NamedRef
from claude_actors.supervision.record import ChildCounts, ChildInfo, TreeRecord
from claude_actors.supervision.snapshot import TreeSnapshot, take_snapshot
from claude_actors.supervision.specs import (
    ChildSpec,
    Restart,
    Shutdown,
    Strategy,
    TreeConfig,
    check_children,
    checked_spec,
)
from claude_actors.supervision.starting import announce, is_starting_for


class Supervisor:
    """Starts children in order, starts them again when they end, and stops them in reverse order.

    Use it as a context manager, or call `start()` and `stop()`. If a child ends more often than `max_restarts` times
    within `max_seconds`, the supervisor gives up: it stops its children and ends with `TooManyRestarts` as its
    `reason`, which its own supervisor takes as a failure. Every member may be used from every thread, children
    included; only start functions must not wait for their own supervisor.
    """

    def __init__(
        self,
        children: Iterable[ChildSpec] = (),
        *,
        strategy: Strategy = "one_for_one",
        max_restarts: int = 3,
        max_seconds: float = 5.0,
        backoff: Backoff | None = Backoff(),  # noqa: B008 - it is immutable
        max_children: int | None = None,
    ) -> None:
        config = TreeConfig(
            strategy=strategy,
            max_restarts=max_restarts,
            max_seconds=max_seconds,
            backoff=backoff,
            max_children=max_children,
        )
        machine = TreeMachine(config, check_children(config, children), random.random)
        self._record = TreeRecord(machine)
        self._ref: pykka.ActorRef[SupervisorActor] | None = None

    @classmethod
    def spec(
        cls,
        id: str,
        children: Iterable[ChildSpec],
        *,
        restart: Restart = "permanent",
        shutdown: Shutdown = None,
        name: str | None = None,
        **settings: Any,
    ) -> ChildSpec:
        """Describe a supervisor as a child of another; `settings` are those of `Supervisor`. Nothing is started."""
        make = partial(cls, tuple(children), **settings)
        make()  # what is wrong with the settings shows here, and not in a thread at the start
        return ChildSpec(id, lambda: make().start(), restart, shutdown, "supervisor", name)

    # --- its life ---

    def start(self) -> Self:
        """Start the children, in order; blocks until every start function has returned.

        If one raises, those before it are stopped and ChildStartFailed is raised; nothing is left running then.
        """
        self._refuse_where_waiting_is_forbidden()
        if self._ref is not None:
            raise NotSupported("a supervisor is started once: make another, or use Supervisor.spec()")
        self._ref = SupervisorActor.start(self._record)
        announce(self)
        try:
            self._record.started.wait()
            self._record.started.value()
        except BaseException:
            self.stop_soon()
            raise
        return self

    def stop(self, timeout: float | None = None) -> None:
        """Stop the children, the last started first, each within its `shutdown`, and end. Idempotent.

        Blocks until nothing is left and raises SupervisionTimeout past `timeout`; the end goes on by itself then.
        Inside a child of this tree it does not block: the child must return before the tree can end.
        """
        self.stop_soon()
        if not self._called_from_within() and not self.wait(timeout):
            raise SupervisionTimeout(what="the end of the supervisor", after=timeout or 0.0)

    def stop_soon(self) -> None:
        """Begin to end. Never blocks."""
        if self._ref is not None:
            self._ref.stop(block=False)

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the tree has ended, by `stop()` or because it gave up; tells whether it has. See `reason`."""
        return self._ref is None or self._ref.actor_stopped.wait(timeout)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # --- children: block until it is done, or raise SupervisionTimeout after `timeout` and let it go on ---

    def start_child(self, spec: ChildSpec, timeout: float | None = None) -> Any:
        """Add a child behind the others, start it, and return what its start returned.

        Raises ChildExists, TooManyChildren, ChildStartFailed (the spec is discarded) or SupervisorStopped.
        """
        return self._do(steps.StartChild(checked_spec(spec)), f"the start of {spec.id!r}", timeout)

    def terminate_child(self, id: str, timeout: float | None = None) -> None:
        """Stop a child, or its restart. Its spec is kept for `restart_child()`, and for the next restart of a group.

        A temporary child is forgotten. Raises ChildNotFound. Inside the child itself it does not block.
        """
        inside = self._is_current(self._record.targets().get(id))
        self._do(steps.TerminateChild(id), f"the end of {id!r}", timeout, wait=not inside)

    def restart_child(self, id: str, timeout: float | None = None) -> Any:
        """Start a stopped child and return what its start returned.

        Raises ChildNotFound, ChildNotStopped or ChildStartFailed; it stays stopped then.
        """
        return self._do(steps.RestartChild(id), f"the start of {id!r}", timeout)

    def delete_child(self, id: str) -> None:
        """Forget a stopped child. Raises ChildNotFound or ChildNotStopped."""
        self._do(steps.DeleteChild(id), f"forgetting {id!r}", None)

    def child(self, id: str, timeout: float | None = 0.0) -> Any:
        """Return the present incarnation: what the start returned.

        Raises ChildNotFound, or NotRunning if there is none now: never blocks, unless it may wait `timeout` for one.
        """
        if timeout == 0.0:
            return self._record.target(id)
        self._refuse_where_waiting_is_forbidden()
        return self._record.wait_for_target(id, timeout)

    def named(self, id: str) -> NamedRef:
        """Return a ref that reaches whichever incarnation of the child is there when it is used."""
        return NamedRef(id, partial(self._record.target, id))

    # --- what it is ---

    def which_children(self) -> tuple[ChildInfo, ...]:
        """Tell of every child, in the order of their start."""
        if self._ref is None or self._reactor_is_here():
            return self._record.which_children()
        try:
            children: tuple[ChildInfo, ...] = self._ref.ask(WhichChildren(), block=True)
        except ActorDeadError:
            return self._record.which_children()
        return children

    def count_children(self) -> ChildCounts:
        """Count the children."""
        known = self.which_children()
        supervisors = sum(child.kind == "supervisor" for child in known)
        return ChildCounts(
            specs=len(known),
            active=sum(child.state == "running" for child in known),
            supervisors=supervisors,
            workers=len(known) - supervisors,
        )

    def snapshot(self) -> TreeSnapshot:
        """Return the whole tree as of now, nested supervisors included. Never blocks; `str()` makes it readable."""
        return take_snapshot(self._record)

    @property
    def state(self) -> TreeState | Literal["new"]:
        """Where it is in its life: new, starting, running, stopping or ended. Never blocks."""
        return "new" if self._ref is None else self._record.machine.state

    @property
    def reason(self) -> BaseException | None:
        """Why it ended by itself; None while it lives and if it was stopped."""
        reason = kept_reason(self._ref) if self._ref is not None else None
        return reason if isinstance(reason, BaseException) else None

    @property
    def actor_ref(self) -> pykka.ActorRef[SupervisorActor] | None:
        """The supervisor's own actor, None before the start; `ActorRegistry.stop_all()` stops it with the others."""
        return self._ref

    def __repr__(self) -> str:
        return f"<Supervisor {self.state} {self._record.machine.config.strategy} {len(self._record.machine.entries)}>"

    # --- within ---

    def _do(self, command: steps.Command, what: str, timeout: float | None, *, wait: bool = True) -> Any:
        self._refuse_where_waiting_is_forbidden()
        if self._ref is None:
            raise NotRunning(name="the supervisor", state="not started")
        try:
            done: Promise[Any] = self._ref.ask(command, block=True)
        except ActorDeadError:
            raise SupervisorStopped(self.reason) from None
        if not wait:
            return None
        if not done.wait(timeout):
            raise SupervisionTimeout(what=what, after=timeout or 0.0)
        return done.value()

    def _refuse_where_waiting_is_forbidden(self) -> None:
        if is_starting_for(self._record):
            raise NotSupported("a start function must not wait for its own supervisor, which waits for it")
        if self._reactor_is_here():
            raise NotSupported("the runtime's own thread must not wait: call this from another")

    @staticmethod
    def _reactor_is_here() -> bool:
        return HERE.ready is not None

    def _called_from_within(self) -> bool:
        return (
            is_starting_for(self._record)
            or self._reactor_is_here()
            or any(self._is_current(target) for target in self._record.targets().values())
        )

    @staticmethod
    def _is_current(target: Any) -> bool:
        """Tell whether this thread is the child's own, or that of a child below it."""
        if isinstance(target, Supervisor):
            return target._called_from_within()
        # A pykka actor's thread runs a method of the actor; nothing else in the thread tells whose it is.
        actor = getattr(getattr(threading.current_thread(), "_target", None), "__self__", None)
        return isinstance(actor, pykka.Actor) and actor.actor_ref == ref_of(target)
