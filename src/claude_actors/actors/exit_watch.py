"""Notices that a process has died without reaping it.

While it is an unreaped zombie its number and its group's cannot become a stranger's, so the caller can still signal the
group safely. On Linux a pidfd in the selector; elsewhere one waiting thread for each process.
"""

from __future__ import annotations

import os
import select
import selectors
import threading
from collections.abc import Callable
from contextlib import suppress

from claude_actors.actors import fds
from claude_actors.actors.contained import run_contained
from claude_actors.actors.reactor import Reactor


def watch_exit(reactor: Reactor, pid: int, died: Callable[[], object]) -> None:
    """Call `died` in the reactor, once, when the process is dead and not reaped. Reactor thread only."""
    handle = open_pidfd(pid)
    if handle is None:
        _watch_by_thread(reactor, pid, died)
        return

    def ready(_events: int) -> None:
        reactor.unregister(handle)
        fds.close(handle)
        died()

    try:
        reactor.register(handle, selectors.EVENT_READ, ready)
    except BaseException:
        fds.close(handle)
        raise


def open_pidfd(pid: int) -> int | None:
    """Open a handle of the process; None where the system has or allows none."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return fds.own(os.pidfd_open(pid))
    except OSError:
        return None


def _watch_by_thread(reactor: Reactor, pid: int, died: Callable[[], object]) -> None:
    def wait() -> None:
        run_contained("exit_wait_failed", wait_without_reaping, pid)
        reactor.call_soon(died)

    threading.Thread(target=wait, name=f"claude-actors-wait-{pid}", daemon=True).start()


def wait_without_reaping(pid: int) -> None:
    """Block until the process is dead. Only where there is neither waitid nor kqueue may it be reaped by that."""
    if hasattr(os, "waitid"):
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    elif hasattr(select, "kqueue"):
        _wait_by_kqueue(pid)


def _wait_by_kqueue(pid: int) -> None:
    queue = select.kqueue()  # type: ignore[attr-defined, unused-ignore]
    try:
        exit_of_it = select.kevent(  # type: ignore[attr-defined, unused-ignore]
            pid,
            filter=select.KQ_FILTER_PROC,  # type: ignore[attr-defined, unused-ignore]
            flags=select.KQ_EV_ADD,  # type: ignore[attr-defined, unused-ignore]
            fflags=select.KQ_NOTE_EXIT,  # type: ignore[attr-defined, unused-ignore]
        )
        # A process that is dead already cannot be added: that is an answer too.
        with suppress(ProcessLookupError):
            queue.control([exit_of_it], 1)
    finally:
        queue.close()


def is_our_child(pid: int) -> bool:
    """Tell whether the process, dead or alive, is still ours to reap, and so its number surely its own."""
    if not hasattr(os, "waitid"):
        return True
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    except ChildProcessError:
        # Somebody else has reaped it: a waitpid(-1) of the host program, or SIGCHLD set to be ignored.
        return False
    return True
