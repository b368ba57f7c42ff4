"""Write, Edit and Read for real, inside the working directory, and the checkpoints that rewind_files goes back to."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli


class ToolFailed(Exception):
    """A tool ended with an error that the model is told."""


class Files:
    """The file tools. With checkpointing on, what a file was before each prompt is kept."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli
        self.checkpointing = os.environ.get("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING") == "true"
        # For each prompt, in order: what its files held before it, None for a file that was not there.
        self._before: dict[str, dict[str, str | None]] = {}

    def begin_prompt(self, uuid: str | None) -> None:
        """Open the checkpoint of a prompt."""
        if self.checkpointing and uuid is not None:
            self._before[uuid] = {}

    def write(self, given: dict[str, Any]) -> tuple[str, Any]:
        """Create or replace a file."""
        name, content = str(given.get("file_path", "")), str(given.get("content", ""))
        path = self._resolve(name)
        original = read_text(path)
        self._save(path, original)
        self._put(path, content)
        kind = "create" if original is None else "update"
        result: dict[str, Any] = {"type": kind, "filePath": name, "content": content, "originalFile": original}
        verb = "created successfully at" if original is None else "has been updated successfully at"
        return f"File {verb}: {name}", result

    def edit(self, given: dict[str, Any]) -> tuple[str, Any]:
        """Replace text in a file."""
        name, old, new = (str(given.get(key, "")) for key in ("file_path", "old_string", "new_string"))
        path = self._resolve(name)
        original = read_text(path)
        if original is None:
            raise ToolFailed(f"File does not exist: {name}")
        if old not in original:
            raise ToolFailed(f"String to replace not found in file.\nString: {old}")
        self._save(path, original)
        self._put(path, original.replace(old, new, -1 if given.get("replace_all") else 1))
        result = {"filePath": name, "oldString": old, "newString": new, "originalFile": original, "structuredPatch": []}
        return f"The file {name} has been updated successfully.", result

    def read(self, given: dict[str, Any]) -> tuple[str, Any]:
        """Give a file's text with numbered lines."""
        name = str(given.get("file_path", ""))
        text = read_text(os.path.join(self._cli.cwd, name))
        if text is None:
            raise ToolFailed("File does not exist.")
        lines = text.split("\n")
        shown = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
        file = {"filePath": name, "content": text, "numLines": len(lines), "startLine": 1, "totalLines": len(lines)}
        return shown, {"type": "text", "file": file}

    def _resolve(self, name: str) -> str:
        path = os.path.realpath(os.path.join(self._cli.cwd, name))
        if not path.startswith(os.path.realpath(self._cli.cwd) + os.sep):
            raise ToolFailed(f"The fake CLI writes inside its working directory only: {name}")
        return path

    def _put(self, path: str, content: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(content)

    def _save(self, path: str, original: str | None) -> None:
        if self._before:
            newest = next(reversed(self._before.values()))
            newest.setdefault(path, original)

    def rewind(self, uuid: str, *, dry_run: bool) -> dict[str, Any]:
        """Put every file back to what it was before a prompt, and give the payload of rewind_files."""
        if uuid not in self._before:
            return {"canRewind": False, "error": "No file checkpoint found for this message."}
        prompts = list(self._before)
        targets: dict[str, str | None] = {}
        for later in prompts[prompts.index(uuid) :]:
            for path, original in self._before[later].items():
                targets.setdefault(path, original)
        changed = {path: text for path, text in targets.items() if read_text(path) != text}
        if not dry_run:
            for path, text in changed.items():
                self._restore(path, text)
            return {"canRewind": True}
        counts = [line_changes(read_text(path) or "", text or "") for path, text in changed.items()]
        return {
            "canRewind": True,
            "filesChanged": list(changed),
            "insertions": sum(added for added, _ in counts),
            "deletions": sum(removed for _, removed in counts),
        }

    def _restore(self, path: str, text: str | None) -> None:
        if text is None:
            os.unlink(path)
        else:
            self._put(path, text)


def read_text(path: str) -> str | None:
    """Give a file's text, or nothing if there is no such file."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (FileNotFoundError, IsADirectoryError):
        return None


def line_changes(now: str, then: str) -> tuple[int, int]:
    """Count lines that going back would add and remove, roughly: as sets."""
    have, want = set(now.splitlines()), set(then.splitlines())
    return len(want - have), len(have - want)
