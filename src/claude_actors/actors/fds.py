"""File descriptors that a fork of this process must not keep.

A forked child that kept the writing end of a CLI's stdin or of the warden's pipe would hide the end of this process
from them. Every descriptor that the runtime opens is named here and closed in the child of a fork.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

_owned: Final[set[int]] = set()


def own(fd: int) -> int:
    """Close `fd` in the child of any later fork; returns it."""
    _owned.add(fd)
    return fd


def close(fd: int) -> None:
    """Close a descriptor that we own; closing it is all that can still go wrong, and is ignored."""
    _owned.discard(fd)
    with suppress(OSError):
        os.close(fd)


def _close_all_in_child() -> None:
    for fd in tuple(_owned):
        close(fd)


os.register_at_fork(after_in_child=_close_all_in_child)
