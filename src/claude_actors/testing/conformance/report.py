"""Playing scenarios and telling how it went: what the conformance command does.

Scenarios are independent, so several are played at once, each in a thread of its own.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import msgspec

from claude_actors import ClaudeActorsError
from claude_actors.testing.conformance.scenarios import NotHere, Scenario
from claude_actors.testing.conformance.stage import Stage

Verdict = Literal["passed", "failed", "not here"]
MakeStage = Callable[[], Stage]


class Outcome(msgspec.Struct, frozen=True):
    """How one scenario went; `why` is empty if it passed."""

    group: str
    claim: str
    verdict: Verdict
    seconds: float
    why: str = ""


class Report(msgspec.Struct, frozen=True):
    """How all of them went, on which CLI."""

    cli: str
    version: str
    seconds: float
    outcomes: tuple[Outcome, ...]

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """The scenarios that failed."""
        return tuple(outcome for outcome in self.outcomes if outcome.verdict == "failed")


def play_all(
    scenarios: Iterable[Scenario], make_stage: MakeStage, *, jobs: int, told: Callable[[Outcome], object]
) -> Report:
    """Play the scenarios, `jobs` at a time; `told` is called with each outcome, in order. Blocks."""
    started = time.monotonic()
    cli, version = identify(make_stage)
    outcomes = []
    with ThreadPoolExecutor(jobs, thread_name_prefix="scenario") as pool:
        for outcome in pool.map(lambda scenario: play(scenario, make_stage), scenarios):
            outcomes.append(outcome)
            told(outcome)
    return Report(cli, version, time.monotonic() - started, tuple(outcomes))


def play(scenario: Scenario, make_stage: MakeStage) -> Outcome:
    """Play one scenario on a stage of its own. Never raises what the scenario raises."""
    started = time.monotonic()

    def outcome(verdict: Verdict, why: str = "") -> Outcome:
        return Outcome(scenario.group, scenario.claim, verdict, time.monotonic() - started, why)

    try:
        with make_stage() as stage:
            scenario.play(stage)
    except NotHere as reason:
        return outcome("not here", str(reason))
    except Exception as error:
        return outcome("failed", _why(error))
    return outcome("passed")


def identify(make_stage: MakeStage) -> tuple[str, str]:
    """Return which program is played on, and the version that it tells; why it tells none, if it does not start."""
    with make_stage() as stage:
        stage.play("unused")
        program = str(stage.options().cli_path)
        try:
            with stage.talk() as talk:
                info = talk.session.server_info()
        except ClaudeActorsError as error:
            return program, f"unknown ({error})"
        return program, (info.claude_code_version if info else None) or "unknown"


def lines(report: Report) -> Iterator[str]:
    """Sum the report up: a line for each feature, then what failed and what could not be played."""
    groups = dict.fromkeys(outcome.group for outcome in report.outcomes)
    for group in groups:
        of_group = [outcome for outcome in report.outcomes if outcome.group == group]
        passed = sum(outcome.verdict == "passed" for outcome in of_group)
        absent = sum(outcome.verdict == "not here" for outcome in of_group)
        mark = "ok" if passed + absent == len(of_group) else "FAILED"
        yield f"{mark:<7} {group:<18} {passed} of {len(of_group)}" + (f", {absent} not here" if absent else "")
    yield ""
    for outcome in report.outcomes:
        if outcome.verdict != "passed":
            yield f"{outcome.verdict}: {outcome.group}: {outcome.claim}\n    {outcome.why}"
    kinds: tuple[Verdict, ...] = ("passed", "failed", "not here")
    counts = [f"{sum(outcome.verdict == kind for outcome in report.outcomes)} {kind}" for kind in kinds]
    yield f"claude {report.version} ({report.cli}): {', '.join(counts)} in {report.seconds:.0f} s"


def _why(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = next((frame for frame in reversed(frames) if "conformance" in frame.filename), frames[-1])
    place = f"{where.name}, line {where.lineno}: {where.line}"
    return f"{type(error).__name__}: {error} ({place})" if str(error) else f"{type(error).__name__} ({place})"
