"""A file of tasks: one JSON value a line, a prompt as a string or an object with the fields of `Task`.

A task without an id gets one from its content, so that the same file on the same journal means the same tasks, also
after lines were added between them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from claude_actors import ClaudeActorsError, InvalidOptions, Options
from claude_actors.fleet import Task


def read_tasks(lines: Iterable[str], defaults: Options) -> list[Task]:
    """Read every line that is not empty; raises InvalidOptions, which names the line."""
    tasks: list[Task] = []
    known: dict[str, int] = {}
    copies: Counter[str] = Counter()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            task = _read(line, copies)
            task.options_for(defaults)
        except (ClaudeActorsError, TypeError) as error:
            raise InvalidOptions(f"line {number}: {error}") from error
        assert task.id is not None
        if task.id in known:
            raise InvalidOptions(f"line {number}: the id {task.id!r} stands in line {known[task.id]} already")
        known[task.id] = number
        tasks.append(task)
    return tasks


def _read(line: str, copies: Counter[str]) -> Task:
    try:
        value = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise InvalidOptions(f"it is no JSON ({error})") from None
    fields: dict[str, Any] = {"prompt": value} if isinstance(value, str) else value
    if not isinstance(fields, dict):
        raise InvalidOptions("a task is a string or an object")
    if not fields.get("prompt"):
        raise InvalidOptions("a task needs a prompt")
    if fields.get("id") is None:
        fields = {**fields, "id": _made_id(fields, copies)}
    return Task(**fields)


def _made_id(fields: dict[str, Any], copies: Counter[str]) -> str:
    body = msgspec.json.encode(fields, order="deterministic")
    digest = hashlib.sha256(body).hexdigest()[:12]
    copies[digest] += 1
    return digest if copies[digest] == 1 else f"{digest}-{copies[digest]}"
