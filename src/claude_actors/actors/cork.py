"""Holds back the answers of a thread that runs one callback after another, so that they go out in one write.

Telling the session of an answer and writing it costs more than making it. It decides when answers may wait, and knows
nothing of pipes. An answer waits only while another thread is on its way to the queue of callbacks, to work there or to
look: it runs the moment the first one blocks, and lets everything out.
"""

from __future__ import annotations

import os
import threading
from typing import Final, Protocol

from claude_actors.actors.contained import run_contained


class Corked(Protocol):
    """Who has taken in answers without passing them on."""

    def flush(self) -> None:
        """Pass on what was taken in. Any thread that runs no user code now; never blocks, never raises."""
        ...


class Cork(threading.local):
    """Whether this thread's answers may wait."""

    holds: bool = False


CORK: Final = Cork()
_held: Final[dict[Corked, None]] = {}


def hold(corked: Corked) -> None:
    """Have it flushed by whoever lets out next."""
    _held[corked] = None


def let_out() -> None:
    """Flush everybody who holds answers, whichever thread they are of. Any thread; never blocks."""
    while _held:
        try:
            corked, _none = _held.popitem()
        except KeyError:  # another thread was faster
            return
        run_contained("flush_failed", corked.flush)


os.register_at_fork(after_in_child=_held.clear)
