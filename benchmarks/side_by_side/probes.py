"""What a measured process says of itself, and how its numbers are summed up."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def status_kib(name: str) -> int:
    """Read a line of this process's /proc status, in KiB; 0 where there is none."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(name + ":")), 0)


def rss_kib() -> int:
    """Give the resident memory now."""
    return status_kib("VmRSS")


def peak_kib() -> int:
    """Give the highest resident memory since `reset_peak()`."""
    return status_kib("VmHWM")


def reset_peak() -> None:
    """Forget the peak so far, where the kernel allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def threads() -> int:
    """Count the threads of this process, also those that Python does not know."""
    return status_kib("Threads") or threading.active_count()


def quantile(values: Sequence[float], part: float) -> float:
    """Give the value below which `part` of the values lie; 0 without values."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def read_report(path: str) -> dict[str, Any]:
    """Read what an emitter wrote, summed up; empty if it wrote nothing."""
    try:
        told = json.loads(Path(path).read_text())
    except OSError:
        return {}
    took = told.pop("took")
    return {**told, "p50": quantile(took, 0.5), "p99": quantile(took, 0.99), "most": max(took, default=0.0)}


def finish(result: dict[str, Any]) -> None:
    """Print the result and leave at once: how long an interpreter takes to end is not measured here."""
    print(json.dumps(result), flush=True)
    sys.stdout.flush()
    os._exit(0)
