"""Fleets: many tasks in few sessions, with budgets, retries, rate limits and a journal.

with Fleet(max_sessions=4, options=Options(), journal="tasks.journal") as fleet:
    job = fleet.submit(Task("Tidy this repo"))
    print(job.result(timeout=600).result)
"""

from __future__ import annotations

from claude_actors.fleet.async_fleet import AsyncFleet
from claude_actors.fleet.completion import as_completed
from claude_actors.fleet.entry import JobState
from claude_actors.fleet.errors import (
    DuplicateTask,
    FleetBudgetExhausted,
    FleetClosed,
    FleetError,
    FleetStopped,
    FleetTimeout,
    JobTimeout,
    JournalCorrupt,
    JournalError,
    JournalFailed,
    JournalLocked,
    QueueFull,
    RecordedFailure,
    SubmitTimeout,
    TaskBudgetExhausted,
    TaskCancelled,
    TaskTimeout,
)
from claude_actors.fleet.fleet import Fleet
from claude_actors.fleet.inputs import FleetLimits
from claude_actors.fleet.job import Job, JobSnapshot
from claude_actors.fleet.journal import Journal
from claude_actors.fleet.retries import RetryPolicy
from claude_actors.fleet.roster import FleetCounters
from claude_actors.fleet.slots import WarmPolicy
from claude_actors.fleet.snapshot import FleetSnapshot, SlotSnapshot
from claude_actors.fleet.spending import Budget, Spent
from claude_actors.fleet.task import Task

__all__ = [
    "AsyncFleet",
    "Budget",
    "DuplicateTask",
    "Fleet",
    "FleetBudgetExhausted",
    "FleetClosed",
    "FleetCounters",
    "FleetError",
    "FleetLimits",
    "FleetSnapshot",
    "FleetStopped",
    "FleetTimeout",
    "Job",
    "JobSnapshot",
    "JobState",
    "JobTimeout",
    "Journal",
    "JournalCorrupt",
    "JournalError",
    "JournalFailed",
    "JournalLocked",
    "QueueFull",
    "RecordedFailure",
    "RetryPolicy",
    "SlotSnapshot",
    "Spent",
    "SubmitTimeout",
    "Task",
    "TaskBudgetExhausted",
    "TaskCancelled",
    "TaskTimeout",
    "WarmPolicy",
    "as_completed",
]
