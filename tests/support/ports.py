"""A sink that remembers and can be waited on, and small programs to be driven by a process port."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from textwrap import dedent
from typing import Any

from claude_actors.actors.port_types import PortExit
from claude_actors.actors.process_port import ProcessPort

DEADLINE = 30.0


class CollectingSink:
    """Keeps every report in order; what waits has a deadline."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.reports: list[tuple[str, Any]] = []

    def spawned(self, pid: int | None) -> None:
        self._note("spawned", pid)

    def spawn_failed(self, error: BaseException) -> None:
        self._note("spawn_failed", error)

    def received(self, chunk: bytes) -> None:
        self._note("received", chunk)

    def stderr(self, chunk: bytes) -> None:
        self._note("stderr", chunk)

    def write_failed(self, error: BaseException) -> None:
        self._note("write_failed", error)

    def exited(self, exit: PortExit) -> None:
        self._note("exited", exit)

    # --- the test's side ---

    def first(self, kind: str) -> Any:
        """Wait for the first report of a kind and give what it says."""
        self._wait(lambda: kind in self.kinds, f"a report {kind}")
        return next(what for name, what in self.reports if name == kind)

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _what in self.reports]

    @property
    def output(self) -> bytes:
        return b"".join(what for kind, what in self.reports if kind == "received")

    def pid(self) -> int:
        pid = self.first("spawned")
        assert isinstance(pid, int)
        return pid

    def lines(self, count: int) -> list[bytes]:
        """Wait for so many whole lines of output and give them."""
        self._wait(lambda: self.output.count(b"\n") >= count, f"{count} lines")
        return self.output.splitlines()[:count]

    def numbers(self, count: int = 1) -> list[int]:
        """Wait for lines that are numbers, such as pids."""
        return [int(line) for line in self.lines(count)]

    def ending(self) -> str:
        """Wait for the last report, whichever it is; nothing may come after it, nor twice."""
        self._wait(lambda: bool({"exited", "spawn_failed"} & set(self.kinds)), "an end")
        assert self.kinds.count("exited") + self.kinds.count("spawn_failed") == 1
        assert self.kinds[-1] in ("exited", "spawn_failed")
        return self.kinds[-1]

    def exit(self) -> PortExit:
        """Wait for the end; nothing may come after it, nor twice."""
        assert self.ending() == "exited"
        exit = self.first("exited")
        assert isinstance(exit, PortExit)
        return exit

    def _note(self, kind: str, what: Any) -> None:
        with self._changed:
            self.reports.append((kind, what))
            self._changed.notify_all()

    def _wait(self, condition: Callable[[], bool], wanted: str) -> None:
        with self._changed:
            if not self._changed.wait_for(condition, DEADLINE):
                raise TimeoutError(f"waited for {wanted}; reports so far: {self.kinds}")


def python(script: str) -> list[str]:
    """Give the argv of a small Python program that starts fast."""
    return [sys.executable, "-IS", "-c", dedent(script)]


def started(script: str, **settings: Any) -> tuple[ProcessPort, CollectingSink]:
    """Start a small Python program in a process port."""
    port, sink = ProcessPort(python(script), env={}, **settings), CollectingSink()
    port.start(sink)
    return port, sink


ECHO = """
    import sys
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
"""

#: Says that it is there, then neither ends at the end of its input nor by TERM.
STUBBORN = """
    import os, signal, sys
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid(), flush=True)
    while True:
        signal.pause()
"""
