"""Holds back the answers of a thread that runs one callback after another, so that they go out in one write.

A write lets go of the interpreter, and getting it back costs more than the answer. It decides when lines may wait, and
knows nothing of pipes. A line waits only while another thread has been called to the queue of callbacks: that thread
runs the moment the first one blocks, and lets everything out before it does anything else.
"""

from __future__ import annotations

import os
import threading
from typing import Final, Protocol

from claude_actors.actors.contained import run_contained


class Corked(Protocol):
    """A writer that has taken in lines without writing them."""

    def flush(self) -> None:
        """Write what was taken in. Any thread; never blocks, never raises."""
        ...


class Cork(threading.local):
    """Whether this thread's lines may wait."""

    holds: bool = False


CORK: Final = Cork()
_held: Final[dict[Corked, None]] = {}


def hold(writer: Corked) -> None:
    """Have the writer flushed by whoever lets out next."""
    _held[writer] = None


def let_out() -> None:
    """Flush every writer that holds lines, whichever thread they are of. Any thread; never blocks."""
    while _held:
        try:
            writer, _none = _held.popitem()
        except KeyError:  # another thread was faster
            return
        run_contained("flush_failed", writer.flush)


os.register_at_fork(after_in_child=_held.clear)
