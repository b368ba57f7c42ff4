"""`python -m claude_actors.testing.conformance`: which features pass on which CLI."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from claude_actors.testing.conformance import SCENARIOS, FakeStage, RealStage
from claude_actors.testing.conformance.report import MakeStage, Outcome, lines, play_all
from claude_actors.testing.real_cli import bundled_cli

FAILED, UNUSABLE = 1, 2


def main(argv: list[str] | None = None) -> int:
    """Play the scenarios and print the report; the exit code is 1 if any failed, 2 if there is nothing to play on."""
    given = _parser().parse_args(argv)
    program: Path | None = given.cli or bundled_cli()
    if program is None and not given.fake:
        sys.stderr.write("no CLI: install claude-agent-sdk, which carries one, or name one with --cli\n")
        return UNUSABLE
    chosen = [s for s in SCENARIOS if given.only in f"{s.group}: {s.claim}"]
    if not chosen:
        sys.stderr.write(f"no scenario says {given.only!r}\n")
        return UNUSABLE
    make_stage: MakeStage = FakeStage if given.fake else lambda: RealStage(program)
    with _quiet():
        report = play_all(chosen, make_stage, jobs=given.jobs, told=lambda outcome: _tell(outcome, given.json))
    if given.json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
    else:
        sys.stdout.write("\n" + "\n".join(lines(report)) + "\n")
    return FAILED if report.failed else 0


@contextmanager
def _quiet() -> Iterator[None]:
    """Write no log: what a scenario provokes would hide the report."""
    log = logging.getLogger("claude_actors")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


def _tell(outcome: Outcome, quiet: bool) -> None:
    if not quiet:
        sys.stdout.write(f"{outcome.verdict:<8} {outcome.seconds:5.1f} s  {outcome.group}: {outcome.claim}\n")
        sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m claude_actors.testing.conformance",
        description="Play every feature of claude-actors on a Claude Code CLI, without a key and without the internet.",
    )
    parser.add_argument("--cli", type=Path, metavar="PATH", help="the program (default: that of claude-agent-sdk)")
    parser.add_argument("--fake", action="store_true", help="play on the scripted fake CLI instead")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the scenarios whose name contains TEXT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, metavar="N", help="how many at a time")
    parser.add_argument("--json", action="store_true", help="print the report as JSON and nothing else")
    return parser


if __name__ == "__main__":
    sys.exit(main())
