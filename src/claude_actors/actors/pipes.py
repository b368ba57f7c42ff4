"""The two ends of a process's pipes that are ours: a bounded reader and a writer that never blocks.

Both run in the reactor's thread, except that a line is also tried directly in the thread that writes it. They know
bytes and deadlines, nothing of processes.
"""

from __future__ import annotations

import fcntl
import os
import selectors
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from claude_actors.actors import fds
from claude_actors.actors.port_types import check_size
from claude_actors.actors.reactor import Reactor
from claude_actors.actors.timers import TimerHandle
from claude_actors.errors import WriteFailed

READ_SLICE: Final = 64 * 1024
# A full pipe gives as much or more; rarely a whole slice, for a write of less than a page takes up a page.
BULKY: Final = READ_SLICE // 2
# Of a pipe that floods: each read lets go of the interpreter, which others then keep for longer than a read takes.
_WIDE_SLICE: Final = 128 * 1024
_WIDE_PIPE: Final = 256 * 1024
MAX_UNWRITTEN: Final = 64 * 1024 * 1024
WRITE_TIMEOUT: Final = 30.0
_DRAIN_LIMIT: Final = 1024 * 1024
_VIEWS_A_WRITE: Final = 64


#: Says how long to rest, in seconds, and calls what it is given if the rest is over before.
Crowded = Callable[[Callable[[], object]], float]


class PipeReader:
    """Reads at most one slice each time the pipe is ready, so that a flood leaves room for others.

    A pipe that is found full is made wider, where the system has that: the room of all pipes of a user is limited, so
    those that need no more get no more.
    While `crowded` says that the reader's own reader is behind, it rests before each slice, as long as that says or
    until it is relieved: reading on would only fill memory or the disk, and take the interpreter from who is behind. It
    never rests twice in a row, so what else comes through the pipe is late by that time at most.
    """

    def __init__(
        self,
        reactor: Reactor,
        fd: int,
        received: Callable[[bytes], object],
        ended: Callable[[], object],
        crowded: Crowded = lambda relieved: 0.0,
    ) -> None:
        self._reactor = reactor
        self._fd = fd
        self._received = received
        self._ended = ended
        self._crowded = crowded
        self._rest: TimerHandle | None = None
        self._slice = READ_SLICE
        self._bulky = False
        self.closed = False
        reactor.register(fd, selectors.EVENT_READ, self._readable)

    def _readable(self, _events: int) -> None:
        rest = self._crowded(self._relieved)
        if rest > 0:
            self._reactor.unregister(self._fd)
            self._rest = self._reactor.call_at(self._reactor.now() + rest, self._rested)
        elif self._read() == 0:
            self.close()

    def _relieved(self) -> None:
        """Any thread."""
        self._reactor.call_soon(self._end_rest)

    def _end_rest(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rested()

    def _rested(self) -> None:
        self._rest = None
        self._reactor.register(self._fd, selectors.EVENT_READ, self._readable)
        self._bulky = False
        if self._read() == 0:
            self.close()

    def _read(self) -> int | None:
        """Pass on one slice: its size, 0 at the end, None if there is nothing now."""
        try:
            chunk = os.read(self._fd, self._slice)
        except BlockingIOError:
            return None
        except OSError:
            return 0
        bulky = len(chunk) >= BULKY
        if bulky is not self._bulky:
            self._bulky = bulky
            self._reactor.set_bulky(self._fd, bulky)
            if self._slice == READ_SLICE:
                self._widen()
        if chunk:
            self._received(chunk)
        return len(chunk)

    def _widen(self) -> None:
        self._slice = _WIDE_SLICE
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with suppress(OSError):  # The user's pipes have no more room: it works as it is.
                fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, _WIDE_PIPE)

    def drain(self) -> None:
        """Pass on what is in the pipe now, up to a limit, and close it though somebody else may still hold it."""
        taken = 0
        while not self.closed and taken < _DRAIN_LIMIT and (size := self._read()):
            taken += size
        self.close()

    def close(self) -> None:
        """Close the pipe and say so, once."""
        if not self.closed:
            self.closed = True
            if self._rest is not None:
                self._rest.cancel()
            else:
                self._reactor.unregister(self._fd)
            fds.close(self._fd)
            self._ended()


