"""What is measured: each experiment is one scenario, run on both sides, and what is read off its results.

A target is a ratio of ours to the official SDK's figure in the same run, or, where it says so, a bound of ours alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from side_by_side import payload

Result = dict[str, Any]
MB = 1_000_000
MESSAGES = 2000


@dataclass(frozen=True)
class Metric:
    """One line of the table: how to read it off a result, and what it should come to."""

    title: str
    read: Callable[[Result], float]
    unit: str
    target: float | None = None
    sign: Literal[">=", "<="] = "<="
    ratio: bool = True
    stretch: float | None = None

    def met(self, value: float) -> bool | None:
        """Tell whether the value meets the target; None without one."""
        if self.target is None:
            return None
        return value >= self.target if self.sign == ">=" else value <= self.target


@dataclass(frozen=True)
class Experiment:
    """One scenario with its arguments, and what it shows."""

    name: str
    scenario: str
    arguments: dict[str, Any]
    metrics: tuple[Metric, ...]
    rounds: int = 5
    quick_rounds: int = 2
    sides: tuple[str, ...] = ("official", "ours")
    bare: bool = False


@dataclass(frozen=True)
class Payloads:
    """The files that the emitters write, made in a directory of the run."""

    directory: Path
    made: dict[str, Path] = field(default_factory=dict)

    def mixed(self, count: int = MESSAGES) -> Path:
        """Give a file of mixed messages."""
        return self._make(f"mixed-{count}", lambda path: payload.write_mixed(path, count))

    def large(self, size: int) -> Path:
        """Give a file of one line of `size` bytes."""
        return self._make(f"large-{size}", lambda path: payload.write_large(path, size, 1))

    def _make(self, name: str, write: Callable[[Path], Path]) -> Path:
        if name not in self.made:
            self.made[name] = write(self.directory / name)
        return self.made[name]


def rate(result: Result) -> float:
    return float(result["count"] / result["seconds"])


def key(name: str) -> Callable[[Result], float]:
    return lambda result: float(result[name])


def answered(result: Result) -> float:
    """Of five hooks and two interrupts, how many were answered during the stall."""
    return float(result.get("answered", 0) + result["interrupts"])


def experiments(files: Payloads, scale: float) -> list[Experiment]:
    """Make the table's experiments; `scale` below 1 makes them shorter."""
    mixed = f"payload={files.mixed()}"
    floods = max(1, int(100 * scale))
    sessions = max(2, int(200 * min(1.0, scale * 2)))
    asks = max(50, int(4000 * scale))
    large, lines = max(1, int(8 * scale)), max(2, int(120 * scale))
    return [
        Experiment(
            "typed",
            "typed",
            {"plan": f"{mixed} repeat={floods}"},
            (
                Metric("mixed messages, each read as a typed message", rate, "/s", 5, ">=", stretch=7),
                Metric("  CPU of the process, a message", lambda r: r["cpu"] / r["count"] * 1e6, "µs"),
            ),
        ),
        Experiment(
            "envelope",
            "envelope",
            {"plan": f"{mixed} repeat={floods}"},
            (Metric("the same, by envelope only (a mailbox that drops)", rate, "/s", 10, ">="),),
        ),
        Experiment(
            "sessions",
            "sessions",
            {"plan": f"payload={files.mixed(1000)} repeat={max(1, int(2 * scale))}", "sessions": sessions},
            (Metric(f"{sessions} sessions flooding at once, all together", rate, "/s", 3.5, ">="),),
            rounds=3,
        ),
        Experiment(
            "15 MB",
            "typed",
            {"plan": f"payload={files.large(15 * MB)} repeat={large}"},
            (
                Metric("lines of 15 MB", rate, "/s", 1.2, ">="),
                Metric("  peak memory over the start", key("peak_kib"), "KiB", 0.6),
            ),
        ),
        Experiment(
            "1 MB",
            "typed",
            {"plan": f"payload={files.large(MB)} repeat={lines}"},
            (
                Metric("lines of 1 MB", rate, "/s", 1.0, ">="),
                Metric("  peak memory over the start", key("peak_kib"), "KiB", 0.6),
            ),
        ),
        Experiment(
            "hook",
            "asks",
            {"plan": f"asks={asks} report=REPORT"},
            (
                Metric("hook round trip, one at a time, p50", key("p50"), "µs", 1.0, stretch=0.75),
                Metric("  p99", key("p99"), "µs"),
            ),
        ),
        Experiment(
            "permission",
            "asks",
            {"plan": f"asks={asks} kind=permission report=REPORT"},
            (
                Metric("permission round trip, one at a time, p50", key("p50"), "µs", 1.0, stretch=0.75),
                Metric("  p99", key("p99"), "µs"),
            ),
        ),
        Experiment(
            "32 hooks",
            "asks",
            {"plan": f"asks={asks * 2} in_flight=32 report=REPORT"},
            (Metric("hook round trip, 32 in flight, p50", key("p50"), "µs", 0.4),),
        ),
        Experiment(
            "32 permissions",
            "asks",
            {"plan": f"asks={asks * 2} in_flight=32 kind=permission report=REPORT"},
            (Metric("permission round trip, 32 in flight, p50", key("p50"), "µs", 0.4),),
        ),
        Experiment(
            "paced",
            "asks",
            {"plan": f"{mixed} repeat=10000 rate=20000 asks={asks // 2} gap_us=1000 report=REPORT"},
            (
                Metric("hook p99 beside 20,000 messages/s on its session", key("p99"), "µs", 1.2),
                Metric("  p50", key("p50"), "µs"),
            ),
        ),
        Experiment(
            "beside",
            "beside",
            {"plan": f"asks={asks // 2} gap_us=1000 report=REPORT", "flood": f"{mixed} repeat=1000000"},
            (
                Metric("hook p99 beside another session's flood", key("p99"), "µs", 1000, ratio=False),
                Metric("  messages read of that flood", key("load"), "/s", 4, ">="),
                Metric("  p50", key("p50"), "µs"),
            ),
        ),
        Experiment(
            "stall",
            "stall",
            {
                "plan": f"{mixed} repeat={floods} spread=5 report=REPORT",
                "interrupts": 2,
                "every": 0.2,
                "patience": 60,
                "interrupt_timeout": 2,
                "stall": 2,
            },
            (
                Metric("stalled consumer: hooks and interrupts answered, of 7", answered, "", 7, ">=", ratio=False),
                Metric("  memory over the start", key("peak_kib"), "KiB", 64 * 1024, ratio=False),
            ),
            rounds=2,
            quick_rounds=1,
        ),
        Experiment(
            "start",
            "start",
            {"times": max(5, int(160 * scale))},
            (
                Metric("start, one turn, stop", lambda r: r["median"] * 1e3, "ms"),
                Metric("  of it over a bare spawn", lambda r: (r["median"] - r["bare"]) * 1e3, "ms", 1.0),
                Metric("  the first of a process", lambda r: r["first"] * 1e3, "ms"),
            ),
            bare=True,
        ),
        Experiment(
            "import",
            "imports",
            {},
            (
                Metric("import, time", lambda r: r["seconds"] * 1e3, "ms", 0.15),
                Metric("import, memory of the process", key("kib"), "KiB", 0.4),
            ),
        ),
        Experiment(
            "idle",
            "idle",
            {"sessions": sessions, "seconds": 10 if scale >= 1 else 2},
            (
                Metric("idle session: memory", key("kib"), "KiB", 2.0),
                Metric("idle session: threads", key("threads"), "", 3, ratio=False),
                Metric("idle session: CPU", key("cpu_ms"), "ms", 0.05, ratio=False),
            ),
            rounds=2,
            quick_rounds=1,
        ),
    ]


