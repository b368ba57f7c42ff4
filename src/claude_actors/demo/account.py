"""What the reader sees: acts with their reasons, and a line for each thing that was checked.

It prints and counts; what is done and what must be true is decided in the acts.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable
from typing import Final

WIDTH: Final = 100
_GREEN, _RED, _BOLD, _DIM, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[2m", "\x1b[0m"


class PromiseBroken(Exception):
    """Something that the demonstration promises did not happen."""


class Account:
    """Tells the story line by line; `write` takes one line each time, without its newline."""

    def __init__(self, write: Callable[[str], object], *, colour: bool = False) -> None:
        self._write = write
        self._colour = colour
        self.acts = 0
        self.kept = 0

    def say(self, text: str) -> None:
        """Tell something, wrapped to a readable width."""
        for line in textwrap.wrap(text, WIDTH) or [""]:
            self._write(line)

    def act(self, title: str, why: str) -> None:
        """Begin an act: what will happen, and why a reader should care."""
        self.acts += 1
        self._write("")
        self._write(self._in(_BOLD, f"{self.acts}. {title}"))
        for line in textwrap.wrap(why, WIDTH - 3):
            self._write(self._in(_DIM, f"   {line}"))

    def tell(self, who: str, text: str) -> None:
        """Tell what somebody said or did."""
        self._write(f"   {who + ':':<9} {text}")

    def check(self, kept: object, promise: str, found: object = None) -> None:
        """Say that a promise was kept; raises PromiseBroken, with what was found instead, if it was not."""
        if not kept:
            self._write(self._in(_RED, f"   FAILED    {promise}"))
            raise PromiseBroken(promise if found is None else f"{promise}; instead: {found!r}")
        self.kept += 1
        self._write(self._in(_GREEN, f"   ok        {promise}"))

    def _in(self, colour: str, text: str) -> str:
        return f"{colour}{text}{_PLAIN}" if self._colour else text


def wants_colour() -> bool:
    """Say whether standard output is a terminal whose reader has not asked for plain text."""
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain
