"""What can go wrong with a fleet and its tasks, beside the errors of the sessions that run them.

Part of the one family under `ClaudeActorsError`; imports nothing of the fleet.
"""

from __future__ import annotations

from typing import Literal

from claude_actors.errors import ClaudeActorsError

BudgetKind = Literal["turns", "tokens", "usd"]


class FleetError(ClaudeActorsError):
    """Base of the fleet's own errors."""


# --- submitting ---


class QueueFull(FleetError):
    """As many tasks wait as the fleet's queue holds; submit again later, or make the fleet with `when_full="wait"`."""

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        super().__init__(f"{limit} tasks are waiting already; submit again later")


class SubmitTimeout(FleetError, TimeoutError):
    """The queue had no room within the time that the caller would wait. The task was not submitted; try again later."""

    def __init__(self, *, after: float) -> None:
        self.after = after
        super().__init__(f"the queue had no room within {after:g} s; the task was not submitted: try again later")


class FleetClosed(FleetError):
    """The fleet is draining or stopped and takes no more tasks; make another one."""

    def __init__(self) -> None:
        super().__init__("the fleet takes no more tasks: it is draining or stopped; make another one")


class DuplicateTask(FleetError):
    """A task with this id is in the fleet already; ids must be unique."""

    def __init__(self, *, task_id: str) -> None:
        self.task_id = task_id
        super().__init__(f"a task with the id {task_id!r} is in the fleet already; give this one another")


# --- how a task ends ---


class TaskCancelled(FleetError):
    """The task was cancelled on request."""

    def __init__(self, *, task_id: str) -> None:
        self.task_id = task_id
        super().__init__(f"the task {task_id!r} was cancelled")


class TaskTimeout(FleetError, TimeoutError):
    """The task was not done within its `timeout` and its session was stopped; give it more, or a smaller prompt."""

    def __init__(self, *, task_id: str, after: float) -> None:
        self.task_id, self.after = task_id, after
        super().__init__(f"the task {task_id!r} was not done after {after:g} s of work and was stopped")


class TaskBudgetExhausted(FleetError):
    """The task has used up a budget of its own: which, how much it was, how much was used. Submit it anew with more."""

    def __init__(self, *, task_id: str, budget: BudgetKind, limit: float, used: float) -> None:
        self.task_id, self.budget, self.limit, self.used = task_id, budget, limit, used
        super().__init__(f"the task {task_id!r} has used {used:g} of its {limit:g} {budget}")


class FleetBudgetExhausted(FleetError):
    """The fleet's budget is used up, so the task was not run; with a journal it waits there for a larger budget."""

    def __init__(self, *, budget: BudgetKind, limit: float, used: float) -> None:
        self.budget, self.limit, self.used = budget, limit, used
        super().__init__(f"the fleet has used {used:g} of its {limit:g} {budget}; the task was not run")


class FleetStopped(FleetError):
    """The fleet was stopped before the task was done; with a journal the next fleet on it goes on with the task."""

    def __init__(self, reason: str = "the fleet was stopped before the task was done") -> None:
        self.reason = reason
        super().__init__(reason)


class RecordedFailure(FleetError):
    """The task failed in an earlier run, as the journal tells: `kind` names that error. Another id runs it again."""

    def __init__(self, *, kind: str, reason: str) -> None:
        self.kind, self.reason = kind, reason
        super().__init__(f"the task failed in an earlier run ({kind}): {reason}")


class JobTimeout(FleetError, TimeoutError):
    """The task was not done within the time that its caller would wait. It goes on; wait again, or `cancel()` it."""

    def __init__(self, *, after: float) -> None:
        self.after = after
        super().__init__(f"the task was not done within {after:g} s; it goes on: wait again, or cancel() it")


class FleetTimeout(FleetError, TimeoutError):
    """The fleet was not over within the time that its caller would wait. The end goes on; wait again."""

    def __init__(self, *, after: float) -> None:
        self.after = after
        super().__init__(f"the fleet was not over within {after:g} s; its end goes on")


# --- the journal ---


class JournalError(FleetError):
    """The journal cannot be used; `path` names it, `reason` says why."""

    def __init__(self, *, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the journal {path}: {reason}")


class JournalLocked(JournalError):
    """Another fleet, in this process or another, has this journal. Stop that one, or take another file."""

    def __init__(self, *, path: str) -> None:
        super().__init__(path=path, reason="another fleet is using it; a journal has one writer")


class JournalCorrupt(JournalError):
    """A line that is not the last one is damaged: more than a crash can do. `line` counts from 1. Restore the file."""

    def __init__(self, *, path: str, line: int, reason: str) -> None:
        self.line = line
        super().__init__(path=path, reason=f"line {line} is damaged ({reason}); restore the file or begin a new one")


class JournalFailed(JournalError):
    """The journal could not be opened, read or written. Its fleet stops; mend that, and start it again."""
