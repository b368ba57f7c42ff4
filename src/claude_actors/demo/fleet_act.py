"""The act with many tasks: a fleet in which a worker is killed, and a second one that goes on from its journal."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from claude_actors import Backoff
from claude_actors.demo import scripts
from claude_actors.demo.account import Account
from claude_actors.demo.hearing import PATIENCE
from claude_actors.fleet import Fleet, Job, RetryPolicy, Task
from claude_actors.testing.conformance.stage import Stage

_RETRY = RetryPolicy(backoff=Backoff(first=0.05, most=0.1, jitter=0.0))


def a_fleet_works(account: Account, stage: Stage) -> set[int]:
    """Run four tasks in two sessions and kill one of them; return the ids of the processes that were seen."""
    account.act(
        "A fleet works through a list",
        "A Fleet runs many tasks in a few sessions: budgets, priorities, pauses at rate limits, and another try for "
        "what a crash or an overload has ended. Its journal outlives your program.",
    )
    tasks = [Task(prompt, id=name) for name, prompt in scripts.TASKS.items()]
    account.tell("you", f"{len(tasks)} tasks, 2 sessions at a time")
    with _fleet(stage) as fleet:
        jobs = {job.id: job for job in fleet.submit_many(tasks)}
        stage.wait_reached("worker")
        pids = {session.pid for session in fleet.snapshot().sessions if session.pid is not None}
        _kill(account, jobs[scripts.VICTIM])
        results = [job.result(PATIENCE).result for job in jobs.values()]
        pids |= {session.pid for session in fleet.snapshot().sessions if session.pid is not None}
    attempts = {name: job.attempt for name, job in jobs.items()}
    for name, result in zip(jobs, results, strict=True):
        account.tell(name, f'"{result}"' + (" (not at the first attempt)" if attempts[name] > 1 else ""))
    account.check(all(job.state == "done" for job in jobs.values()), "all tasks are done", attempts)
    # Twice, or three times where the CLI was killed before it had written down a conversation to go on with.
    account.check(attempts[scripts.VICTIM] > 1, "the killed one was tried again", attempts)
    with _fleet(stage) as fleet:
        again = fleet.submit_many(tasks)
        known = [job.result(PATIENCE).result for job in again]
    account.check(known == results, "a second fleet on the journal knows every result", known)
    account.check(all(job.recorded for job in again), "and has run nothing twice")
    return pids


def _fleet(stage: Stage) -> Fleet:
    return Fleet(2, stage.options(), Path(stage.cwd) / "journal", retry=_RETRY)


def _kill(account: Account, job: Job) -> None:
    session = job.session
    pid = None if session is None else session.pid
    account.check(pid is not None, f"{job.id} is at work")
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    account.tell("you", f"kill -9 {pid}")
