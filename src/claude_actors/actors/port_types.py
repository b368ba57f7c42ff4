"""The seam between a session and whatever carries its bytes: a process, memory, something remote.

Says only what a port can be asked and what it must report; how it does so is its own business.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from claude_actors.errors import WriteFailed


class StopDeadlines(Struct, frozen=True):
    """Seconds to wait after each step of an ending: after end of input, after TERM, after KILL."""

    eof: float = 2.0
    term: float = 2.0
    kill: float = 1.0


#: For an owner that has failed or is in a hurry: no step but the last.
KILL_NOW = StopDeadlines(eof=0.0, term=0.0, kill=1.0)


class PortExit(Struct, frozen=True):
    """How the other side ended: an exit code, a signal, or neither where that is not known."""

    code: int | None = None
    signal: int | None = None


class PortSink(Protocol):
    """Where a port reports to. Every method is thread-safe and returns at once.

    Exactly one of `spawn_failed` and `exited` comes, once, and nothing comes after it.
    """

    def spawned(self, pid: int | None) -> None:
        """It runs; what was written before this is on its way too."""
        ...

    def spawn_failed(self, error: BaseException) -> None:
        """It could not be started; nothing of it is left."""
        ...

    def received(self, chunk: bytes) -> None:
        """It wrote these bytes to its output, cut anywhere."""
        ...

    def stderr(self, chunk: bytes) -> None:
        """It wrote these bytes to its error output, cut anywhere."""
        ...

    def write_failed(self, error: BaseException) -> None:
        """Its input is closed or stuck: what was accepted and not yet written is lost, and so is all that follows."""
        ...

    def exited(self, exit: PortExit) -> None:
        """It has ended, everything it wrote has been reported, and nothing of it is left."""
        ...


class Port(Protocol):
    """One run of the other side. No method blocks or is called by two threads at once.

    An operation that a port cannot carry raises `NotSupported`.
    """

    def start(self, sink: PortSink) -> None:
        """Start, once, and report to `sink` from now on."""
        ...

    def write(self, lines: bytes) -> None:
        """Queue one whole line or more, newlines included; raises WriteFailed if nothing of them is accepted."""
        ...

    def close_input(self) -> None:
        """End the other side's input after what was written; idempotent."""
        ...

    def stop(self, deadlines: StopDeadlines) -> None:
        """End it within the deadlines, in every state; a second call can only hasten it. Also before `start`."""
        ...


def check_size(size: int, limit: int) -> None:
    """Raise WriteFailed for a line that is larger than all that may wait for the other side."""
    if size > limit:
        raise WriteFailed(f"the line was not written: it has {size} bytes, and write_limit_bytes is {limit}")
