"""From results to one table, and to JSON."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from side_by_side.experiments import Experiment, Metric, Result

Results = Mapping[str, Sequence[Result]]


@dataclass(frozen=True)
class Line:
    """One line of the table: the medians of both sides, our range, and what the target says."""

    metric: Metric
    official: float | None
    ours: float
    low: float
    high: float

    @property
    def ratio(self) -> float | None:
        """Ours to the official SDK's."""
        return self.ours / self.official if self.official else None

    @property
    def met(self) -> bool | None:
        """Whether the target is met."""
        value = self.ratio if self.metric.ratio else self.ours
        return None if value is None else self.metric.met(value)


def lines(experiment: Experiment, results: Results) -> list[Line]:
    """Sum up one experiment."""
    found = []
    for metric in experiment.metrics:
        ours = [metric.read(result) for result in results["ours"]]
        official = [metric.read(result) for result in results.get("official", ())]
        median = statistics.median(official) if official else None
        found.append(Line(metric, median, statistics.median(ours), min(ours), max(ours)))
    return found


HEADER = f"{'':54} {'official':>12} {'ours':>12} {'range':>19} {'ratio':>7} {'target':>9}"


def text(line: Line) -> str:
    """Give the line for a terminal."""
    metric = line.metric
    verdict = {True: "met", False: "MISSED", None: ""}[line.met]
    ratio = f"{line.ratio:.2f}x" if line.ratio is not None else ""
    name = f"{metric.title} [{metric.unit}]" if metric.unit else metric.title
    official = number(line.official) if line.official is not None else ""
    return f"{name:54} {official:>12} {number(line.ours):>12} {spread(line):>19} {ratio:>7} {goal(metric):>9} {verdict}"


def spread(line: Line) -> str:
    """Give the lowest and the highest of our figures."""
    return f"{number(line.low)} - {number(line.high)}"


def goal(metric: Metric) -> str:
    """Give the target as it is shown."""
    if metric.target is None:
        return ""
    return f"{metric.sign} {metric.target:g}{'x' if metric.ratio else ''}"


def number(value: float) -> str:
    """Give a number with three figures that matter."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def markdown(found: Sequence[Line]) -> str:
    """Give the table for the documentation."""
    rows = ["| what | official | ours | range | ratio | target | |", "|---|---|---|---|---|---|---|"]
    for line in found:
        metric = line.metric
        unit = f" {metric.unit}" if metric.unit and metric.unit != "/s" else metric.unit
        official = f"{number(line.official)}{unit}" if line.official is not None else ""
        ratio = f"{line.ratio:.2f}x" if line.ratio is not None else ""
        verdict = {True: "met", False: "**missed**", None: ""}[line.met]
        ours = f"{number(line.ours)}{unit}"
        cells = (metric.title.strip(), official, ours, spread(line), ratio, goal(metric), verdict)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def record(experiment: Experiment, results: Results) -> dict[str, Any]:
    """Give everything of one experiment for the JSON file."""
    summary = [
        {
            "title": line.metric.title.strip(),
            "unit": line.metric.unit,
            "official": line.official,
            "ours": line.ours,
            "ratio": line.ratio,
            "target": goal(line.metric),
            "met": line.met,
        }
        for line in lines(experiment, results)
    ]
    return {"name": experiment.name, "arguments": experiment.arguments, "lines": summary, "results": dict(results)}
