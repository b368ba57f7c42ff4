"""Runs what a Ctrl-C must not cut in half where it cannot hit: Python delivers it to the main thread only."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from typing import TypeVar

from claude_actors.mailbox.promise import Promise

T = TypeVar("T")


def run_uninterrupted(job: Callable[[], T]) -> T:
    """Run `job` to its end and return what it returns, or raise what it raises. Blocks.

    A KeyboardInterrupt ends the wait at once, and the job goes on without it. Raises RuntimeError where the system has
    no thread left.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return job()
    outcome: Promise[T] = Promise()

    def run() -> None:
        try:
            outcome.settle(job())
        except BaseException as error:
            outcome.fail(error)

    # One step, where starting a `threading.Thread` is many: a Ctrl-C among them can leave its lock taken, and then the
    # thread waits for ever. It also takes half the time.
    _thread.start_new_thread(run, ())
    outcome.wait()
    return outcome.value()
