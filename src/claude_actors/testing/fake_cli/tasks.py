"""Background tasks: work that goes on after its turn, until a gate opens."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli


class Tasks:
    """The background tasks of this process."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli
        self._running: dict[str, tuple[dict[str, Any], Callable[[], None]]] = {}

    def start(self, step: dict[str, Any]) -> None:
        """Start a task that ends when its gate opens."""
        task_id = step["task_id"] or os.urandom(4).hex()
        self._cli.emit_system("task_started", task_id=task_id, description=step["description"], task_type="local_bash")
        leave = self._cli.gates.when_open(step["until"], lambda: self._end(task_id, step["status"]))
        self._running[task_id] = (step, leave)
        self._tell()

    def stop(self, task_id: str) -> None:
        """Stop a task; unknown ones are ignored, as the real CLI does."""
        if task_id in self._running:
            self._running[task_id][1]()
            self._end(task_id, "stopped")

    def _end(self, task_id: str, status: str) -> None:
        step, _ = self._running.pop(task_id)
        summary = f"{step['description']} {status}"
        self._cli.emit_system("task_notification", task_id=task_id, status=status, output_file="", summary=summary)
        self._tell()

    def _tell(self) -> None:
        tasks = [
            {"task_id": task_id, "task_type": "local_bash", "description": step["description"]}
            for task_id, (step, _) in self._running.items()
        ]
        self._cli.emit_system("background_tasks_changed", tasks=tasks)
