"""The threads in which user code runs: HookTask actors, reused, bounded, and never waited for.

It decides which thread runs a job; what the job is, whose it is and what its end means is the caller's business.

Jobs wait in one queue, and one thread at a time is called to it. Whoever takes a job while others wait calls the next
thread before it begins: that one stands ready the moment the job blocks. If it does not block, the thread that is
awake takes the next job itself, which costs a tenth of what waking another does. (A fresh actor for each job would
cost more than the rest of a hook's round trip.)

Best is to wake nobody: a thread that leads the reactor passes the lead on and comes to the queue itself. The one that
leads then looks at the queue first, and calls the next thread if jobs still wait: so none is called for jobs that do
not block.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

import pykka
from msgspec import Struct
from pykka._envelope import Envelope
from pykka.messages import _ActorStop

from claude_actors.actors.base import ActorEnded
from claude_actors.actors.contained import run_contained
from claude_actors.actors.cork import CORK, let_out
from claude_actors.actors.here import HERE
from claude_actors.actors.reactor import Reactor
from claude_actors.actors.task_base import TaskActor, TaskInbox

# Idle threads beyond this end; a burst's worth of them need not stay.
_KEPT_IDLE: Final = 16
_MOST_THREADS: Final = 1024

Job = Callable[[], object]


class PoolExhausted(Exception):
    """Every thread that may be started is busy, most likely with callbacks that never return."""


class TakeJobs(Struct, frozen=True):
    """Run the pool's jobs until none waits."""


class JobInbox(TaskInbox):
    """Takes a call only if it will be heard, and lets nobody wait for the end of a job.

    `stop_all()` stops tasks before the sessions that they work for: if it waited for a callback, it would wait for one
    that waits for the end of its session.
    """

    _CALL: Final = Envelope(TakeJobs())

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._busy = False
        self.stopping = False

    def call(self) -> bool:
        """Call the task to the pool's queue; False if it is about to end."""
        with self._lock:
            if self.stopping:
                return False
            self._busy = True
            super().put(self._CALL)
            return True

    def put(self, envelope: Envelope[Any], /) -> None:
        """Queue a message; a stop that comes while a job runs is answered at once and carried out after it."""
        waiter = None
        if isinstance(envelope.message, _ActorStop):
            with self._lock:
                self.stopping = True
                if self._busy:
                    waiter, envelope = envelope.reply_to, Envelope(envelope.message)
        super().put(envelope)
        if waiter is not None:
            waiter.set(None)

    def rest(self) -> None:
        """Learn that no job runs any more."""
        with self._lock:
            self._busy = False


class HookTask(TaskActor):
    """Runs one job at a time in a thread of its own; whatever a job raises is logged and stays here."""

    def __init__(self, pool: TaskPool) -> None:
        super().__init__(supervisor=pool.task_ended)
        self._pool = pool

    @staticmethod
    def _create_actor_inbox() -> JobInbox:
        return JobInbox()

    def on_message(self, message: object) -> None:
        """Run jobs while there are any; a host program's broadcast is none of our business."""
        if isinstance(message, TakeJobs):
            self._pool.work(self.actor_ref)


