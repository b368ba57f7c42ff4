"""The one wait of the fake CLI: for input, for gates, for time.

The agent loop is plain sequential code; wherever it must wait it turns the pump, which meanwhile hands every input line
to its handler. So control requests are served in every wait, as the real CLI serves them.
"""

from __future__ import annotations

import os
import select
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Pump:
    """Wait on file descriptors. Handlers run inside `wait` and may wait themselves."""

    def __init__(self) -> None:
        self._signalled = _wake_on_signals()
        self._watched: dict[int, Callable[[], None]] = {self._signalled: self._drain}

    def _drain(self) -> None:
        os.read(self._signalled, 64)

    def hang(self) -> None:
        """Wait for ever, for signals only."""
        while True:
            select.select([self._signalled], [], [])
            self._drain()

    def watch(self, fd: int, handler: Callable[[], None]) -> None:
        """Call `handler` whenever `fd` can be read."""
        self._watched[fd] = handler

    def unwatch(self, fd: int) -> None:
        """Forget `fd`; unknown ones are ignored."""
        self._watched.pop(fd, None)

    def wait(self, done: Callable[[], bool], deadline: float | None = None) -> bool:
        """Turn until `done()`; false when the deadline (monotonic) came first."""
        while not done():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            self._turn(left)
        return True

    def poll(self) -> None:
        """Serve what is there already, without waiting."""
        while self._turn(0):
            pass

    def _turn(self, timeout: float | None) -> bool:
        ready, _, _ = select.select(list(self._watched), [], [], timeout)
        for fd in ready:
            handler = self._watched.get(fd)
            if handler is not None:
                handler()
        return bool(ready)


def _wake_on_signals() -> int:
    """Give a descriptor that can be read once a signal came.

    A signal that comes just before `select` interrupts nothing, and Python runs its handler only when `select` is over.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


class Gates:
    """The child's side of the gates: one FIFO each, which holds a byte once the test has opened the gate.

    The byte is never read, so a gate that is open stays open, for every process that shares it.
    """

    def __init__(self, directory: str, pump: Pump) -> None:
        self._directory = directory
        self._pump = pump

    def when_open(self, name: str, action: Callable[[], None]) -> Callable[[], None]:
        """Call `action` once, when the gate opens, and say that somebody stands before it. Returns a way to give up."""
        fd = os.open(_fifo(os.path.join(self._directory, name)), os.O_RDWR | os.O_NONBLOCK)

        def leave() -> None:
            nonlocal fd
            if fd >= 0:
                self._pump.unwatch(fd)
                os.close(fd)
                fd = -1

        def opened() -> None:
            leave()
            action()

        self._pump.watch(fd, opened)
        self._announce(name)
        return leave

    def _announce(self, name: str) -> None:
        try:
            fd = os.open(os.path.join(self._directory, name + ".reached"), os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return  # nobody listens
        os.write(fd, b"%d\n" % os.getpid())
        os.close(fd)


def _fifo(path: str) -> str:
    try:
        os.mkfifo(path)
    except FileExistsError:
        pass
    return path
