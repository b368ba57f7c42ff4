"""The waiting operations of a fleet as coroutines: `fleet.aio`. They suspend the caller and never block its loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from claude_actors.fleet import inputs
from claude_actors.fleet.errors import FleetStopped
from claude_actors.fleet.job import Job
from claude_actors.fleet.roster import Roster
from claude_actors.fleet.submission import Submissions
from claude_actors.fleet.task import Task

TellEnd = Callable[[inputs.DrainRequested | inputs.StopRequested], None]


class AsyncFleet:
    """The awaitable twin of a fleet's blocking operations; errors and meaning are those of `Fleet`."""

    def __init__(self, roster: Roster, submissions: Submissions, tell_end: TellEnd) -> None:
        self._roster, self._submissions, self._tell_end = roster, submissions, tell_end

    async def submit(self, task: Task | str) -> Job:
        """Hand a task in, waiting for its place and its record. Cancelling it takes the task back."""
        return (await self.submit_many((task,)))[0]

    async def submit_many(self, tasks: Iterable[Task | str]) -> list[Job]:
        """Hand tasks in."""
        steps = self._submissions.steps(tasks)
        try:
            while True:
                await next(steps).wait_async()
        except StopIteration as over:
            jobs: list[Job] = over.value
            return jobs
        finally:
            steps.close()

    async def drain(self, *, leave_queued: bool = False) -> None:
        """Take no more tasks and wait until all are over."""
        self._tell_end(inputs.DrainRequested(leave_queued))
        await self._roster.over.wait_async()
        error = self._roster.over.value()
        if error is not None:
            raise error

    async def stop(self) -> None:
        """End every session and wait until nothing is left of them."""
        self._tell_end(inputs.StopRequested(FleetStopped()))
        await self._roster.over.wait_async()
