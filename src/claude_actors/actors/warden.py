"""Ends what a Python process has left behind when it was killed; also the sweep that the live runtime uses.

Run as a file it is the warden: a tiny process that sleeps until the one it was started by is gone, and then ends what
still stands in the table that both of them have open. It may import nothing but the standard library.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Collection, Iterable
from typing import Final

#: The variable by which every descendant of a port is known, also after it has left the process group.
COOKIE_NAME: Final = "CLAUDE_ACTORS_PORT"

#: The bytes of a row in the table: they divide a page, so that a row is written in one piece.
ROW: Final = 64

_TERM_GRACE: Final = 1.0
_SWEEP_FOR: Final = 2.0
_STEP: Final = 0.02
_LOOKS: Final = 5
_PART: Final = 16 * 1024


# --- the sweep ---


def kill_bearers(cookies: Collection[bytes], above: int = 0) -> int:
    """Kill every process whose environment holds one of the cookies, except this one; tells how many were alive.

    Only processes with numbers over `above` are looked at. Blocks for a scan of /proc; where there is none (macOS) it
    finds nothing. A process that forks at the right moment can be missed, so repeat it until nothing is found.
    """
    if not cookies or not os.path.isdir("/proc/self"):
        return 0
    numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    own = os.getpid()
    return sum(_kill_if_bearer(pid, cookies) for pid in numbers if pid > above and pid != own)


def _kill_if_bearer(pid: int, cookies: Collection[bytes]) -> bool:
    if not _bears(pid, cookies):
        return False
    try:
        handle = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    except ProcessLookupError:
        return False
    except OSError:
        handle = None
    try:
        # Looked at again with the handle in hand: its number may have become a stranger's since the first look.
        return _bears(pid, cookies) and _kill(pid, handle)
    finally:
        if handle is not None:
            os.close(handle)


def _bears(pid: int, cookies: Collection[bytes]) -> bool:
    try:
        environ = read_file(f"/proc/{pid}/environ")
    except OSError:
        # Gone, or not ours to look at.
        return False
    return any(cookie in environ for cookie in cookies)


def read_file(path: str) -> bytes:
    """Read a small file whole; raises OSError."""
    # A file object would take longer than the reading, and there are as many files as processes.
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        read = b""
        while part := os.read(fd, _PART):
            read += part
    finally:
        os.close(fd)
    return read


def _kill(pid: int, handle: int | None) -> bool:
    try:
        if handle is None:
            os.kill(pid, signal.SIGKILL)
        else:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    return True


# --- the warden ---


def signal_groups(groups: Iterable[int], number: int) -> list[int]:
    """Signal the process groups; gives those that exist."""
    return [group for group in groups if _signal_group(group, number)]


def _signal_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


class Ward:
    """Who is alive, by what stands in the table.

    A row is written whole before the bearer of its cookie is born, again when the bearer's group is known and when that
    is about to be reaped, and blanked when nobody bears the cookie any more. It takes no call, so that a session wakes
    nobody, and what was written is there however suddenly the writer dies.
    """

    def __init__(self, groups: Iterable[int] = (), cookies: Iterable[bytes] = ()) -> None:
        self.groups = set(groups)
        self.cookies = set(cookies)

    @classmethod
    def read(cls, table: bytes) -> Ward:
        """Read a table; what is no row is passed over."""
        ward = cls()
        for at in range(0, len(table), ROW):
            match table[at : at + ROW].split():
                case [group, cookie] if group.isdigit() and len(table) >= at + ROW:
                    ward.cookies.add(cookie)
                    if int(group):
                        ward.groups.add(int(group))
                case _:
                    pass
        return ward

    def end_all(self) -> None:
        """End everything that is alive: TERM, a short grace, KILL, and a sweep for who has left the group."""
        if not self.cookies:
            return
        groups = signal_groups(self.groups, signal.SIGTERM)
        deadline = time.monotonic() + _TERM_GRACE
        while groups and time.monotonic() < deadline:
            time.sleep(_STEP)
            # A group that was there at each look is still the same one; one that has gone is never signalled again.
            groups = signal_groups(groups, 0)
        signal_groups(groups, signal.SIGKILL)
        deadline = time.monotonic() + _SWEEP_FOR
        # One that was being born bears nothing until its program runs: so once is not enough.
        found_nobody = 0
        while found_nobody < _LOOKS and time.monotonic() < deadline:
            found_nobody = 0 if kill_bearers(self.cookies) else found_nobody + 1
            time.sleep(_STEP)


def row(group: int, cookie: str) -> bytes:
    """Give the row of a bearer; its group is 0 while that is not known."""
    return f"{group} {cookie}".encode().ljust(ROW)


def main() -> None:
    """Wait until the other end of our input is closed, by a goodbye or by a death, then end what is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    table = int(sys.argv[1])
    while os.read(0, 1):
        pass
    Ward.read(os.pread(table, os.fstat(table).st_size, 0)).end_all()


if __name__ == "__main__":
    main()
