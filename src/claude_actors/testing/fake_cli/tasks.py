"""Background tasks: work that goes on after its turn. When one ends, the model is told in a turn of its own."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli
    from claude_actors.testing.fake_cli.subagents import Subagent


class Tasks:
    """The background tasks of this process, and the notices of those that have ended."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli
        self._running: dict[str, tuple[dict[str, Any], Callable[[], None]]] = {}
        self._subagents: list[Subagent] = []
        self.notices: list[str] = []

    def start(self, step: dict[str, Any], tool_use_id: str | None = None) -> str:
        """Start a task that ends when its gate opens; gives its id."""
        task_id: str = step["task_id"] or "b" + os.urandom(4).hex()
        entry = {"task_id": task_id, "task_type": "local_bash", "description": step["description"]}
        leave = self._cli.gates.when_open(step["until"], lambda: self._end(task_id, step["status"]))
        self._running[task_id] = (entry, leave)
        self._tell()
        called_by = {} if tool_use_id is None else {"tool_use_id": tool_use_id}
        self._cli.emit_system("task_started", **entry, **called_by, is_backgrounded=True)
        return task_id

    def stop(self, task_id: str) -> None:
        """Stop a task; unknown ones are ignored, as the real CLI does."""
        if task_id in self._running:
            self._running[task_id][1]()
            self._end(task_id, "stopped")

    def _end(self, task_id: str, status: str) -> None:
        entry, _ = self._running.pop(task_id)
        summary = f'Background command "{entry["description"]}" {status}'
        self._cli.emit_system("task_updated", task_id=task_id, patch={"status": status})
        self._cli.emit_system("task_notification", task_id=task_id, status=status, output_file="", summary=summary)
        self._tell()
        self.notices.append(summary)

    def add_subagent(self, subagent: Subagent) -> None:
        """Keep a subagent for when the turn is over."""
        self._subagents.append(subagent)
        self._tell()
        subagent.start()

    def work(self) -> None:
        """Let the subagents that were started in the last turn do their work."""
        while self._subagents:
            subagent = self._subagents[0]
            report = subagent.work()
            self._subagents.pop(0)
            self._tell()
            self.notices.append(report)

    def pending(self) -> bool:
        """Say whether a task runs or its end is not told yet."""
        return bool(self._running or self._subagents or self.notices)

    def _tell(self) -> None:
        agents = [
            {"task_id": item.agent.id, "task_type": "local_agent", "description": item.agent.description}
            for item in self._subagents
        ]
        self._cli.emit_system("background_tasks_changed", tasks=[entry for entry, _ in self._running.values()] + agents)
