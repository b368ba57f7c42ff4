"""`Fleet`: many tasks in few sessions. The handle, for any thread; its actor does the work.

It decides nothing itself: what may run when stands in `machine`, how a task comes in stands in `submission`.
"""

from __future__ import annotations

import os
import random
import time
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import closing
from os import PathLike
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import msgspec
from pykka import ActorDeadError

from claude_actors.errors import InvalidOptions
from claude_actors.fleet import inputs
from claude_actors.fleet.actor import FleetActor
from claude_actors.fleet.async_fleet import AsyncFleet
from claude_actors.fleet.errors import FleetStopped, FleetTimeout, SubmitTimeout
from claude_actors.fleet.inputs import FleetLimits
from claude_actors.fleet.job import Job
from claude_actors.fleet.journal import Journal, JournalFile
from claude_actors.fleet.machine import FleetMachine
from claude_actors.fleet.recovery import spent_before, wait_for_processes
from claude_actors.fleet.replay import Replay
from claude_actors.fleet.retries import RetryPolicy
from claude_actors.fleet.roster import Roster
from claude_actors.fleet.slots import WarmPolicy
from claude_actors.fleet.snapshot import FleetSnapshot, take_snapshot
from claude_actors.fleet.spending import Budget
from claude_actors.fleet.state import FleetState
from claude_actors.fleet.submission import Submissions, WhenFull
from claude_actors.fleet.task import KeptMessages, Task
from claude_actors.mailbox.waiting import deadline_after, remaining
from claude_actors.options import Options, given_options
from claude_actors.wire.messages import ResultMessage


