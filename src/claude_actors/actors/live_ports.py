"""The processes that this interpreter would leave behind if it exited now, and their end when it does.

Daemon threads still run while exit hooks do, so the reactor can carry out the usual ending, with short deadlines. What
it cannot end in time the warden will, when it sees this process's pipe close.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import Final, Protocol

from claude_actors.actors.contained import warn
from claude_actors.actors.port_types import StopDeadlines

AT_EXIT: Final = StopDeadlines(eof=0.5, term=0.5, kill=0.5)
_PATIENCE: Final = 3.0


class Stoppable(Protocol):
    """A port, as far as an exit needs it."""

    def stop(self, deadlines: StopDeadlines) -> None:
        """End it within the deadlines."""
        ...


class LivePorts:
    """Every port from its start to its last report."""

    def __init__(self) -> None:
        self._ports: set[Stoppable] = set()
        self._changed = threading.Condition()
        self._registered = False
        #: Set when the interpreter exits: from then on nothing is started any more.
        self.exiting = False

    def add(self, port: Stoppable) -> None:
        """Have the port ended at the interpreter's exit, at once if that has begun."""
        with self._changed:
            self._ports.add(port)
            if not self._registered:
                self._registered = True
                atexit.register(self.end_all)
        if self.exiting:
            port.stop(AT_EXIT)

    def discard(self, port: Stoppable) -> None:
        """Forget a port of which nothing is left."""
        with self._changed:
            self._ports.discard(port)
            self._changed.notify_all()

    def end_all(self) -> None:
        """End every port; blocks, bounded."""
        with self._changed:
            self.exiting = True
            ports = tuple(self._ports)
        for port in ports:
            port.stop(AT_EXIT)
        with self._changed:
            if not self._changed.wait_for(lambda: not self._ports, _PATIENCE):
                warn("processes_outlived_exit", count=len(self._ports))

    def forget(self) -> None:
        """Forget all in the child of a fork: they are the parent's."""
        self._ports = set()
        self._changed = threading.Condition()


LIVE_PORTS: Final = LivePorts()

os.register_at_fork(after_in_child=LIVE_PORTS.forget)
