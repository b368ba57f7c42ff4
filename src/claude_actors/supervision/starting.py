"""In which supervisor's start function this thread is, so that a tree that starts inside another can be stopped early.

A nested supervisor is known to its parent only when its start has returned; until then it announces itself here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final


class _Here(threading.local):
    """What this thread is starting: for whom, and whom to tell of a supervisor that begins to start."""

    owner: object | None = None
    announce: Callable[[Any], object] | None = None


_HERE: Final = _Here()


@contextmanager
def starting_for(owner: object, announce: Callable[[Any], object]) -> Iterator[None]:
    """Run a start function of `owner`; what it announces goes to `announce`."""
    before = _HERE.owner, _HERE.announce
    _HERE.owner, _HERE.announce = owner, announce
    try:
        yield
    finally:
        _HERE.owner, _HERE.announce = before


def announce(handle: Any) -> None:
    """Say that this supervisor begins to start in this thread."""
    if _HERE.announce is not None:
        _HERE.announce(handle)


def is_starting_for(owner: object) -> bool:
    """Tell whether this thread runs a start function of `owner`."""
    return _HERE.owner is owner
