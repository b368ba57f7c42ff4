"""Names of running children, and refs that reach whoever has the name, or the place in a tree, at the moment.

A name is bound while its child runs, and bound anew after each restart. One table for the process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pykka
from pykka import ActorDeadError

from claude_actors.errors import NameTaken, NotRunning, NotSupported
from claude_actors.supervision.children import has_ended, ref_of

_lock = threading.Lock()
_bound: dict[str, Any] = {}


def whereis(name: str) -> Any:
    """Give the running child with this name (ActorRef, Session, Supervisor), None if there is none. Never blocks."""
    return _bound.get(name)


def names() -> tuple[str, ...]:
    """Give the names that are bound now."""
    return tuple(sorted([*_bound]))


def bind(name: str, target: Any) -> None:
    """Give the name to a child that begins to run; raises NameTaken."""
    with _lock:
        if name in _bound:
            raise NameTaken(name=name)
        _bound[name] = target


def unbind(name: str, target: Any) -> None:
    """Take the name from a child that runs no more; one that has been bound anew keeps it."""
    with _lock:
        if _bound.get(name) is target:
            del _bound[name]


class NamedRef:
    """Reaches the present incarnation of a child, also after it was started anew. Any thread."""

    def __init__(self, name: str, find: Callable[[], Any] | None = None) -> None:
        self.name = name
        self._find = find or (lambda: whereis(name))

    def current(self) -> Any:
        """Give the present incarnation; raises NotRunning if there is none."""
        target = self._find()
        if target is None:
            raise NotRunning(name=self.name)
        if has_ended(target):
            raise NotRunning(name=self.name, state="ending")
        return target

    def is_alive(self) -> bool:
        """Tell whether there is a running incarnation now."""
        try:
            return bool(self._ref().is_alive())
        except NotRunning:
            return False

    def tell(self, message: Any) -> None:
        """Tell the present incarnation; raises NotRunning if there is none. A restart loses what was in its inbox."""
        try:
            self._ref().tell(message)
        except ActorDeadError:
            raise NotRunning(name=self.name, state="ending") from None

    def ask(self, message: Any, *, timeout: float | None = None) -> Any:
        """Ask the present incarnation, block, and give its answer; raises NotRunning, `pykka.Timeout` or its error."""
        try:
            return self._ref().ask(message, timeout=timeout)
        except ActorDeadError:
            raise NotRunning(name=self.name, state="ending") from None

    def _ref(self) -> pykka.ActorRef[Any]:
        target = self.current()
        ref = ref_of(target)
        if ref is None:
            raise NotSupported(f"{self.name!r} is a {type(target).__name__} and no actor: use current()")
        return ref

    def __repr__(self) -> str:
        return f"<NamedRef {self.name!r}>"
