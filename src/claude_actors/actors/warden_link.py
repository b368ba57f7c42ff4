"""This process's side of the warden: starts it before the first process, and keeps the table that it goes by.

Without a warden the runtime works all the same; only a SIGKILL of this process can then leave something running.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Final
from weakref import WeakKeyDictionary

from claude_actors.actors import fds, warden
from claude_actors.actors.contained import warn
from claude_actors.actors.reactor import Reactor
from claude_actors.actors.ward_table import WardTable

_GOODBYE_WAIT: Final = 5.0


class WardenLink:
    """The warden of one reactor; it ends with the reactor."""

    _links: Final[WeakKeyDictionary[Reactor, WardenLink]] = WeakKeyDictionary()
    _making: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._table: WardTable | None = None
        self._warden: Warden | None = None
        # Held while the warden is started, by threads that may wait only.
        self._starting = threading.Lock()

    @classmethod
    def of(cls, reactor: Reactor) -> WardenLink:
        """Give the link of this reactor, making it if need be. Any thread that is a user of the reactor."""
        with cls._making:
            link = cls._links.get(reactor)
            if link is None:
                link = cls._links[reactor] = cls(reactor)
                reactor.at_close(link.close)
            return link

    def expect(self, cookie: str) -> None:
        """Have every bearer of the cookie ended if this process dies. Blocks while the warden is being started.

        Called before the first is born, so that there is no moment in which a SIGKILL of this process would leave it.
        """
        if self._warden is None:
            with self._starting:
                self._start()
        if self._table is not None:
            self._table.add(cookie)

    # --- any thread, never blocking ---

    def watch(self, group: int, cookie: str) -> None:
        """Have the group of an expected bearer, too, ended if this process dies."""
        if self._table is not None:
            self._table.set_group(cookie, group)

    def forget_group(self, cookie: str) -> None:
        """Forget a group that is about to be reaped, because its number may then become a stranger's."""
        self.watch(0, cookie)

    def forget_cookie(self, cookie: str) -> None:
        """Forget a cookie that nobody bears any more."""
        if self._table is not None:
            self._table.remove(cookie)

    def close(self) -> None:
        """Let the warden end and reap it; blocks for a moment, so it is for the reactor's end only."""
        if self._warden is not None:
            with suppress(KeyError):  # if it could not be watched
                self._reactor.unregister(self._warden.line)
            self._warden.end()
        if self._table is not None:
            self._table.close()

    # --- within ---

    def _start(self) -> None:
        if self._warden is not None:
            return
        try:
            self._table = self._table or WardTable()
            self._warden = Warden(self._table)
        except OSError as error:
            warn("warden_not_started", reason=str(error), risk="a SIGKILL of this process may leave its CLIs running")
            return
        self._reactor.call_soon(self._watch_warden)

    def _watch_warden(self) -> None:
        if self._warden is not None:
            self._reactor.register(self._warden.line, selectors.EVENT_READ, self._lost)

    def _lost(self, _events: int) -> None:
        lost, self._warden = self._warden, None
        if lost is not None:
            warn("warden_lost", risk="until the next start a SIGKILL of this process may leave CLIs")
            self._reactor.unregister(lost.line)
            reactor = self._reactor.again()
            reactor.run_blocking(lost.end, lambda _: reactor.release(), lambda _: reactor.release())

    @classmethod
    def forget(cls) -> None:
        """Hold no lock in the child of a fork."""
        cls._making = threading.Lock()


os.register_at_fork(after_in_child=WardenLink.forget)


class Warden:
    """One warden process; raises OSError where there can be none. Starting it blocks for a moment."""

    def __init__(self, table: WardTable) -> None:
        import socket  # a millisecond that a program without sessions never needs

        ours, theirs = socket.socketpair()
        with theirs:
            #: Its end of this line is closed when it dies, and ours when we do.
            self.line = fds.own(ours.detach())
            try:
                self._process = _popen(theirs.fileno(), table.fd)
            except BaseException:
                fds.close(self.line)
                raise

    def end(self) -> None:
        """Let it end and reap it. Blocks for a moment, unless it is dead."""
        fds.close(self.line)
        try:
            self._process.wait(_GOODBYE_WAIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _popen(line: int, table: int) -> subprocess.Popen[bytes]:
    program = Path(warden.__file__)
    # A frozen or embedding program would start itself once more.
    if getattr(sys, "frozen", False) or "py" not in Path(sys.executable or "").name.lower() or not program.is_file():
        raise OSError("this interpreter cannot run a script of ours")
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(program), str(table)],
        stdin=line,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        pass_fds=(table,),
        # Without the cookie of an outer session, so that its sweep lets us finish ours.
        env={name: value for name, value in os.environ.items() if name != warden.COOKIE_NAME},
        start_new_session=True,
    )
