"""Many tasks from the first to the last: what `claude-actors fleet` does, whoever looks on. It prints nothing."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

import msgspec

from claude_actors import ClaudeActorsError, InvalidOptions
from claude_actors.console.exits import Exit, exit_for
from claude_actors.console.presses import Presses
from claude_actors.fleet import Fleet, FleetSnapshot, Job, Task

#: How often those who look on see something new.
_REFRESH: Final = 0.25


class TaskOutcome(msgspec.Struct, kw_only=True, tag_field="type", tag="claude_actors_task"):
    """How one task ended, as it is written: one JSON object a line."""

    id: str
    outcome: str
    result: str | None
    structured_output: Any
    error: dict[str, str] | None
    session_id: str | None
    attempts: int
    turns: int
    tokens: int
    cost_usd: float
    seconds: float
    recorded: bool
    data: Any


def outcome_of(job: Job) -> TaskOutcome:
    """Describe a job that is over."""
    error, snapshot = job.error, job.snapshot()
    result = job.result(0) if error is None else None
    return TaskOutcome(
        id=job.id,
        outcome=snapshot.state,
        result=None if result is None else result.result,
        structured_output=None if result is None else result.structured_output,
        error=None if error is None else {"kind": type(error).__name__, "message": str(error)},
        session_id=snapshot.session_id,
        attempts=snapshot.attempt,
        turns=snapshot.spent.turns,
        tokens=snapshot.spent.tokens,
        cost_usd=round(snapshot.spent.usd, 6),
        seconds=round(snapshot.worked, 3),
        recorded=job.recorded,
        data=job.task.data,
    )


class FleetView(Protocol):
    """Who looks on. Called in the main thread, except `note`."""

    def started(self, jobs: Sequence[Job]) -> None:
        """All tasks are in."""

    def refresh(self, snapshot: FleetSnapshot) -> None:
        """Look again; comes several times a second."""

    def finished(self, job: Job, outcome: TaskOutcome) -> None:
        """One task is over."""

    def note(self, text: str) -> None:
        """Say something about the run itself; any thread."""


class FleetReport(msgspec.Struct, kw_only=True):
    """How a whole run ended."""

    exit: Exit = Exit.OK
    outcomes: dict[str, int] = {}
    recorded: int = 0
    turns: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    error: BaseException | None = None


def run_fleet(
    make: Callable[[], Fleet], tasks: Sequence[Task], view: FleetView, write: Callable[[TaskOutcome], None]
) -> FleetReport:
    """Run tasks in a fleet until all are over, or Ctrl-C; never raises a ClaudeActorsError. Main thread; blocks.

    The first Ctrl-C starts nothing more and waits for what runs, the second stops at once.
    """
    began, report = time.monotonic(), FleetReport()
    try:
        fleet = make()
    except ClaudeActorsError as error:
        usage = isinstance(error, InvalidOptions)
        return FleetReport(exit=Exit.USAGE if usage else Exit.NOT_STARTED, error=error)
    with Presses(lambda: _finish(fleet, view), lambda: _stop(fleet, view)) as presses:
        try:
            _follow(fleet, tasks, view, write, report)
        except ClaudeActorsError as error:
            report.error = error
        finally:
            fleet.stop()
    report.exit = _exit(report, interrupted=presses.count > 0)
    report.seconds = time.monotonic() - began
    return report


def _follow(
    fleet: Fleet,
    tasks: Sequence[Task],
    view: FleetView,
    write: Callable[[TaskOutcome], None],
    report: FleetReport,
) -> None:
    jobs = {job.id: job for job in (*fleet.recovered, *fleet.submit_many(tasks))}
    over: queue.SimpleQueue[Job] = queue.SimpleQueue()
    view.started(list(jobs.values()))
    for job in jobs.values():
        job.add_done_callback(over.put)
    while jobs:
        view.refresh(fleet.snapshot())
        try:
            job = jobs.pop(over.get(timeout=_REFRESH).id)
        except queue.Empty:
            continue
        outcome = outcome_of(job)
        _count(report, outcome)
        view.finished(job, outcome)
        write(outcome)
    view.refresh(fleet.snapshot())


def _count(report: FleetReport, outcome: TaskOutcome) -> None:
    report.outcomes[outcome.outcome] = report.outcomes.get(outcome.outcome, 0) + 1
    report.recorded += outcome.recorded
    if not outcome.recorded:
        report.turns += outcome.turns
        report.cost_usd += outcome.cost_usd


def _exit(report: FleetReport, *, interrupted: bool) -> Exit:
    if report.error is not None:
        return exit_for(report.error, interrupted=interrupted)
    if set(report.outcomes) <= {"done"}:
        return Exit.OK
    return Exit.INTERRUPTED if interrupted else Exit.FAILED


def _finish(fleet: Fleet, view: FleetView) -> None:
    """Answer the first Ctrl-C."""
    _at_once(lambda: fleet.drain(timeout=0, leave_queued=True))
    view.note("starting nothing more; what runs is waited for: press Ctrl-C again to stop it")


def _stop(fleet: Fleet, view: FleetView) -> None:
    """Answer the second Ctrl-C."""
    view.note("stopping")
    _at_once(lambda: fleet.stop(timeout=0))


def _at_once(ask: Callable[[], None]) -> None:
    """Have an end begun without waiting for it; the one who follows the jobs sees it."""
    with suppress(ClaudeActorsError):
        ask()
