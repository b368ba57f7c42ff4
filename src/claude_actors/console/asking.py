"""Asks a person at the terminal whether a tool may run; the question can be withdrawn while it stands there.

Only a clear yes is a yes. What was typed before the question was shown does not count.
"""

from __future__ import annotations

import os
import select
import sys
import termios
from collections.abc import Callable
from typing import Final

import msgspec

from claude_actors import PendingApproval
from claude_actors.console.clean import one_line, short
from claude_actors.console.describing import describe_input, describe_update

NOBODY: Final = "nobody is there to approve it: this session was started without a terminal"
_LINES_SHOWN: Final = 30
_LONGEST_LINE: Final = 4096
_HELP: Final = "please answer y, n, a number, or v"


class Answer(msgspec.Struct, frozen=True):
    """What a typed line means: yes (perhaps with the suggestion of that number), no (perhaps with words), or else."""

    kind: str
    suggestion: int | None = None
    words: str = ""


def read_answer(line: str, suggestions: int) -> Answer:
    """Understand a typed line: `y`, `n`, `n because …`, `a` (the first suggestion), `2`, `v`; else `unclear`."""
    word, _, rest = line.strip().partition(" ")
    match word.lower():
        case "y" | "yes" if not rest:
            return Answer("yes")
        case "a" | "always" if not rest and suggestions:
            return Answer("yes", suggestion=0)
        case number if number.isdecimal() and not rest and 1 <= int(number) <= suggestions:
            return Answer("yes", suggestion=int(number) - 1)
        case "n" | "no":
            return Answer("no", words=rest.strip())
        case "v" | "view" if not rest:
            return Answer("view")
    return Answer("unclear")


class Asker:
    """Asks through the terminal on standard input; main thread only."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._input = sys.stdin.fileno()

    def ask(self, question: PendingApproval) -> str:
        """Ask until there is an answer or the question is withdrawn; return what became of it, in words."""
        reading, writing = os.pipe()
        try:
            question.on_done(lambda _: os.write(writing, b"x"))
            termios.tcflush(self._input, termios.TCIFLUSH)
            self._show(question, _LINES_SHOWN)
            outcome = self._converse(question, reading)
            # Whoever ends the question writes to our pipe, perhaps at this very moment: wait for that before closing.
            os.read(reading, 1)
            return outcome
        finally:
            os.close(reading)
            os.close(writing)

    def _converse(self, question: PendingApproval, done: int) -> str:
        while True:
            line = self._read_line(done)
            if line is None:
                self._write("\n")
                return "the question was withdrawn"
            answer = read_answer(line, len(question.suggestions))
            match answer.kind:
                case "yes":
                    chosen = None if answer.suggestion is None else [question.suggestions[answer.suggestion]]
                    return _outcome(question.allow(updated_permissions=chosen), "allowed")
                case "no":
                    return _outcome(question.deny(_denial(answer.words)), "denied")
                case _ if not line:
                    self._write("\n")
                    return _outcome(question.deny("the user closed the terminal's input"), "denied")
                case "view":
                    self._show(question, sys.maxsize)
                case _:
                    self._write(f"  {_HELP}: ")

    def _read_line(self, done: int) -> str | None:
        """Wait for a line; None if the question was withdrawn first, an empty one at the end of the input."""
        ready, _, _ = select.select([done, self._input], [], [])
        if done in ready:
            return None
        return os.read(self._input, _LONGEST_LINE).decode(errors="replace")

    def _show(self, question: PendingApproval, most: int) -> None:
        request = question.request
        self._write(f"\n? {one_line(request.display_name or request.tool_name)} asks for permission\n")
        for text in (request.title, request.decision_reason):
            if text:
                self._write(f"    ({one_line(text, 200)})\n")
        shown, hidden = short(describe_input(request), most)
        for line in shown:
            self._write(f"    {line}\n")
        if hidden:
            self._write(f"    … and {hidden} more lines: v shows them\n")
        self._write("  y  allow it once\n  n  deny it (words after the n are told to the model)\n")
        for number, update in enumerate(question.suggestions, 1):
            name = "a" if number == 1 else str(number)
            self._write(f"  {name}  allow it, and {describe_update(update)}\n")
        self._write("  answer: ")


def _denial(words: str) -> str:
    return f"the user denied it: {words}" if words else "the user denied it"


def _outcome(in_time: bool, what: str) -> str:
    return what if in_time else "too late: the question was withdrawn"
