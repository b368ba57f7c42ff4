"""What a tree of supervisors looks like at one moment: plain values, taken without waiting for anybody."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import msgspec

from claude_actors.errors import describe_end
from claude_actors.supervision.children import inbox_depth
from claude_actors.supervision.entries import ChildState, Entry
from claude_actors.supervision.machine import TreeState
from claude_actors.supervision.record import TreeRecord
from claude_actors.supervision.specs import Kind, Restart, Strategy


class ChildSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One child: `mailbox` counts what waits in its inbox, `last_reason` says how its last incarnation ended.

    `tree` is there for a supervisor that runs; `detail` is the child's own `snapshot()`, if it has one.
    """

    id: str
    name: str | None
    kind: Kind
    restart: Restart
    state: ChildState
    restarts: int
    mailbox: int | None
    uptime: float | None
    last_reason: str | None
    tree: TreeSnapshot | None = None
    detail: Any = None


class TreeSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One supervisor with its children, in the order of their start; numbers may be a moment apart from each other.

    `restarts` counts what it decided to restart; `abandoned` the children that did not end in time and still run.
    `str()` gives it as indented text.
    """

    state: TreeState
    strategy: Strategy
    restarts: int
    abandoned: int
    children: tuple[ChildSnapshot, ...]

    def __str__(self) -> str:
        return "\n".join(_lines(self, f"supervisor: {self.state}", ""))


def take_snapshot(record: TreeRecord) -> TreeSnapshot:
    """Read the record. Any thread; never blocks."""
    machine = record.machine
    return TreeSnapshot(
        state=machine.state,
        strategy=machine.config.strategy,
        restarts=machine.restarts,
        abandoned=record.abandoned,
        children=tuple(_child(entry, record.target_of(entry)) for entry in machine.entries.copy().values()),
    )


def _child(entry: Entry, target: Any) -> ChildSnapshot:
    since, reason = entry.up_since, entry.reason
    own = getattr(target, "snapshot", None) if target is not None else None
    taken = own() if callable(own) else None
    return ChildSnapshot(
        id=entry.id,
        name=entry.spec.name,
        kind=entry.spec.kind,
        restart=entry.spec.restart,
        state=entry.state,
        restarts=entry.restarts,
        mailbox=inbox_depth(target) if target is not None else None,
        uptime=None if since is None else time.monotonic() - since,
        last_reason=None if reason is None else describe_end(reason),
        tree=taken if isinstance(taken, TreeSnapshot) else None,
        detail=None if isinstance(taken, TreeSnapshot) else taken,
    )


def _lines(tree: TreeSnapshot, head: str, indent: str) -> Iterator[str]:
    abandoned = f", {tree.abandoned} abandoned" if tree.abandoned else ""
    yield f"{indent}{head}; {tree.strategy}, {_times(tree.restarts)} inside{abandoned}"
    for child in tree.children:
        line = f"{child.id}: {child.state}, {child.restart}, {_times(child.restarts)}"
        if child.mailbox is not None and child.tree is None:
            line += f", {child.mailbox} waiting"
        if child.last_reason is not None:
            line += f", last ended with {child.last_reason}"
        if child.tree is None:
            yield f"{indent}  {line}"
        else:
            yield from _lines(child.tree, line, indent + "  ")


def _times(restarts: int) -> str:
    return "1 restart" if restarts == 1 else f"{restarts} restarts"
