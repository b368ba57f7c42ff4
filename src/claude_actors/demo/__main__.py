"""`python -m claude_actors.demo`: the demonstration without any extra installed."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from claude_actors import ClaudeActorsError, Options
from claude_actors.cli.discovery import find_cli
from claude_actors.demo.account import Account, wants_colour
from claude_actors.demo.play import run_demo


def main(argv: list[str] | None = None) -> int:
    """Play, and return the exit code: 0 if every promise was kept, 1 if not, 3 if there is no CLI to play on."""
    parser = argparse.ArgumentParser(prog="python -m claude_actors.demo", description=demo_help())
    parser.add_argument("--real", action="store_true", help="play on the claude that is installed here")
    parser.add_argument("--cli", metavar="PATH", help="play on this claude")
    given = parser.parse_args(argv)
    return play_on(given.cli, real=given.real)


def demo_help() -> str:
    """Say in a sentence what the demonstration is."""
    return "See what the library promises, done and checked, in about a second: no key, no network."


def play_on(cli: str | None, *, real: bool) -> int:
    """Play on the stand-in, or on the CLI that was named or is installed; print, and return the exit code."""
    program: Path | None = None
    if real or cli is not None:
        try:
            program = find_cli(Options(cli_path=cli))
        except ClaudeActorsError as error:
            sys.stderr.write(f"{error}\n")
            return 3
    account = Account(_print_line, colour=wants_colour())
    try:
        return 0 if run_demo(account, program) else 1
    except BrokenPipeError:
        # The reader has gone, as with `| head`; what Python would still flush must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
