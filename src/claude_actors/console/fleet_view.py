"""A fleet on a terminal: a live table with a progress bar on standard error; without a terminal, a line for each end.

Results go elsewhere (see `results`); this is for whoever watches.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from claude_actors.console.activity import Activities
from claude_actors.console.clean import clean, one_line
from claude_actors.console.fleet_run import FleetReport, TaskOutcome
from claude_actors.fleet import FleetSnapshot, Job, JobSnapshot

_STYLES: Final = {
    "queued": "dim",
    "limited": "yellow",
    "starting": "cyan",
    "running": "cyan",
    "needs_input": "yellow",
    "done": "green",
    "failed": "red",
    "cancelled": "red",
    "stopped": "yellow",
}
#: Whoever needs attention or moves stands above.
_ORDER: Final = {
    state: place for place, state in enumerate(("needs_input", "running", "starting", "limited", "queued"))
}
#: Lines of the terminal that are not for tasks.
_FRAME_LINES: Final = 7
_LABEL_WIDTH: Final = 32


class PlainView:
    """A line for each task that is over; for logs and pipes."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self._total = self._over = 0

    def started(self, jobs: Sequence[Job]) -> None:
        """Tell how many there are."""
        self._total = len(jobs)
        recorded = sum(job.recorded for job in jobs)
        known = f", {recorded} of them done in an earlier run" if recorded else ""
        self._say(f"{self._total} {'task' if self._total == 1 else 'tasks'}{known}", "dim")

    def refresh(self, snapshot: FleetSnapshot) -> None:
        """Say nothing."""

    def finished(self, job: Job, outcome: TaskOutcome) -> None:
        """Tell of one end."""
        self._over += 1
        words = outcome.error["message"] if outcome.error else outcome.result or ""
        count = f"[{self._over}/{self._total}]"
        self._say(f"{count} {job.id} {outcome.outcome}: {one_line(words)}", _STYLES[outcome.outcome])

    def note(self, text: str) -> None:
        """Say something about the run itself."""
        self._say(clean(text), "yellow")

    def close(self) -> None:
        """Leave the terminal as it is."""

    def report(self, report: FleetReport) -> None:
        """Tell how it all ended."""
        if report.error is not None:
            self._say(f"{report.exit.name.lower().replace('_', ' ')}: {clean(str(report.error))}", "red")
            return
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(report.outcomes.items())) or "no tasks"
        turns = f"{report.turns} {'turn' if report.turns == 1 else 'turns'}"
        cost = f"{turns} · ${report.cost_usd:.4f} · {report.seconds:.1f} s"
        self._say(f"{counts} · {cost}", "green" if not report.exit else "red")

    def _say(self, text: str, style: str) -> None:
        self._console.print(Text(text, style=style))


class LiveView(PlainView):
    """A table that moves; finished tasks stay above it as lines."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(console)
        self._activities = Activities()
        self._jobs: dict[str, Job] = {}
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=self._console)
        # Standard output belongs to the results, so nothing may be put in front of it.
        self._live = Live(
            console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )

    def started(self, jobs: Sequence[Job]) -> None:
        """Begin the table."""
        super().started(jobs)
        self._jobs = {job.id: job for job in jobs}
        self._bar = self._progress.add_task("tasks", total=len(jobs))
        self._live.start()

    def refresh(self, snapshot: FleetSnapshot) -> None:
        """Draw the table anew."""
        rows = sorted(snapshot.jobs, key=lambda job: _ORDER.get(job.state, 0))
        room = max(3, self._console.size.height - _FRAME_LINES)
        table = Table(expand=True, box=None, pad_edge=False)
        for title, right in (("task", False), ("state", False), ("turns", True), ("cost", True), ("elapsed", True)):
            table.add_column(title, justify="right" if right else "left", no_wrap=True)
        table.add_column("last activity", ratio=1, no_wrap=True, overflow="ellipsis")
        for row in rows[:room]:
            table.add_row(*self._cells(row))
        if len(rows) > room:
            table.add_row(Text(f"… and {len(rows) - room} more", style="dim"))
        self._live.update(Group(table, self._progress), refresh=True)

    def finished(self, job: Job, outcome: TaskOutcome) -> None:
        """Leave a line above the table, and move the bar."""
        super().finished(job, outcome)
        self._progress.update(self._bar, advance=1)

    def close(self) -> None:
        """Take the table away."""
        self._live.stop()

    def _cells(self, row: JobSnapshot) -> list[Text]:
        job = self._jobs.get(row.id)
        return [
            Text(_label(row.id, job), style="bold"),
            Text(_state(row), style=_STYLES[row.state]),
            Text(str(row.spent.turns)),
            Text(f"${row.spent.usd:.4f}"),
            Text(f"{row.worked:.1f} s"),
            Text(_activity(row, "" if job is None else self._activities.look(job)), style="dim"),
        ]


def _label(task_id: str, job: Job | None) -> str:
    prompt = job.task.prompt if job is not None and isinstance(job.task.prompt, str) else ""
    return one_line(f"{task_id} {prompt}", _LABEL_WIDTH)


def _state(row: JobSnapshot) -> str:
    if row.limited_until is not None:
        return f"limited, {max(0.0, row.limited_until - time.time()):.0f} s left"
    return row.state.replace("_", " ") + (f" (attempt {row.attempt})" if row.attempt > 1 else "")


def _activity(row: JobSnapshot, last: str) -> str:
    silent = row.silent_for
    return f"{last} ({silent:.0f} s ago)" if silent is not None and silent >= 1 else last
