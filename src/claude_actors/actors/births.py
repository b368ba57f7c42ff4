"""Which processes can have been born after another one, so that a search for its descendants need not look at all.

Linux counts every birth since the machine started, and numbers processes upwards, beginning again from below when it
has come to the highest number. While fewer were born than there are numbers, everything younger has a higher number.
Where that is not certain, or on another system, every process is a candidate. Blocks for small reads of /proc.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from claude_actors.actors.warden import read_file

_BIRTHS: Final = b"\nprocesses "


class Birth(NamedTuple):
    """A process and how many had been born before it; None where that is not known."""

    pid: int
    before: int | None

    def was_the_last(self) -> bool:
        """Tell whether it is certain that nobody was born since. One small read of /proc."""
        return self.before is not None and births() == self.before + 1


def lowest_number(ancestors: Iterable[Birth]) -> int:
    """Give a number that everything which these processes can have started is above: 0 if none is certain."""
    now, last, most = births(), _last_born(), _highest_number()
    if now is None or last is None or most is None:
        return 0
    # Numbers in use are passed over, so that a round may take fewer births than there are numbers.
    round_ = most // 2
    return min(pid if before is not None and last >= pid and now - before < round_ else 0 for pid, before in ancestors)


def births() -> int | None:
    """Count the processes and threads that were born since the machine started; None where nobody counts them."""
    counted = _read("/proc/stat").partition(_BIRTHS)[2].split(maxsplit=1)
    # A sandbox that imitates the file says 0.
    return int(counted[0]) or None if counted else None


def _last_born() -> int | None:
    words = _read("/proc/loadavg").split()
    return int(words[-1]) or None if words else None


def _highest_number() -> int | None:
    words = _read("/proc/sys/kernel/pid_max").split()
    return int(words[0]) if words else None


def _read(path: str) -> bytes:
    try:
        return read_file(path)
    except OSError:
        return b""
