"""A port in memory: a test plays the CLI by pushing bytes and reading what was written.

Every method of the test's side may be called from any thread; those that wait have a deadline and raise when it passes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from claude_actors.actors.port_types import PortExit, PortSink, StopDeadlines
from claude_actors.errors import WriteFailed

DEADLINE: Final = 30.0


class MemoryPort:
    """Stands in for a CLI process. By default it runs as soon as it is started and exits 0 when it is stopped.

    `on_stop` replaces that: "exit" exits with code 0, "ignore" leaves the end to the test.
    """

    def __init__(self, *, pid: int | None = None, spawn: bool = True, on_stop: str = "exit") -> None:
        self._pid = pid
        self._spawn = spawn
        self._on_stop = on_stop
        self._changed = threading.Condition()
        self._sink: PortSink | None = None
        self._written: list[bytes] = []
        self._taken = 0
        self._input_closed = False
        self._stops: list[StopDeadlines] = []
        self._refusal: WriteFailed | None = None
        self._ended = False

    # --- the port ---

    def start(self, sink: PortSink) -> None:
        """Remember where to report, and report that it runs unless `spawn=False`."""
        with self._changed:
            self._sink = sink
            self._changed.notify_all()
        if self._spawn:
            sink.spawned(self._pid)

    def write(self, lines: bytes) -> None:
        """Keep the lines for the test."""
        with self._changed:
            if self._refusal is not None:
                raise self._refusal
            if self._input_closed or self._ended:
                raise WriteFailed("the input is closed")
            self._written.extend(lines.splitlines(keepends=True))
            self._changed.notify_all()

    def close_input(self) -> None:
        """Refuse what is written from now on."""
        with self._changed:
            self._input_closed = True
            self._changed.notify_all()

    def stop(self, deadlines: StopDeadlines) -> None:
        """Note the wish, and exit with 0 unless the test ends it itself."""
        with self._changed:
            self._stops.append(deadlines)
            self._input_closed = True
            self._changed.notify_all()
        if self._on_stop == "exit":
            self.exit(0)

    # --- the test's side: acting ---

    def spawned(self, pid: int | None = None) -> None:
        """Report that it runs; for ports made with `spawn=False`."""
        self._reporting().spawned(pid)

    def fail_to_spawn(self, error: BaseException) -> None:
        """Report that it could not be started; nothing can be pushed after that."""
        if sink := self._last_report():
            sink.spawn_failed(error)

    def push(self, chunk: bytes) -> None:
        """Let the session receive these bytes, whole lines or not."""
        self._reporting().received(chunk)

    def push_frame(self, *frames: Mapping[str, Any]) -> None:
        """Let the session receive these frames, each as one line, in one chunk."""
        self.push(b"".join(msgspec.json.encode(frame) + b"\n" for frame in frames))

    def push_stderr(self, chunk: bytes) -> None:
        """Let the session receive these bytes of error output."""
        self._reporting().stderr(chunk)

    def refuse_writes(self, reason: str = "refused by the test") -> None:
        """Refuse every later line."""
        with self._changed:
            self._refusal = WriteFailed(reason)

    def fail_input(self, reason: str = "broken by the test") -> None:
        """Report that the input has failed, as a process does that has closed its stdin."""
        self.refuse_writes(reason)
        self._reporting().write_failed(WriteFailed(reason))

    def exit(self, code: int | None = 0, *, signal: int | None = None) -> None:
        """Report the end, once; later calls change nothing."""
        if sink := self._last_report():
            sink.exited(PortExit(None if signal is not None else code, signal))

    # --- the test's side: looking ---

    @property
    def written(self) -> tuple[bytes, ...]:
        """Everything that was written so far, one item a line."""
        with self._changed:
            return tuple(self._written)

    @property
    def stops(self) -> tuple[StopDeadlines, ...]:
        """Every wish to stop so far."""
        with self._changed:
            return tuple(self._stops)

    @property
    def input_closed(self) -> bool:
        """Tell whether the session has ended our input."""
        with self._changed:
            return self._input_closed

    def next_line(self, timeout: float = DEADLINE) -> bytes:
        """Wait for the next line that was not taken yet and take it."""
        with self._changed:
            self._wait(lambda: len(self._written) > self._taken, timeout, "a line to be written")
            self._taken += 1
            return self._written[self._taken - 1]

    def next_frame(self, timeout: float = DEADLINE) -> dict[str, Any]:
        """Wait for the next line and take it, decoded."""
        return msgspec.json.decode(self.next_line(timeout), type=dict[str, Any])

    def frame_of(self, matches: Callable[[dict[str, Any]], bool], timeout: float = DEADLINE) -> dict[str, Any]:
        """Take lines until one matches; what came before it is dropped."""
        deadline = time.monotonic() + timeout
        while not matches(frame := self.next_frame(max(0.0, deadline - time.monotonic()))):
            pass
        return frame

    def wait_started(self, timeout: float = DEADLINE) -> None:
        """Wait until the session has started the port."""
        with self._changed:
            self._wait(lambda: self._sink is not None, timeout, "a start")

    def wait_stopped(self, timeout: float = DEADLINE) -> StopDeadlines:
        """Wait until the session wants it stopped; gives the first wish."""
        with self._changed:
            self._wait(lambda: bool(self._stops), timeout, "a stop")
            return self._stops[0]

    def wait_input_closed(self, timeout: float = DEADLINE) -> None:
        """Wait until the session has ended our input."""
        with self._changed:
            self._wait(lambda: self._input_closed, timeout, "the end of input")

    def _wait(self, condition: Callable[[], bool], timeout: float, wanted: str) -> None:
        if not self._changed.wait_for(condition, timeout):
            raise TimeoutError(f"waited {timeout:g} s for {wanted}; {len(self._written)} lines were written")

    def _reporting(self) -> PortSink:
        self.wait_started()
        assert self._sink is not None
        return self._sink

    def _last_report(self) -> PortSink | None:
        self.wait_started()
        with self._changed:
            ended, self._ended = self._ended, True
            self._changed.notify_all()
            return None if ended else self._sink