def curves(files: Payloads, scale: float) -> list[Experiment]:
    """Make the experiments that show how the cost grows."""
    per_message = Metric("time a message", lambda r: r["seconds"] / r["count"] * 1e6, "µs")
    found: list[Experiment] = []
    for count in (1, 50, 200):
        repeat = max(1, int(200 * scale / count))
        arguments = {"plan": f"payload={files.mixed(1000)} repeat={repeat}", "sessions": count}
        metric = Metric(f"{count} sessions, a message", per_message.read, "µs")
        found.append(Experiment(f"sessions={count}", "sessions", arguments, (metric,), rounds=3))
    for size in (1_000, 10_000, 100_000, MB, 15 * MB):
        repeat = max(1, int(60 * MB * scale) // size)
        read = lambda r, size=size: r["seconds"] / r["count"] / size * 1e9  # noqa: E731
        metric = Metric(f"lines of {size:,} bytes, a byte", read, "ns")
        sized = {"plan": f"payload={files.large(size)} repeat={repeat}"}
        found.append(Experiment(f"size={size}", "typed", sized, (metric,), rounds=3))
    for megabytes in (14, 42, 141):
        repeat = max(1, int(100 * megabytes / 141))
        plan = f"payload={files.mixed()} repeat={repeat} report=REPORT"
        stalled = {"plan": plan, "interrupts": 0, "every": 0, "patience": 60, "interrupt_timeout": 2, "stall": 1}
        metric = Metric(f"memory with {megabytes} MB unread", key("peak_kib"), "KiB")
        found.append(Experiment(f"backlog={megabytes}", "stall", stalled, (metric,), rounds=2, sides=("ours",)))
    for hooks, servers in ((1, 0), (100, 0), (1, 20), (100, 20)):
        arguments = {"hooks": hooks, "servers": servers, "times": max(4, int(20 * scale))}
        metric = Metric(f"start with {hooks} hooks, {servers} servers", lambda r: r["median"] * 1e3, "ms")
        found.append(Experiment(f"hooks={hooks},servers={servers}", "wide", arguments, (metric,), rounds=3))
    return found