class TaskPool:
    """The process's HookTasks: one pool for the actors of a reactor, which ends with it and so outlasts a session."""

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _current: ClassVar[TaskPool | None] = None
    _kept: Final[WeakKeyDictionary[Reactor, TaskPool]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._users = 0
        self._closed = False
        self._threads = 0
        # All of them, for the child of a fork.
        self._tasks: set[pykka.ActorRef[Any]] = set()
        self._jobs: deque[Job] = deque()
        # Last in, first out: the thread that ran last has the warmest caches.
        self._idle: list[pykka.ActorRef[HookTask]] = []
        # Whether a thread is on its way to the queue.
        self._called = False
        # Whether a thread will look at the queue and call the next.
        self._guarded = False

    @classmethod
    def of(cls, reactor: Reactor) -> TaskPool:
        """Give the process's pool to an actor of this reactor; it is kept until the reactor ends. Reactor thread."""
        pool = cls._kept.get(reactor)
        if pool is None:
            pool = cls._kept[reactor] = cls.acquire()
            reactor.at_close(pool.release)
        return pool

    @classmethod
    def acquire(cls) -> TaskPool:
        """Give the process's pool; `release()` it once for each call. Any thread."""
        with cls._lock:
            if cls._current is None:
                cls._current = cls()
            cls._current._users += 1
            return cls._current

    def release(self) -> None:
        """Give it back; with the last user idle threads end at once, busy ones when their job does. Never blocks."""
        with TaskPool._lock:
            self._users -= 1
            if self._users:
                return
            if TaskPool._current is self:
                TaskPool._current = None
            self._closed = True
            idle, self._idle = self._idle, []
        for task in idle:
            task.stop(block=False)

    @property
    def threads(self) -> int:
        """Count the threads, busy and idle."""
        return self._threads

    @property
    def idle(self) -> int:
        """Count the threads that have nothing to do."""
        return len(self._idle)

    def run(self, job: Job, *, needed: bool = False) -> None:
        """Run the job in a thread that is free, else in a new one. Any thread; never blocks.

        Raises PoolExhausted; if the job is `needed`, only where the system has no thread left.
        """
        with TaskPool._lock:
            free = len(self._idle) + _MOST_THREADS - self._threads + self._called
            if len(self._jobs) >= free and not needed:
                raise PoolExhausted(f"{_MOST_THREADS} callback threads are busy")
            self._jobs.append(job)
            if self._called:
                return
            self._called = True
        leads = HERE.leads
        if leads is not None and leads.take_errand(self.work, self._look):
            self._guarded = True
            return
        with TaskPool._lock:
            task = self._choose()
        if task is not None and leads is not None:
            # Woken now, the thread would only sleep again until the reactor lets go of the interpreter.
            leads.at_parting(partial(self._call, task))
            return
        try:
            self._call(task)
        except PoolExhausted:
            if self._take_back(job):
                raise

    def work(self, task: pykka.ActorRef[Any] | None = None) -> None:
        """Run jobs while there are any, in a thread that was called: a task's, or the one that has led the reactor."""
        let_out()
        job = self._next_job(task, called=True)
        while job is not None:
            run_contained("task_job_failed", job)
            job = self._next_job(task, called=False)

    def _next_job(self, task: pykka.ActorRef[Any] | None, *, called: bool) -> Job | None:
        job, keep = None, True
        with TaskPool._lock:
            if called:
                self._called = False
            if self._jobs and not (task is not None and _inbox_of(task).stopping):
                job = self._jobs.popleft()
            elif task is not None:
                keep = self._let_rest(task)
            waits = bool(self._jobs)
            must_call = waits and not (self._called or self._guarded)
            other = self._choose() if must_call else None
        if must_call:
            waits = run_contained("task_not_called", self._call, other)
        CORK.holds = waits and job is not None
        if not CORK.holds:
            let_out()
        if task is not None and not keep:
            task.stop(block=False)
        return job

    def _look(self) -> None:
        """Call a thread if jobs wait: whoever was to run them all has blocked, or takes long."""
        with TaskPool._lock:
            self._guarded = False
            must_call = bool(self._jobs) and not self._called
            other = self._choose() if must_call else None
        if must_call:
            run_contained("task_not_called", self._call, other)
        let_out()

    def task_ended(self, ended: ActorEnded) -> None:
        """Forget a thread that is gone; for HookTask."""
        with TaskPool._lock:
            self._threads -= 1
            self._tasks.discard(ended.ref)
            # stop_all() of a host program ends idle tasks behind our back.
            self._idle = [task for task in self._idle if task != ended.ref]

    # --- with the lock held ---

    def _choose(self) -> pykka.ActorRef[HookTask] | None:
        """Choose who is called: an idle thread, or a new one, which is counted here and started by the caller."""
        self._called = True
        if self._idle:
            return self._idle.pop()
        self._threads += 1
        return None

    def _let_rest(self, task: pykka.ActorRef[Any]) -> bool:
        """Keep a task for later; False if it must be stopped."""
        inbox = _inbox_of(task)
        inbox.rest()
        if inbox.stopping:
            return True
        if self._closed or len(self._idle) >= _KEPT_IDLE:
            return False
        self._idle.append(task)
        return True

    # --- without it ---

    def _call(self, task: pykka.ActorRef[HookTask] | None) -> None:
        # A host program's stop_all() may have stopped an idle task that we have just chosen.
        while not _inbox_of(task or self._start()).call():
            with TaskPool._lock:
                task = self._choose()

    def _start(self) -> pykka.ActorRef[HookTask]:
        try:
            task = HookTask.start(self)
        except BaseException as error:
            with TaskPool._lock:
                self._threads -= 1
                self._called = False
            let_out()  # who relied on this thread to do so
            if isinstance(error, RuntimeError):
                raise PoolExhausted(f"no more threads can be started: {error}") from error
            raise
        self._tasks.add(task)
        return task

    def _take_back(self, job: Job) -> bool:
        with TaskPool._lock:
            try:
                self._jobs.remove(job)
            except ValueError:
                return False  # A thread that was busy has become free and taken it.
            return True

    @classmethod
    def forget(cls) -> None:
        """Forget the pool in the child of a fork, where its threads do not exist."""
        pool, cls._current = cls._current, None
        cls._lock = threading.Lock()
        if pool is not None:
            pool._closed = True
            pool._idle = []
            for task in pool._tasks:
                task.actor_stopped.set()


def _inbox_of(task: pykka.ActorRef[HookTask]) -> JobInbox:
    inbox = task.actor_inbox
    assert isinstance(inbox, JobInbox)
    return inbox


os.register_at_fork(after_in_child=TaskPool.forget)
