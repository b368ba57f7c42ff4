"""Waiting for whichever of several jobs is over next."""

from __future__ import annotations

import queue
from collections.abc import Iterable, Iterator

from claude_actors.fleet.errors import JobTimeout
from claude_actors.fleet.job import Job
from claude_actors.mailbox.waiting import deadline_after, remaining


class _Announce:
    """Told by a job that it is over."""

    def __init__(self, job: Job, over: queue.SimpleQueue[Job]) -> None:
        self._job, self._over = job, over

    def wake(self) -> bool:
        """Queue the job. Never blocks."""
        self._over.put(self._job)
        return True


def as_completed(jobs: Iterable[Job], timeout: float | None = None) -> Iterator[Job]:
    """Iterate over jobs in the order in which they end, each once; raises JobTimeout when the time is up first."""
    deadline = deadline_after(timeout)
    over: queue.SimpleQueue[Job] = queue.SimpleQueue()
    # By the job and not by its id: two fleets may use the same ids.
    left = {job: _Announce(job, over) for job in jobs}
    try:
        for job, announce in left.items():
            job.outcome.join(announce)
            if job.done:
                announce.wake()
        while left:
            try:
                job = over.get(timeout=remaining(deadline))
            except queue.Empty:
                raise JobTimeout(after=timeout or 0.0) from None
            # One that ended while it was joined may have been announced twice.
            if left.pop(job, None) is not None:
                yield job
    finally:
        for job, announce in left.items():
            job.outcome.leave(announce)
