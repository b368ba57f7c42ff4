"""The official SDK and this library side by side, on the same emitters, in the same run.

`python benchmarks/run.py` takes several rounds of everything; `--quick` takes under two minutes; `--only typed,hook`
takes some. Prints one table of ratios and writes every number to a JSON file. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from side_by_side import table
from side_by_side.experiments import Experiment, Payloads, curves, experiments
from side_by_side.runner import Runner

_SCALES = {"full": 1.0, "quick": 0.25, "tiny": 0.01}


def main() -> None:
    arguments = parsed()
    mode = "tiny" if arguments.tiny else "quick" if arguments.quick else "full"
    with tempfile.TemporaryDirectory(prefix="claude-actors-bench-") as directory:
        files, runner = Payloads(Path(directory)), Runner(Path(directory))
        wanted = chosen(arguments, files, _SCALES[mode])
        runner.warm()
        print(f"{machine()}; {mode}\n{table.HEADER}", flush=True)
        began = time.monotonic()
        found, records = [], []
        for experiment in wanted:
            results = measured(runner, experiment, rounds(experiment, mode, arguments.rounds))
            found += table.lines(experiment, results)
            records.append(table.record(experiment, results))
            for line in table.lines(experiment, results):
                print(table.text(line), flush=True)
        print(f"in {time.monotonic() - began:.0f} s; every number: {arguments.json}")
    if arguments.markdown:
        print(table.markdown(found))
    told: dict[str, Any] = {"machine": machine(), "mode": mode, "experiments": records}
    arguments.json.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="shorter and fewer runs, no growth curves")
    parser.add_argument("--tiny", action="store_true", help="only to see that everything runs")
    parser.add_argument("--rounds", type=int, help="rounds of each experiment")
    parser.add_argument("--only", help="names of experiments, separated by commas")
    parser.add_argument("--no-curves", action="store_true", help="leave out how the cost grows")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown too")
    parser.add_argument("--json", type=Path, default=Path("bench-results.json"), help="where every number goes")
    return parser.parse_args()


def chosen(arguments: argparse.Namespace, files: Payloads, scale: float) -> list[Experiment]:
    all_of_them = experiments(files, scale)
    if arguments.only or not (arguments.quick or arguments.no_curves):
        all_of_them += curves(files, scale)
    if not arguments.only:
        return all_of_them
    names = [name.strip() for name in arguments.only.split(",")]
    found = [experiment for experiment in all_of_them if experiment.name in names]
    if len(found) < len(names):
        sys.exit(f"no such experiment; choose among: {', '.join(each.name for each in all_of_them)}")
    return found


def rounds(experiment: Experiment, mode: str, given: int | None) -> int:
    if given is not None:
        return given
    return {"full": experiment.rounds, "quick": experiment.quick_rounds, "tiny": 1}[mode]


def measured(runner: Runner, experiment: Experiment, count: int) -> table.Results:
    results: dict[str, list[dict[str, Any]]] = {side: [] for side in experiment.sides}
    for side, result in runner.rounds(experiment, count):
        results[side].append(result)
    return results


def machine() -> str:
    sdk = f"claude-agent-sdk {version('claude-agent-sdk')}, claude-actors {version('claude-actors')}"
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {sdk}"
    )


if __name__ == "__main__":
    main()
