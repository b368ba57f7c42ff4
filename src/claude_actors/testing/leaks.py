"""What a test may leave behind: nothing. Looks at actors, threads, child processes and open files.

`Snapshot` compares two moments; the rest is what it is made of. Where there is no /proc (macOS) processes and files are
not looked at.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pykka

PROC = Path("/proc")


def alive_actors() -> set[str]:
    """Name the pykka actors that live."""
    return {str(ref) for ref in pykka.ActorRegistry.get_all()}


def alive_threads() -> set[str]:
    """Name the threads that live."""
    return {f"{thread.name} ({thread.ident})" for thread in threading.enumerate()}


def open_files() -> set[str]:
    """Name the open files of this process."""
    files = set()
    for fd in os.listdir("/proc/self/fd") if PROC.is_dir() else ():
        try:
            files.add(f"{fd} -> {os.readlink(f'/proc/self/fd/{fd}')}")
        except FileNotFoundError:
            # The descriptor of the listing itself.
            continue
    return files


def descendants(root: int | None = None) -> set[int]:
    """Every process below `root` (this one), zombies too."""
    parents = {pid: parent for pid, parent in ((pid, parent_of(pid)) for pid in process_ids()) if parent is not None}
    found: set[int] = set()
    border = {root or os.getpid()}
    while border:
        border = {pid for pid, parent in parents.items() if parent in border} - found
        found |= border
    return found


def process_ids() -> list[int]:
    """Give the numbers of all processes that can be seen."""
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()] if PROC.is_dir() else []


def parent_of(pid: int) -> int | None:
    """The parent's number, or None if the process is gone."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The name may hold blanks and brackets; what follows its last bracket is state, parent, ….
    return int(stat.rpartition(")")[2].split()[1])


def state_of(pid: int) -> str | None:
    """One letter (R, S, Z, …), or None if the process is gone."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[0]


def is_running(pid: int) -> bool:
    """Say whether the process lives; a zombie does not."""
    return state_of(pid) not in (None, "Z")


def described(pids: set[int]) -> set[str]:
    """Name processes by their number and command."""
    return {f"{pid} {command_of(pid)[:120]}" for pid in pids}


def command_of(pid: int) -> str:
    """Give the command line of a process, empty if it is gone."""
    return _words(pid, "cmdline")


def environ_of(pid: int) -> str:
    """Give the environment of a process, empty if it is gone or not ours."""
    return _words(pid, "environ")


def _words(pid: int, file: str) -> str:
    try:
        return (PROC / str(pid) / file).read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def wait_until(condition: Callable[[], Any], timeout: float = 30.0) -> bool:
    """Look again and again, for what gives no event; tells whether it came true."""
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            return False
        pause.wait(0.005)
    return True


class Snapshot:
    """Everything that is there now, to be compared with later."""

    def __init__(self) -> None:
        self._actors = alive_actors()
        self._threads = alive_threads()
        self._files = open_files()
        self._children = descendants()

    def leaks(self) -> dict[str, set[str]]:
        """What is there beyond the snapshot, by kind."""
        found = {
            "actors": alive_actors() - self._actors,
            "threads": alive_threads() - self._threads,
            "open files": open_files() - self._files,
            "child processes": described(descendants() - self._children),
        }
        return {kind: leaked for kind, leaked in found.items() if leaked}
