"""The port that is a process: spawned without a shell, read in slices, written without blocking, ended for certain.

It ties the pipes, the spawn and the end of one process together and reports to its sink in the right order. It knows
bytes and exits, nothing of frames. Its public methods may be called by any thread, and only `spawn` blocks; all the
rest runs in the reactor's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final
from uuid import uuid4

from claude_actors.actors.contained import warn
from claude_actors.actors.live_ports import LIVE_PORTS
from claude_actors.actors.pipes import MAX_UNWRITTEN, WRITE_TIMEOUT, Crowded, PipeReader, PipeWriter
from claude_actors.actors.port_types import PortExit, PortSink, StopDeadlines
from claude_actors.actors.process_end import ProcessEnd, kill_at_once
from claude_actors.actors.reactor import Reactor
from claude_actors.actors.spawn import Process, Program, spawn
from claude_actors.actors.sweeper import Sweeper
from claude_actors.actors.task_pool import TaskPool
from claude_actors.actors.timers import TimerHandle
from claude_actors.actors.warden_link import WardenLink
from claude_actors.errors import SpawnFailed, WriteFailed

# A descendant that we cannot find may hold the output open for ever; what is in the pipe is read all the same.
_DRAIN_FOR: Final = 0.5
# A program that has closed its output is ending, or is of no more use.
_LAST_WORDS_TO_EXIT: Final = 5.0


class ProcessPort:
    """One process, from its spawn until nothing of it is left."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path | None = None,
        user: str | None = None,
        max_unwritten: int = MAX_UNWRITTEN,
        write_timeout: float = WRITE_TIMEOUT,
        crowded: Crowded = lambda relieved: 0.0,
    ) -> None:
        self._program = Program(tuple(argv), dict(env), cwd, user)
        self._cookie = uuid4().hex
        self._max_unwritten = max_unwritten
        self._write_timeout = write_timeout
        self._crowded = crowded
        self._process: Process | None = None
        self._stop: StopDeadlines | None = None
        self._end: ProcessEnd | None = None
        self._readers: tuple[PipeReader, ...] = ()
        self._dead = False
        self._exit: PortExit | None = None
        self._timers: list[TimerHandle] = []
        self._reported = False

    # --- any thread ---

    def spawn(self) -> None:
        """Bring the process up, for `start` to go on with or `discard` to end. Raises SpawnFailed, with nothing left.

        Blocks until the program runs, and for as long as a disk hangs.
        """
        self._take_reactor()
        try:
            self._bring_up()
        except BaseException:
            self._let_go()
            raise

    def discard(self) -> None:
        """End what `spawn` has brought up and nobody is going to start. Never blocks."""
        if self._process is not None:
            self._reactor.call_soon(partial(self._end_unwanted, self._process))

    def start(self, sink: PortSink) -> None:
        """Report to `sink`; a process that is not up yet is spawned in a task's thread."""
        self._sink = sink
        if self._process is None:
            self._take_reactor()
        self._writer = PipeWriter(
            self._reactor, sink.write_failed, limit=self._max_unwritten, timeout=self._write_timeout
        )
        self._reactor.call_soon(self._spawn_in_task if self._process is None else self._spawned)

    def write(self, lines: bytes) -> None:
        """Write whole lines; before the spawn they are queued. Raises WriteFailed if they are refused."""
        self._writer.write(lines)

    def close_input(self) -> None:
        """Close the process's stdin after what was written."""
        self._writer.close()

    def stop(self, deadlines: StopDeadlines) -> None:
        """Close stdin now, TERM and KILL the group when the deadlines pass."""
        self._stop = deadlines
        if hasattr(self, "_writer"):
            self._writer.close()
            self._reactor.call_soon(lambda: self._hasten(deadlines))

    # --- spawning ---

    def _take_reactor(self) -> None:
        self._reactor = Reactor.acquire()
        LIVE_PORTS.add(self)

    def _bring_up(self) -> None:
        warden = WardenLink.of(self._reactor)
        warden.expect(self._cookie)
        try:
            if self._stop is not None:
                raise SpawnFailed(program=str(self._program.argv[0]), reason="stopped before it was started")
            self._process = spawn(self._program, self._cookie)
        except BaseException:
            warden.forget_cookie(self._cookie)
            raise

    def _spawn_in_task(self) -> None:
        try:
            TaskPool.of(self._reactor).run(self._spawn_and_go_on, needed=True)
        except BaseException as error:
            self._spawn_failed(error)

    def _spawn_and_go_on(self) -> None:
        try:
            self._bring_up()
        except BaseException as error:
            self._reactor.call_soon(partial(self._spawn_failed, error))
        else:
            self._reactor.call_soon(self._spawned)

    def _spawned(self) -> None:
        process = self._process
        assert process is not None
        try:
            self._end = ProcessEnd(self._reactor, process, died=self._died, gone=self._gone)
        except BaseException as error:
            self._kill_unwatched(process)
            self._spawn_failed(error)
            return
        self._readers = (
            PipeReader(self._reactor, process.stdout, self._sink.received, self._output_ended, self._crowded),
            PipeReader(self._reactor, process.stderr, self._sink.stderr, self._report_if_over),
        )
        self._sink.spawned(process.pid)
        self._writer.attach(process.stdin)
        if self._stop is not None:
            self._hasten(self._stop)

    def _end_unwanted(self, process: Process) -> None:
        self._kill_unwatched(process)
        self._let_go()

    def _kill_unwatched(self, process: Process) -> None:
        """End a process that has no ProcessEnd: nobody wants it, or the system has run out of something."""

        def sweep(_result: BaseException | None) -> None:
            Sweeper.of(self._reactor).sweep(self._cookie, process.birth, self._swept)

        self._reactor.again().run_blocking(lambda: kill_at_once(process), sweep, sweep)

    def _swept(self) -> None:
        WardenLink.of(self._reactor).forget_cookie(self._cookie)
        self._reactor.release()

    def _spawn_failed(self, error: BaseException) -> None:
        self._writer.abandon(WriteFailed("the line was not written: the CLI could not be started"))
        self._reported = True
        self._sink.spawn_failed(error)
        self._let_go()

    # --- ending ---

    def _hasten(self, deadlines: StopDeadlines) -> None:
        if self._end is not None:
            self._end.hasten(deadlines)

    def _output_ended(self) -> None:
        if not self._dead:
            self._timers.append(self._reactor.call_at(self._reactor.now() + _LAST_WORDS_TO_EXIT, self._useless))
        self._report_if_over()

    def _useless(self) -> None:
        if not self._dead:
            warn("output_closed_by_running_process")
            self.stop(StopDeadlines())

    def _died(self) -> None:
        self._dead = True
        self._writer.abandon(WriteFailed("the line was not written: the CLI has ended"))
        self._timers.append(self._reactor.call_at(self._reactor.now() + _DRAIN_FOR, self._drain))

    def _gone(self, exit: PortExit) -> None:
        self._exit = exit
        if not self._dead:
            self._drain()
        self._report_if_over()

    def _drain(self) -> None:
        for reader in self._readers:
            reader.drain()

    def _report_if_over(self) -> None:
        if self._exit is not None and not self._reported and all(reader.closed for reader in self._readers):
            self._reported = True
            self._sink.exited(self._exit)
            self._let_go()

    def _let_go(self) -> None:
        for timer in self._timers:
            timer.cancel()
        LIVE_PORTS.discard(self)
        self._reactor.release()