class Fleet:
    """Runs tasks in at most `max_sessions` sessions at a time. Every member may be used from every thread.

    `max_starting`: how many of them may be on their way (None: two for each CPU, four at least). `queue`: how many
    tasks may wait; when it is full, `submit` waits or refuses, as `when_full` says. `retry`: what becomes of failures
    that may pass. `warm`: sessions that are started in advance or kept. `max_turns`, `max_tokens` and `max_budget_usd`:
    what all tasks together may use; tasks that wait when it is used up are not run. `messages`: how much
    `job.messages()` keeps unless the task says otherwise: the `recent` ones, `all`, or `none`.

    With a `journal` the constructor blocks until it is read and goes on with what it holds unfinished: `recovered`.
    Raises InvalidOptions, JournalLocked, JournalCorrupt or JournalFailed; nothing is left behind then.

    As a context manager it waits at the end until everything is done, or stops at once if the block has raised.
    """

    def __init__(
        self,
        max_sessions: int = 4,
        options: Options | None = None,
        journal: str | PathLike[str] | Journal | None = None,
        *,
        max_starting: int | None = None,
        queue: int | None = 1000,
        when_full: WhenFull = "wait",
        retry: RetryPolicy | None = None,
        warm: WarmPolicy | None = None,
        max_turns: int | None = None,
        max_tokens: int | None = None,
        max_budget_usd: float | None = None,
        messages: KeptMessages = "recent",
    ) -> None:
        if when_full not in ("wait", "refuse"):
            raise InvalidOptions("Fleet: when_full is 'wait' or 'refuse'")
        if messages not in ("recent", "all", "none"):
            raise InvalidOptions("Fleet: messages is 'recent', 'all' or 'none'")
        self.options = given_options(options)
        budget = Budget(max_turns, max_tokens, max_budget_usd)
        self._limits = FleetLimits(
            max_sessions=max_sessions,
            max_starting=max(4, 2 * (os.cpu_count() or 1)) if max_starting is None else max_starting,
            queue=queue,
            budget=budget,
            warm=warm or WarmPolicy(),
        )
        retry = retry or RetryPolicy()
        file = _open_journal(journal)
        try:
            replay = file.replay if file is not None else Replay()
            state = FleetState(
                self._limits, retry.backoff, conversations=replay.conversations, spent=spent_before(replay)
            )
            self._roster = Roster(state, file)
            self._submissions = Submissions(self._roster, self.options, retry, messages=messages, when_full=when_full)
            self.recovered = self._recover(replay)
            machine = FleetMachine(state, retry, self.options, new_id=lambda: str(uuid4()), chance=random.random)
            self._actor = self._submissions.actor = FleetActor.start(self._roster, machine)
        except BaseException:
            if file is not None:
                file.close_now()
            raise
        if self.recovered:
            self._submissions.hand_over(list(self.recovered))
        self.aio = AsyncFleet(self._roster, self._submissions, self._tell_end)

    def _recover(self, replay: Replay) -> tuple[Job, ...]:
        """Make jobs of what an earlier fleet left, once nothing of that fleet is alive any more."""
        jobs = tuple(self._submissions.recover(found) for found in replay.unfinished.values())
        wait_for_processes([found.pid for found in replay.unfinished.values() if found.pid is not None])
        if replay.resets_at is not None:
            self._roster.state.gate.close_until(replay.resets_at, time.monotonic(), time.time())
        replay.unfinished.clear()
        return jobs

    # --- tasks ---

    def submit(self, task: Task | str, *, timeout: float | None = None) -> Job:
        """Hand a task in and return its job; a string is a task with that prompt.

        Waits for a place in the queue (at most `timeout`: SubmitTimeout), or raises QueueFull; waits until the journal
        has the task, if there is one. A task whose id the journal knows is not run twice: a recovered one gives its
        job, one that has ended gives its outcome. Raises DuplicateTask, InvalidOptions, FleetClosed, JournalFailed.
        """
        return self.submit_many((task,), timeout=timeout)[0]

    def submit_many(self, tasks: Iterable[Task | str], *, timeout: float | None = None) -> list[Job]:
        """Hand tasks in, as `submit` does, with one wait for the journal. If it raises, none of them stays."""
        deadline = deadline_after(timeout)
        with closing(self._submissions.steps(tasks)) as steps:
            try:
                wanted = next(steps)
                while True:
                    if wanted.wait(remaining(deadline)):
                        wanted = next(steps)
                    else:
                        wanted = steps.throw(SubmitTimeout(after=timeout or 0.0))
            except StopIteration as over:
                jobs: list[Job] = over.value
                return jobs

    def map(self, tasks: Iterable[Task | str], *, ahead: int | None = None) -> Generator[ResultMessage, None, None]:
        """Iterate over the results of tasks, in their order; raises what a task failed with.

        Tasks are taken from the iterable while results are taken, at most `ahead` of them before their turn (twice the
        number of sessions, if not said). Whoever breaks off cancels the rest.
        """
        jobs: deque[Job] = deque()
        try:
            for task in tasks:
                jobs.append(self.submit(task))
                if len(jobs) >= max(1, ahead or 2 * self._limits.max_sessions):
                    yield jobs.popleft().result()
            while jobs:
                yield jobs.popleft().result()
        finally:
            for job in jobs:
                job.cancel()

    # --- bounds ---

    @property
    def limits(self) -> FleetLimits:
        """The bounds in force."""
        return self._limits

    def change(self, **changes: Any) -> FleetLimits:
        """Change bounds (fields of FleetLimits) while it runs and return all of them. Never blocks, stops no task.

        With fewer sessions, or a smaller queue, those that are there finish first. Raises InvalidOptions.
        """
        with self._roster.lock:
            try:
                self._limits = msgspec.structs.replace(self._limits, **changes)
            except TypeError as error:
                raise InvalidOptions(f"Fleet.change: {error}") from None
            self._tell(inputs.LimitsChanged(self._limits))
        self._roster.places.resize(self._limits.queue)
        return self._limits

    def pause(self) -> None:
        """Start no more tasks until `resume()`; what runs goes on. Never blocks."""
        self._tell(inputs.HoldRequested(True))

    def resume(self) -> None:
        """Start tasks again. Never blocks."""
        self._tell(inputs.HoldRequested(False))

    # --- its end ---

    def drain(self, timeout: float | None = None, *, leave_queued: bool = False) -> None:
        """Take no more tasks, block until all are over, and end; with `leave_queued`, only those that run now.

        Tasks that are left end with FleetStopped and stay in the journal. Raises FleetTimeout (the draining goes on),
        or ActorFailed if the fleet itself has failed. Idempotent.
        """
        self._tell_end(inputs.DrainRequested(leave_queued))
        error = self._wait(timeout)
        if error is not None:
            raise error

    def stop(self, timeout: float | None = None) -> None:
        """End every session now and block until nothing is left of them; idempotent.

        Unfinished jobs end with FleetStopped; a later fleet on the same journal goes on with them. Raises FleetTimeout.
        """
        self._tell_end(inputs.StopRequested(FleetStopped()))
        self._wait(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.stop()
            return
        try:
            self.drain()
        except BaseException:
            self.stop()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await (self.aio.drain() if kind is None else self.aio.stop())

    # --- what it is: never blocks ---

    def snapshot(self) -> FleetSnapshot:
        """Return the fleet's numbers as of now."""
        return take_snapshot(self._roster)

    @property
    def closed(self) -> bool:
        """Whether it takes no more tasks."""
        return self._roster.closed

    def __repr__(self) -> str:
        return f"<Fleet {len(self._roster.jobs)} unfinished jobs, {len(self._roster.feeds)} sessions>"

    # --- within ---

    def _wait(self, timeout: float | None) -> BaseException | None:
        if not self._roster.over.wait(timeout):
            raise FleetTimeout(after=timeout or 0.0)
        return self._roster.over.value()

    def _tell_end(self, message: inputs.DrainRequested | inputs.StopRequested) -> None:
        self._roster.close()
        self._tell(message)

    def _tell(self, message: inputs.Input) -> None:
        try:
            self._actor.tell(message)
        except ActorDeadError:
            return  # It is over.


def _open_journal(journal: str | PathLike[str] | Journal | None) -> JournalFile | None:
    if journal is None:
        return None
    return JournalFile(journal if isinstance(journal, Journal) else Journal(journal))
