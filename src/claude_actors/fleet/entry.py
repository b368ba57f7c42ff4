"""`Entry`: what the fleet knows of one unfinished task. Written by the machine only, read by anybody."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from claude_actors.fleet.spending import Budget, Spent
from claude_actors.options import Options

JobState: TypeAlias = Literal[
    "queued", "limited", "starting", "running", "needs_input", "done", "failed", "cancelled", "stopped"
]
"""Where a task is.

`queued` waits for a session or for its next attempt, `limited` for a rate limit to open, `needs_input` for somebody's
permission. `done`, `failed` and `cancelled` are final; `stopped` ended with its fleet and can go on from a journal.
"""


class Entry(msgspec.Struct, kw_only=True, eq=False):
    """One task: first what was asked, then what has become of it.

    `number` is its place in the order of submission. `resume` is the conversation that its next attempt goes on with,
    `failures` counts the attempts that its retries paid for, `began` and `deadline` belong to the running attempt.
    """

    id: str
    number: int
    options: Options
    priority: int = 0
    conversation: str | None = None
    timeout: float | None = None
    retries: int = 0
    may_resume: bool = True
    budget: Budget = Budget()
    holds_place: bool = False

    state: JobState = "queued"
    attempt: int = 0
    failures: int = 0
    resume: str | None = None
    session_id: str | None = None
    spent: Spent = Spent()
    worked: float = 0.0
    slot: int | None = None
    began: float | None = None
    deadline: float | None = None

    @property
    def order(self) -> tuple[int, int]:
        """Sorts by priority, then by age."""
        return (-self.priority, self.number)

    def work_time(self, now: float) -> float:
        """Return the seconds that its attempts have taken."""
        return self.worked + (0.0 if self.began is None else now - self.began)
