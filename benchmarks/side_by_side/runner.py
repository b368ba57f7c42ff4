"""Runs experiments: each side in a process of its own, the sides in turn, several rounds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from side_by_side import emitter, probes
from side_by_side.experiments import Experiment, Result

HOME = Path(__file__).parent.parent
_PATIENCE = 180
_BARE_TURNS = 15


class Runner:
    """Runs sides of experiments on one emitter, in a directory of the run."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.emitter = emitter.build(directory)
        # Modules are compiled once, as an installed package's are, whatever the caller's environment says.
        self._env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._env |= {"PYTHONPATH": str(HOME), "PYTHONPYCACHEPREFIX": str(directory / "pycache")}
        self._runs = 0

    def warm(self) -> None:
        """Have both sides compiled and in the page cache."""
        for side in ("official", "ours"):
            self.run(side, "start", {"times": 2})
            self.run(side, "imports", {})

    def run(self, side: str, scenario: str, arguments: dict[str, Any]) -> Result:
        """Run one side once; raises RuntimeError with its last words if it fails."""
        self._runs += 1
        report = str(self._directory / f"report-{self._runs}")
        filled = {
            name: value.replace("REPORT", report) if isinstance(value, str) else value
            for name, value in arguments.items()
        }
        given = json.dumps({**filled, "emitter": str(self.emitter), "report": report})
        command = [sys.executable, "-m", f"side_by_side.{side}", scenario, given]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env=self._env, cwd=HOME, timeout=_PATIENCE
        )
        if done.returncode:
            raise RuntimeError(f"{side} failed in {scenario}: {done.stderr[-2000:]}")
        result: Result = json.loads(done.stdout.splitlines()[-1])
        return result

    def rounds(self, experiment: Experiment, count: int) -> Iterator[tuple[str, Result]]:
        """Run the sides in turn, beginning with another one each round."""
        for number in range(count):
            sides = experiment.sides[::-1] if number % 2 else experiment.sides
            bare = self._bare() if experiment.bare else {}
            for side in sides:
                yield side, {**self.run(side, experiment.scenario, experiment.arguments), **bare}

    def _bare(self) -> Result:
        return {"bare": probes.quantile([emitter.bare_turn(self.emitter) for _ in range(_BARE_TURNS)], 0.5)}
