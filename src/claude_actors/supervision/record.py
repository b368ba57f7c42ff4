"""What a supervisor's handle and its actor share: the machine, the running children, and how the start went.

Written by the actor; read by the handle from any thread. Nothing here blocks or runs user code.
"""

from __future__ import annotations

from typing import Any

import msgspec

from claude_actors.errors import ChildNotFound, NotRunning
from claude_actors.mailbox.promise import Promise
from claude_actors.mailbox.waiting import ThreadWaiter, WaitingList, deadline_after, remaining
from claude_actors.supervision.children import Child, has_ended
from claude_actors.supervision.entries import ChildState, Entry, Phase
from claude_actors.supervision.machine import TreeMachine
from claude_actors.supervision.names import unbind
from claude_actors.supervision.specs import ChildSpec, Kind, Restart


class ChildInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One child as `which_children()` tells of it; `child` is what its start returned, None unless it runs."""

    id: str
    child: Any
    state: ChildState
    kind: Kind
    restart: Restart


class ChildCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many children there are: in all, running now, and by kind (running or not)."""

    specs: int
    active: int
    supervisors: int
    workers: int


class TreeRecord:
    """One supervisor's shared state."""

    def __init__(self, machine: TreeMachine) -> None:
        self.machine = machine
        self.started: Promise[None] = Promise()
        self._children: dict[int, tuple[ChildSpec, Child]] = {}
        self._abandoned: list[Child] = []
        self._waiting = WaitingList()
        self._over = False

    # --- written by the actor ---

    def adopt(self, run: int, spec: ChildSpec, child: Child) -> None:
        """Know a child from now on."""
        self._children[run] = spec, child

    def child_of(self, run: int) -> Child:
        """Give a child that is known."""
        return self._children[run][1]

    def release(self, run: int) -> Child | None:
        """Forget a child that runs no more, or is waited for no more, and free its name; None if it is not known."""
        spec, child = self._children.pop(run, (None, None))
        if spec is not None and child is not None and spec.name is not None:
            unbind(spec.name, child.target)
        return child

    def wake(self) -> None:
        """Let those who wait for a child look again."""
        self._waiting.wake_all()

    def finish(self, error: BaseException) -> None:
        """Leave nobody waiting for a start or a child: the supervisor is no more."""
        self._over = True
        self.started.fail(error)
        self.wake()

    def abandon(self, child: Child) -> None:
        """Count a child that did not end in time."""
        self._abandoned = [*(known for known in self._abandoned if known.lingers()), child]

    # --- read from any thread ---

    @property
    def abandoned(self) -> int:
        """Count the children that did not end in time and still have not."""
        return sum(child.lingers() for child in self._abandoned)

    def runs(self) -> tuple[int, ...]:
        """Give the numbers of the starts whose children run now."""
        return tuple(self._children.copy())

    def targets(self) -> dict[str, Any]:
        """Give what the starts of the running children returned, by id."""
        return {spec.id: child.target for spec, child in self._children.copy().values()}

    def target(self, id: str) -> Any:
        """Give what the start of a running child returned; raises ChildNotFound or NotRunning."""
        entry = self.machine.entries.get(id)
        if entry is None:
            raise ChildNotFound(id=id)
        target = self.target_of(entry)
        if target is None:
            raise NotRunning(name=id, state=entry.state)
        if has_ended(target):
            raise NotRunning(name=id, state="ending")
        return target

    def wait_for_target(self, id: str, timeout: float | None) -> Any:
        """Block until the child runs, and give its target; raises as `target()` does when the time or the tree ends."""
        deadline = deadline_after(timeout)
        while True:
            waiter = ThreadWaiter()
            self._waiting.join(waiter)
            try:
                over = self._over
                return self.target(id)
            except NotRunning:
                if over or not waiter.wait(remaining(deadline)):
                    raise
            finally:
                self._waiting.leave(waiter)

    def target_of(self, entry: Entry) -> Any:
        """Give what the start of this child returned, None unless it runs."""
        known = self._children.get(entry.run) if entry.phase in (Phase.UP, Phase.STOPPING) else None
        return None if known is None else known[1].target

    def which_children(self) -> tuple[ChildInfo, ...]:
        """Tell of every child, in the order of their start."""
        return tuple(
            ChildInfo(
                id=entry.id,
                child=self.target_of(entry),
                state=entry.state,
                kind=entry.spec.kind,
                restart=entry.spec.restart,
            )
            for entry in self.machine.entries.copy().values()
        )
