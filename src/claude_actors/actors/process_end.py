"""The end of a process and of all that it has started: carried through whatever becomes of those who wanted it.

It lives in the reactor and owns the pid from the spawn to the reaping. It decides when to send which signal to whom;
pipes and protocols are not its business. Reactor thread only.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from claude_actors.actors import fds
from claude_actors.actors.contained import report
from claude_actors.actors.exit_watch import is_our_child, watch_exit
from claude_actors.actors.port_types import PortExit, StopDeadlines
from claude_actors.actors.reactor import Reactor
from claude_actors.actors.spawn import Process
from claude_actors.actors.sweeper import Sweeper
from claude_actors.actors.timers import TimerHandle
from claude_actors.actors.warden_link import WardenLink

_LADDER: Final = (signal.SIGTERM, signal.SIGKILL, None)
_NEVER: Final = float("inf")
# kqueue tells of an exit a moment before it can be taken.
_REAP_AGAIN: Final = 0.005


class ProcessEnd:
    """Watches one process; calls `died` when it is dead, and `gone` when nothing of it is left.

    `gone` is also called, with an unknown exit, when the process outlives the last deadline; it is reaped all the same
    whenever it dies.
    """

    def __init__(
        self,
        reactor: Reactor,
        process: Process,
        *,
        died: Callable[[], object],
        gone: Callable[[PortExit], object],
    ) -> None:
        self._reactor = reactor
        self._birth = process.birth
        self._pid = process.pid
        self._cookie = process.cookie
        self._died = died
        self._gone = gone
        self._said = False
        self._dead = False
        self._step = 0
        self._times = [_NEVER] * len(_LADDER)
        self._timer: TimerHandle | None = None
        self._warden = WardenLink.of(reactor)
        watch_exit(reactor, self._pid, self._leader_died)
        # Ours until it is reaped, also when the port has given up on it.
        reactor.again()
        self._warden.watch(self._pid, self._cookie)

    def hasten(self, deadlines: StopDeadlines) -> None:
        """Send TERM and KILL to the group when the deadlines pass; a later call can only make them earlier."""
        term = self._reactor.now() + deadlines.eof
        kill = term + deadlines.term
        wanted = (term, kill, kill + deadlines.kill)
        self._times = [min(old, new) for old, new in zip(self._times, wanted, strict=True)]
        self._set_timer()

    # --- the ladder ---

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self._dead and self._step < len(_LADDER):
            self._timer = self._reactor.call_at(self._times[self._step], self._climb)

    def _climb(self) -> None:
        number = _LADDER[self._step]
        self._step += 1
        if number is None:
            report("process_survived_kill", pid=self._pid)
            self._say(PortExit())
        else:
            self._signal_group(number)
        self._set_timer()

    def _signal_group(self, number: int) -> None:
        if is_our_child(self._pid):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, number)

    # --- after the death ---

    def _leader_died(self) -> None:
        self._dead = True
        if self._timer is not None:
            self._timer.cancel()
        # In this order: the leader's zombie keeps the number of the group from being given to a stranger.
        self._signal_group(signal.SIGKILL)
        self._warden.forget_group(self._cookie)
        self._died()
        self._reap()

    def _reap(self) -> None:
        exit = reap(self._pid)
        if exit is None:
            self._reactor.call_at(self._reactor.now() + _REAP_AGAIN, self._reap)
        else:
            Sweeper.of(self._reactor).sweep(self._cookie, self._birth, lambda: self._swept(exit))

    def _swept(self, exit: PortExit) -> None:
        self._warden.forget_cookie(self._cookie)
        self._say(exit)
        self._reactor.release()

    def _say(self, exit: PortExit) -> None:
        if not self._said:
            self._said = True
            self._gone(exit)


def kill_at_once(process: Process) -> None:
    """Kill the group, reap the leader and close our ends of the pipes. Blocks for the moment that takes."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(process.pid, 0)
    for fd in (process.stdin, process.stdout, process.stderr):
        fds.close(fd)


def reap(pid: int) -> PortExit | None:
    """Take the exit of a dead child; unknown if somebody else has taken it, None if it is not there yet."""
    try:
        reaped, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return PortExit()
    if not reaped:
        return None
    code = os.waitstatus_to_exitcode(status)
    return PortExit(signal=-code) if code < 0 else PortExit(code=code)
