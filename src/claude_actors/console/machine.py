"""A turn as a machine sees it: on standard output each frame as it came, one a line, and last of all a summary."""

from __future__ import annotations

import sys

import msgspec

from claude_actors import Message, PendingApproval
from claude_actors.console.asking import NOBODY
from claude_actors.console.clean import clean
from claude_actors.console.turn import Report


class JsonView:
    """Writes JSON lines; what is said about the run itself goes to standard error."""

    def message(self, message: Message) -> None:
        """Write the frame as it came."""
        self._write(message.line or msgspec.json.encode(message.raw))

    def ask(self, question: PendingApproval) -> None:
        """Deny: a machine cannot be asked."""
        question.deny(NOBODY)
        self.note(f"denied {question.tool_name}: {NOBODY}")

    def note(self, text: str) -> None:
        """Say something about the run itself."""
        sys.stderr.write(f"{clean(text)}\n")
        sys.stderr.flush()

    def report(self, report: Report) -> None:
        """Write the summary."""
        self._write(msgspec.json.encode(report.summary()))

    def _write(self, line: bytes) -> None:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()