class PipeWriter:
    """Writes whole lines in order. `write` and `close` may be called by any thread, the rest by the reactor's."""

    def __init__(
        self, reactor: Reactor, failed: Callable[[WriteFailed], object], *, limit: int, timeout: float
    ) -> None:
        self._reactor = reactor
        self._failed = failed
        self._limit = limit
        self._timeout = timeout
        # Held for non-blocking system calls only.
        self._lock = threading.Lock()
        self._fd: int | None = None
        self._queue: deque[memoryview] = deque()
        self._unwritten = 0
        self._progress_at = 0.0
        self._closing = False
        self._error: WriteFailed | None = None
        self._watching = False
        self._timer: TimerHandle | None = None

    def write(self, lines: bytes) -> None:
        """Write what the pipe takes now and queue the rest; raises WriteFailed if nothing of the lines is accepted."""
        with self._lock:
            self._check(len(lines))
            # Trying at once saves the way through the reactor, which is most of the cost of a short answer.
            at_once = self._fd is not None and not self._queue
            written = self._try_write([lines]) if at_once else 0
            if written == len(lines):
                return
            if not self._queue:
                self._progress_at = self._reactor.now()
            self._queue.append(memoryview(lines)[written:])
            self._unwritten += len(lines) - written
        self._reactor.call_soon(self._watch)

    def close(self) -> None:
        """Close the pipe once everything that was accepted is written."""
        with self._lock:
            self._closing = True
        self._reactor.call_soon(self._close_if_done)

    def attach(self, fd: int) -> None:
        """Begin to write to this pipe."""
        with self._lock:
            self._fd = fd
        self._watch()
        self._close_if_done()

    def abandon(self, error: WriteFailed) -> None:
        """Close the pipe now; what is unwritten is lost, and later lines are refused with `error`."""
        with self._lock:
            self._error = self._error or error
            self._queue.clear()
            self._unwritten = 0
            fd, self._fd = self._fd, None
            watching, self._watching = self._watching, False
        if self._timer is not None:
            self._timer.cancel()
        if fd is not None:
            if watching:
                self._reactor.unregister(fd)
            fds.close(fd)

    def _check(self, size: int) -> None:
        if self._error is not None:
            raise self._error
        if self._closing:
            raise WriteFailed("the line was not written: the input has been closed")
        check_size(size, self._limit)
        if self._unwritten + size > self._limit:
            raise WriteFailed(
                f"the line was not written: {self._unwritten} bytes wait already for a CLI that does not read "
                f"({self._limit} at most)"
            )

    def _try_write(self, views: Sequence[bytes | memoryview]) -> int:
        assert self._fd is not None
        try:
            return os.writev(self._fd, views)
        except BlockingIOError:
            return 0
        except OSError as error:
            failure = WriteFailed(f"the CLI has closed its input ({error.strerror}); what was not written is lost")
            self._error = failure
            self._reactor.call_soon(lambda: self.abandon(failure))
            raise failure from error

    # --- reactor thread only ---

    def _watch(self) -> None:
        if self._queue and self._fd is not None and not self._watching:
            self._watching = True
            self._reactor.register(self._fd, selectors.EVENT_WRITE, self._writable)
            self._expect_progress()

    def _writable(self, _events: int) -> None:
        try:
            with self._lock:
                written = self._try_write(list(islice(self._queue, _VIEWS_A_WRITE)))
                self._advance(written)
        except WriteFailed as error:
            self._fail(error)
            return
        if not self._queue:
            self._rest()

    def _advance(self, written: int) -> None:
        if written:
            self._progress_at = self._reactor.now()
            self._unwritten -= written
        while written and written >= len(self._queue[0]):
            written -= len(self._queue.popleft())
        if written:
            self._queue[0] = self._queue[0][written:]

    def _rest(self) -> None:
        with self._lock:
            if self._queue or self._fd is None:
                return
            self._watching = False
            self._reactor.unregister(self._fd)
        if self._timer is not None:
            self._timer.cancel()
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self._closing and self._fd is not None and not self._queue:
            self.abandon(WriteFailed("the line was not written: the input has been closed"))

    def _expect_progress(self) -> None:
        self._timer = self._reactor.call_at(self._progress_at + self._timeout, self._check_progress)

    def _check_progress(self) -> None:
        if not self._queue:
            return
        if self._reactor.now() < self._progress_at + self._timeout:
            self._expect_progress()
            return
        self._fail(WriteFailed(f"the CLI has read nothing for {self._timeout:g} s; {self._unwritten} bytes are lost"))

    def _fail(self, error: WriteFailed) -> None:
        self.abandon(error)
        self._failed(error)
