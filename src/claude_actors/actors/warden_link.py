"""This process's side of the warden: starts it before the first process, tells it who is alive, says goodbye.

Everything runs in the reactor's thread. Without a warden the runtime works all the same; only a SIGKILL of this process
can then leave something running.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

from claude_actors.actors import fds, warden
from claude_actors.actors.contained import warn
from claude_actors.actors.reactor import Reactor

_GOODBYE_WAIT: Final = 5.0


class WardenLink:
    """The warden of one reactor; it ends with the reactor."""

    _links: Final[WeakKeyDictionary[Reactor, WardenLink]] = WeakKeyDictionary()

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: int | None = None
        self._starting = False
        self._backlog = bytearray()
        self._watching = False
        self._groups: dict[int, str] = {}
        self._cookies: set[str] = set()
        self._when_ready: list[Callable[[], object]] = []

    @classmethod
    def of(cls, reactor: Reactor) -> WardenLink:
        """Give the link of this reactor, making it if need be."""
        link = cls._links.get(reactor)
        if link is None:
            link = cls._links[reactor] = cls(reactor)
            reactor.at_close(link.close)
        return link

    def expect(self, cookie: str, then: Callable[[], object]) -> None:
        """Have every bearer of the cookie ended if this process dies, and then call `then`, which may bring one up.

        Told before the first is born, so that there is no moment in which a SIGKILL of this process would leave it.
        """
        self._cookies.add(cookie)
        self._send(f"* {cookie}\n")
        if self._pipe is not None:
            then()
            return
        self._when_ready.append(then)
        if not self._starting:
            self._start()

    def watch(self, group: int, cookie: str) -> None:
        """Have the group of an expected bearer, too, ended if this process dies."""
        self._groups[group] = cookie
        self._send(f"+ {group} {cookie}\n")

    def forget_group(self, group: int) -> None:
        """Forget a group that is about to be reaped, because its number may then become a stranger's."""
        if self._groups.pop(group, None) is not None:
            self._send(f"- {group}\n")

    def forget_cookie(self, cookie: str) -> None:
        """Forget a cookie that nobody bears any more."""
        if cookie in self._cookies:
            self._cookies.discard(cookie)
            # It does no harm there, so it goes with what is said next: waking the warden costs more than telling it.
            if self._pipe is not None:
                self._backlog += f". {cookie}\n".encode()

    def close(self) -> None:
        """Say goodbye and reap the warden; blocks for a moment, so it is for the reactor's end only."""
        if self._process is None:
            return
        self._send("q\n")
        self._drop_pipe()
        try:
            self._process.wait(_GOODBYE_WAIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    # --- starting ---

    def _start(self) -> None:
        self._starting = True
        self._reactor.again()
        try:
            self._reactor.run_blocking(start_warden, self._started, self._not_started)
        except BaseException as error:  # no more threads
            self._not_started(error)

    def _started(self, started: tuple[subprocess.Popen[bytes], int]) -> None:
        self._starting = False
        self._process, self._pipe = started
        told = [f"* {cookie}\n" for cookie in self._cookies]
        told += [f"+ {group} {cookie}\n" for group, cookie in self._groups.items()]
        self._send("".join(told))
        self._go_on()

    def _not_started(self, error: BaseException) -> None:
        self._starting = False
        warn("warden_not_started", reason=str(error), risk="a SIGKILL of this process may leave its CLIs running")
        self._go_on()

    def _go_on(self) -> None:
        waiting, self._when_ready = self._when_ready, []
        for then in waiting:
            then()
        self._reactor.release()

    # --- talking ---

    def _send(self, line: str) -> None:
        if self._pipe is not None:
            self._backlog += line.encode()
            self._flush()

    def _flush(self, _events: int = 0) -> None:
        if self._pipe is None:
            return
        try:
            while self._backlog:
                del self._backlog[: os.write(self._pipe, self._backlog)]
        except BlockingIOError:
            pass
        except OSError as error:
            self._lost(error)
            return
        self._watch_pipe(bool(self._backlog))

    def _watch_pipe(self, wanted: bool) -> None:
        if self._pipe is not None and wanted != self._watching:
            self._watching = wanted
            if wanted:
                self._reactor.register(self._pipe, selectors.EVENT_WRITE, self._flush)
            else:
                self._reactor.unregister(self._pipe)

    def _lost(self, error: OSError) -> None:
        warn("warden_lost", reason=str(error), risk="until the next start a SIGKILL of this process may leave CLIs")
        self._drop_pipe()
        if self._process is not None:
            # Only a dead warden gives an error here, so there is nothing to wait for.
            self._process.kill()
            self._process.wait()
            self._process = None

    def _drop_pipe(self) -> None:
        if self._pipe is not None:
            self._watch_pipe(False)
            fds.close(self._pipe)
            self._pipe = None
            self._backlog.clear()


def start_warden() -> tuple[subprocess.Popen[bytes], int]:
    """Start the warden and give it with the writing end of its pipe. Blocks; raises OSError where it cannot be."""
    program = Path(warden.__file__)
    # A frozen or embedding program would start itself once more.
    if getattr(sys, "frozen", False) or "py" not in Path(sys.executable or "").name.lower() or not program.is_file():
        raise OSError("this interpreter cannot run a script of ours")
    reading, writing = os.pipe()
    try:
        fds.own(writing)
        os.set_blocking(writing, False)
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(program)],
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            # Without the cookie of an outer session, so that its sweep lets us finish ours.
            env={name: value for name, value in os.environ.items() if name != warden.COOKIE_NAME},
            start_new_session=True,
        )
    except BaseException:
        fds.close(writing)
        raise
    finally:
        with suppress(OSError):
            os.close(reading)
    return process, writing
