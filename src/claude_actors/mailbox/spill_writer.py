"""The threads that wait for disks, so that nobody who puts into a mailbox does: one for each directory in use.

A disk can hang for as long as it likes; its thread hangs with it, and no mailbox that spills elsewhere notices. A
thread starts with a job and ends when there has been none for a while. What the jobs do is the spill's business; it
also bounds what waits here.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Final
from weakref import WeakValueDictionary


class SpillWriter:
    """Runs jobs one after another in a daemon thread. At the interpreter's exit they are let go, as the files are."""

    # A flood fills a chunk every few milliseconds: starting a thread for each would cost more than the write.
    linger = 0.1

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        # Who holds it runs the jobs. A thread that finds it held is one too many, and ends.
        self._running = threading.Lock()

    def submit(self, job: Callable[[], object]) -> None:
        """Have a job run, and let go of, in the thread. Never blocks; the job must not raise."""
        self._jobs.put(job)
        if not self._running.locked():
            self._start_thread()

    def forget(self) -> None:
        """Forget the jobs in the child of a fork: the parent does them."""
        self.__init__()  # type: ignore[misc]

    def _start_thread(self) -> None:
        try:
            threading.Thread(target=self._run, name="claude-actors-spill", daemon=True).start()
        except RuntimeError:
            return  # no more threads, or the interpreter is ending: the next job tries again

    def _run(self) -> None:
        # Who submits a job while we hold the lock has left it to us: so look once more after having let go.
        while self._running.acquire(blocking=False):
            try:
                while True:
                    self._jobs.get(timeout=self.linger)()
            except queue.Empty:
                pass
            finally:
                self._running.release()
            if self._jobs.empty():
                return


_WRITERS: Final[WeakValueDictionary[str | None, SpillWriter]] = WeakValueDictionary()


def writer_for(directory: str | None) -> SpillWriter:
    """Return the writer that mailboxes which spill to this directory share."""
    return _WRITERS.setdefault(directory, SpillWriter())


def _forget_all() -> None:
    for writer in _WRITERS.values():
        writer.forget()


os.register_at_fork(after_in_child=_forget_all)
