"""A program in a real terminal: started on a pty of its own, read with a deadline, typed to like a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

DEADLINE = 30.0
CTRL_C = "\x03"
CTRL_D = "\x04"
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|\r")
# It makes the pty its controlling terminal, so that Ctrl-C is a signal, and becomes the program.
_LAUNCHER = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"


class Terminal:
    """One program and its terminal; a context manager that ends the program and closes the terminal.

    With `stdout`, standard output goes to that descriptor instead and only the rest to the terminal.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        size: tuple[int, int] = (40, 120),
        stdout: int | None = None,
    ) -> None:
        self._master, slave = pty.openpty()
        try:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
            self._process = subprocess.Popen(
                [sys.executable, "-IS", "-c", _LAUNCHER, *argv],
                stdin=slave,
                stdout=slave if stdout is None else stdout,
                stderr=slave,
                env={"TERM": "xterm-256color", **(os.environ if env is None else env)},
                cwd=cwd,
                start_new_session=True,
            )
        finally:
            os.close(slave)
        self._bytes = b""
        self._seen = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def screen(self) -> str:
        """Everything that was shown so far, without colours and cursor movements."""
        return _ESCAPES.sub("", self._bytes.decode(errors="replace"))

    @property
    def raw(self) -> bytes:
        """Everything that was shown so far, as it came."""
        return self._bytes

    def expect(self, text: str, timeout: float = DEADLINE) -> str:
        """Wait until `text` is shown after what was expected before; return what stood before it."""
        deadline = time.monotonic() + timeout
        while (found := self.screen.find(text, self._seen)) < 0:
            if not self._read(deadline):
                raise AssertionError(f"the terminal never showed {text!r}; it showed:\n{self.screen[self._seen :]}")
        before, self._seen = self.screen[self._seen : found], found + len(text)
        return before

    def press(self, text: str) -> None:
        """Press these keys."""
        os.write(self._master, text.encode())

    def enter(self, text: str) -> None:
        """Press these keys and Enter."""
        self.press(text + "\r")

    def wait(self, timeout: float = DEADLINE) -> int:
        """Read on until the program ends and return its exit code (negative: the signal that ended it)."""
        deadline = time.monotonic() + timeout
        while self._read(deadline):
            pass
        return self._process.wait(max(0.0, deadline - time.monotonic()))

    def close(self) -> None:
        """End the program if it runs, and close the terminal."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(DEADLINE)
        os.close(self._master)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, deadline: float) -> bool:
        """Read once; False when nobody can write to the terminal any more, or when time is up."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            chunk = os.read(self._master, 65536)
        except OSError:
            # Linux says EIO when the last writer is gone; others say end of file.
            return False
        self._bytes += chunk
        return bool(chunk)
