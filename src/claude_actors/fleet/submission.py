"""How a task becomes a job: its options, its id, its place in the queue, its record in the journal.

Runs in the submitter's thread and never waits there: the steps are a generator that yields what is to be waited for, so
that threads and coroutines take the same ones.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Generator, Iterable
from typing import Any, Literal, TypeAlias
from uuid import uuid4

import pykka
from pykka import ActorDeadError

from claude_actors.errors import ClaudeActorsError, EncodingFailed, InvalidOptions
from claude_actors.fleet import inputs, records
from claude_actors.fleet.entry import Entry
from claude_actors.fleet.errors import DuplicateTask, FleetClosed, JournalFailed, QueueFull
from claude_actors.fleet.job import Job
from claude_actors.fleet.recovery import restore, settle_recorded
from claude_actors.fleet.replay import Unfinished
from claude_actors.fleet.retries import RetryPolicy
from claude_actors.fleet.roster import Roster
from claude_actors.fleet.task import KeptMessages, Task
from claude_actors.mailbox.promise import Promise
from claude_actors.options import Options

WhenFull: TypeAlias = Literal["wait", "refuse"]
Steps: TypeAlias = Generator[Promise[None], None, list[Job]]
_Entered: TypeAlias = list[tuple[Job, Promise[None]]]


class Submissions:
    """Takes the tasks of one fleet in; `actor` is set before the first comes."""

    def __init__(
        self, roster: Roster, defaults: Options, retry: RetryPolicy, *, messages: KeptMessages, when_full: WhenFull
    ) -> None:
        self._roster, self._defaults, self._retry = roster, defaults, retry
        self._messages, self._when_full = messages, when_full
        self._numbers = itertools.count(1)
        self.actor: pykka.ActorRef[Any] | None = None

    def steps(self, tasks: Iterable[Task | str]) -> Steps:
        """Take tasks in: yields promises to wait for, returns the jobs.

        Whoever closes it, or throws into it, takes the tasks back, as any error does that it raises.
        """
        given = [Task(task) if isinstance(task, str) else task for task in tasks]
        options = [self._options_of(task) for task in given]
        jobs: list[Job] = []
        entered: _Entered = []
        try:
            for task, its_options in zip(given, options, strict=True):
                job = self._known(task)
                if job is None:
                    yield from self._place(entered)
                    job = self._enter(task, its_options, entered)
                jobs.append(job)
            yield from self._begin(entered)
        except BaseException:
            self._take_back(entered, jobs)
            raise
        return jobs

    def recover(self, found: Unfinished) -> Job:
        """Make the job of a task that a journal holds unfinished; raises InvalidOptions."""
        task = records.task_from_fields(found.id, found.task)
        job = self._make_job(task, task.options_for(self._defaults), recovered=True)
        restore(job._entry, found)
        self._roster.jobs[job.id] = job
        return job

    def hand_over(self, jobs: list[Job]) -> None:
        """Give jobs to the fleet's actor; raises FleetClosed if it has ended meanwhile."""
        with self._roster.lock:
            if self._roster.closed or not self._tell(inputs.TasksSubmitted(tuple(job._entry for job in jobs))):
                raise FleetClosed
            self._roster.counters.submitted += len(jobs)

    # --- step by step ---

    def _options_of(self, task: Task) -> Options:
        if self._roster.journal is not None and isinstance(task.options, Options):
            raise InvalidOptions(
                "Task(options=Options(…)) cannot be kept in a journal: give the fleet those options, and the task a "
                "mapping of what is different, such as {'cwd': …}"
            )
        return task.options_for(self._defaults)

    def _known(self, task: Task) -> Job | None:
        """Return the job of a task that the journal knows: one that goes on, or one that has ended."""
        if task.id is None:
            return None
        with self._roster.lock:
            if self._roster.closed:
                raise FleetClosed
            job = self._roster.jobs.get(task.id)
            if job is not None and not job.claim():
                raise DuplicateTask(task_id=task.id)
        return job or self._recorded(task)

    def _place(self, entered: _Entered) -> Generator[Promise[None], None, None]:
        """Take a place in the queue, or wait for one."""
        places = self._roster.places
        if places.take():
            return
        if self._when_full == "refuse" and not self._roster.closed:
            raise QueueFull(limit=self._roster.state.limits.queue or 0)
        # Those before it may be what the queue is full of.
        yield from self._begin(entered)
        ticket = places.ticket()
        try:
            yield ticket
        except BaseException:
            if not places.withdraw(ticket) and ticket.error is None:
                places.give_back()
            raise
        ticket.value()

    def _enter(self, task: Task, options: Options, entered: _Entered) -> Job:
        """Register the job of a task that has its place; its promise is settled when the journal has it."""
        try:
            job = self._make_job(task, options, holds_place=True)
            line = self._line(job)
        except BaseException:
            self._roster.places.give_back()
            raise
        added: Promise[None] = Promise()
        entered.append((job, added))  # first: a KeyboardInterrupt from here on takes it back
        self._register(job)

        def acknowledged(failure: JournalFailed | None) -> None:
            added.settle(None) if failure is None else added.fail(failure)

        if self._roster.journal is None:
            acknowledged(None)
        else:
            self._roster.journal.append(records.TaskAdded(id=job.id, task={}), acknowledged, line=line)
        return job

    def _take_back(self, entered: _Entered, jobs: list[Job]) -> None:
        """Leave no trace of tasks that their submitter could not hand in: they may be submitted again."""
        waiting = [job for job, _ in entered]
        for job in waiting:
            self._roster.places.give_back()
            with self._roster.lock:
                if self._roster.jobs.get(job.id) is job:
                    # In this order: the journal may be closed as soon as no job is left.
                    if self._roster.journal is not None:
                        self._roster.journal.append(records.TaskWithdrawn(id=job.id, at=time.time()))
                    del self._roster.jobs[job.id]
            job.settle("cancelled", None, inputs.TaskWithdrawn(task_id=job.id))
        for job in jobs:
            if job.recovered:
                job.unclaim()
            elif job not in waiting and not job.done:
                # It was handed over, to make room for those behind it.
                self._cancel(job.id, inputs.TaskWithdrawn(task_id=job.id))
        # A fleet that drains may have waited for these alone.
        self._tell(inputs.Ticked())

    def _begin(self, entered: _Entered) -> Generator[Promise[None], None, None]:
        """Hand over what has entered, once the journal has it."""
        for _, added in entered:
            if not added.ready:
                yield added
            added.value()
        if entered:
            self.hand_over([job for job, _ in entered])
            entered.clear()

    # --- within ---

    def _recorded(self, task: Task) -> Job | None:
        journal = self._roster.journal
        record = journal.read_finished(str(task.id)) if journal is not None else None
        if record is None:
            return None
        job = self._make_job(task, self._defaults, recorded=True)
        settle_recorded(job, record)
        return job

    def _make_job(
        self,
        task: Task,
        options: Options,
        *,
        holds_place: bool = False,
        recovered: bool = False,
        recorded: bool = False,
    ) -> Job:
        entry = Entry(
            id=task.id or uuid4().hex,
            number=next(self._numbers),
            options=options,
            priority=task.priority,
            conversation=task.conversation,
            timeout=task.timeout,
            retries=self._retry.retries if task.retries is None else task.retries,
            may_resume=task.resume and options.persist_session,
            budget=task.budget,
            holds_place=holds_place,
        )
        kept: KeptMessages = "none" if recorded else task.messages or self._messages
        return Job(
            task, entry, self._roster.state.gate, self._cancel, messages=kept, recovered=recovered, recorded=recorded
        )

    def _line(self, job: Job) -> bytes | None:
        if self._roster.journal is None:
            return None
        added = records.TaskAdded(id=job.id, task=records.task_fields(job.task), at=time.time())
        try:
            return records.encode_record(added)
        except (TypeError, ValueError, OverflowError) as error:
            raise EncodingFailed(f"the task {job.id!r} cannot be written to a journal: {error}") from error

    def _register(self, job: Job) -> None:
        with self._roster.lock:
            if self._roster.closed:
                raise FleetClosed
            if job.id in self._roster.jobs:
                raise DuplicateTask(task_id=job.id)
            self._roster.jobs[job.id] = job

    def _cancel(self, job: str, error: ClaudeActorsError | None) -> None:
        self._tell(inputs.CancelRequested(job, error))

    def _tell(self, message: inputs.Input) -> bool:
        try:
            if self.actor is not None:
                self.actor.tell(message)
        except ActorDeadError:
            return False
        return self.actor is not None
