"""What the present thread does for the runtime: whether it runs actors now, and whether it leads the reactor.

It decides nothing; it is how code that may run in any thread learns where it is.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Protocol

from claude_actors.actors.background_log import BACKGROUND_LOG, HandOver
from claude_actors.actors.turns import Errand


class Runnable(Protocol):
    """What is run when it is ready: an actor's inbox."""

    def run_slice(self) -> None:
        """Do a bounded piece of work."""
        ...


class Leader(Protocol):
    """The reactor, for the thread that leads it."""

    def at_parting(self, function: Callable[[], object]) -> None:
        """Call `function` when this thread lets go of the interpreter: who is woken now would only wait for it."""
        ...

    def take_errand(self, errand: Errand, guard: Callable[[], object]) -> bool:
        """Run `errand`, which may block, in this thread, once another leads; False if none is free to.

        The other one begins with `guard`, however early the errand blocks.
        """
        ...


class Here(threading.local):
    """The actors that have become ready in this thread, and the reactor that it leads.

    None in threads that run no actors now, or that lead none.
    """

    ready: OrderedDict[Runnable, None] | None = None
    leads: Leader | None = None


HERE: Final = Here()

# pykka logs where actors start and end; it must not do so in a thread that runs ours.
logging.getLogger("pykka").addFilter(HandOver(BACKGROUND_LOG, lambda: HERE.ready is not None))
