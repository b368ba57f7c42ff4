"""Conversations on disk, so that a later process can resume one, also after this one was killed.

One file of JSON lines a session, in a directory for the working directory that it belongs to, as the real CLI has it.
"""

from __future__ import annotations

import json
import os

from claude_actors.testing.fake_cli.channel import to_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class SessionStore:
    """The sessions of one working directory."""

    def __init__(self, root: str, cwd: str) -> None:
        self._directory = os.path.join(root, cwd.replace("/", "-").replace(".", "-"))

    def path(self, session_id: str) -> str:
        """Give the file of a session, whether it exists or not."""
        return os.path.join(self._directory, session_id + ".jsonl")

    def load(self, session_id: str) -> list[dict[str, Any]] | None:
        """Give the entries of a session, or nothing if it is not known. A torn last line is left out."""
        try:
            with open(self.path(session_id), "rb") as file:
                return [json.loads(line) for line in file if line.endswith(b"\n")]
        except FileNotFoundError:
            return None

    def append(self, session_id: str, entry: dict[str, Any]) -> None:
        """Add one entry, on disk when this returns to any process of this machine."""
        os.makedirs(self._directory, exist_ok=True)
        with open(self.path(session_id), "ab", buffering=0) as file:
            file.write(to_line(entry))

    def latest(self) -> str | None:
        """Give the session that was written to last."""
        try:
            files = [entry for entry in os.scandir(self._directory) if entry.name.endswith(".jsonl")]
        except FileNotFoundError:
            return None
        newest = max(files, key=lambda entry: entry.stat().st_mtime_ns, default=None)
        return newest.name.removesuffix(".jsonl") if newest else None
