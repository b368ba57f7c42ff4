"""One thread for system calls that block for a moment (scanning /proc, killing), so that the reactor never does."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

from claude_actors.actors.contained import run_contained

T = TypeVar("T")


class Helper:
    """Runs jobs one after another; its daemon thread starts with the first job and ends with `close()`."""

    def __init__(self, call_soon: Callable[[Callable[[], object]], None]) -> None:
        self._call_soon = call_soon
        self._jobs: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(
        self, job: Callable[[], T], done: Callable[[T], object], failed: Callable[[BaseException], object]
    ) -> None:
        """Run `job` in the helper, then `done(result)` or `failed(error)` in the reactor. Reactor thread only."""

        def run() -> None:
            try:
                result = job()
            except BaseException as error:
                self._call_soon(lambda error=error: failed(error))  # type: ignore[misc]
            else:
                self._call_soon(lambda: done(result))

        if self._thread is None:
            thread = threading.Thread(target=self._run, name="claude-actors-helper", daemon=True)
            thread.start()
            self._thread = thread
        self._jobs.put(run)

    def close(self) -> None:
        """End the thread after the jobs that were submitted."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            run_contained("helper_job_failed", job)
