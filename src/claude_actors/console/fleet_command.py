"""`claude-actors fleet`: reads the tasks, makes the fleet, and brings those who look on together."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import msgspec

from claude_actors import Deny, InvalidOptions, Options
from claude_actors.cli.discovery import find_cli
from claude_actors.console.asking import NOBODY
from claude_actors.console.exits import Exit
from claude_actors.console.fleet_run import TaskOutcome, run_fleet
from claude_actors.console.fleet_tasks import read_tasks
from claude_actors.console.fleet_view import LiveView, PlainView
from claude_actors.console.results import Results
from claude_actors.fleet import Fleet, RetryPolicy, Task


class FleetSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says about the fleet itself."""

    concurrency: int = 4
    journal: Path | None = None
    output: Path | None = None
    only_new: bool = False
    task_timeout: float | None = None
    retries: int = 2
    max_budget_usd: float | None = None


def run_command(tasks: str, options: Options, settings: FleetSettings) -> Exit:
    """Run the tasks of a file; blocks until all are over.

    Raises InvalidOptions before anything starts, and OSError when results cannot be written any more; nothing runs on.
    """
    options = options.replace(can_use_tool=lambda request, ctx: Deny(NOBODY))
    given = [_timed(task, settings.task_timeout) for task in read_tasks(_lines(tasks), options)]
    live = sys.stderr.isatty()
    view = LiveView() if live else PlainView()
    hold = live and settings.output is None and sys.stdout.isatty()
    with Results(settings.output, hold=hold) as results:

        def write(outcome: TaskOutcome) -> None:
            if not (outcome.recorded and settings.only_new):
                results.write(outcome)

        try:
            report = run_fleet(lambda: _make_fleet(options, settings), given, view, write)
        finally:
            view.close()
    view.report(report)
    return report.exit


def _make_fleet(options: Options, settings: FleetSettings) -> Fleet:
    # The program is found now, so that a missing one is one error and not one for each task.
    return Fleet(
        settings.concurrency,
        options.replace(cli_path=find_cli(options)),
        settings.journal,
        queue=None,
        retry=RetryPolicy(retries=settings.retries),
        max_budget_usd=settings.max_budget_usd,
    )


def _lines(tasks: str) -> list[str]:
    try:
        data = sys.stdin.buffer.read() if tasks == "-" else Path(tasks).read_bytes()
        return data.decode("utf-8-sig").split("\n")
    except OSError as error:
        raise InvalidOptions(f"{tasks}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidOptions(f"{tasks}: line {line} is no UTF-8 text") from error


def _timed(task: Task, timeout: float | None) -> Task:
    return task if task.timeout is not None else dataclasses.replace(task, timeout=timeout)
