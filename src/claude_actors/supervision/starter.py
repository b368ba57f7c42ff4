"""Starter: calls one start function in a thread where it may block, and sees that what it started is taken over.

If nobody wants the child any more when the function returns, the child is stopped here: no start is ever left behind.
"""

from __future__ import annotations

from typing import Any

import pykka
from msgspec import Struct
from pykka import ActorDeadError

from claude_actors.actors.contained import run_contained
from claude_actors.supervision.children import Child, begin
from claude_actors.supervision.names import bind, unbind
from claude_actors.supervision.specs import ChildSpec
from claude_actors.supervision.starting import starting_for
from claude_actors.supervision.steps import ChildEnded, ChildStartFailed


class Arrived(Struct, frozen=True):
    """A start function has returned a child, None if there is nothing to run.

    It is asked and not told: a supervisor that has ended meanwhile must not lose the child in its inbox.
    """

    run: int
    spec: ChildSpec
    child: Child | None


class Announced(Struct, frozen=True):
    """A start function has begun to start this supervisor."""

    run: int
    handle: Any


class Starter:
    """One start of one child; a job for the task pool."""

    def __init__(self, supervisor: pykka.ActorRef[Any], owner: object, run: int, spec: ChildSpec) -> None:
        self.run = run
        self._supervisor, self._owner, self._spec = supervisor, owner, spec

    def __call__(self) -> None:
        """Start the child and hand it over. Whatever the function raises is reported and stays here."""
        try:
            with starting_for(self._owner, lambda handle: self._tell(Announced(self.run, handle))):
                child = begin(self._spec.start)
            self._bind_name(child)
        except BaseException as error:
            self._tell(ChildStartFailed(self.run, error))
            return
        try:
            self._supervisor.ask(Arrived(self.run, self._spec, child))
        except ActorDeadError:
            self._stop(child)
            return
        if child is not None:
            child.when_ended(lambda reason: self._tell(ChildEnded(self.run, reason)))

    def _bind_name(self, child: Child | None) -> None:
        if child is not None and self._spec.name is not None:
            try:
                bind(self._spec.name, child.target)
            except BaseException:
                run_contained("child_stop_failed", child.stop, None)
                raise

    def _stop(self, child: Child | None) -> None:
        if child is None:
            return
        if self._spec.name is not None:
            unbind(self._spec.name, child.target)
        run_contained("child_stop_failed", child.stop, None)

    def _tell(self, message: object) -> None:
        try:
            self._supervisor.tell(message)
        except ActorDeadError:
            return
