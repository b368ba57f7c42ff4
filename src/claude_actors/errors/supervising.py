"""What supervisors and their callers meet."""

from __future__ import annotations

from claude_actors.errors.base import ClaudeActorsError
from claude_actors.errors.words import describe_end


class SupervisionError(ClaudeActorsError):
    """Base of what a supervisor refuses, and of what ends its children."""


class ChildStartFailed(SupervisionError):
    """The start function of a child raised (`__cause__`), or returned what cannot be supervised; it does not run."""

    def __init__(self, *, id: str, reason: str) -> None:
        self.id, self.reason = id, reason
        super().__init__(f"the child {id!r} could not be started: {reason}")


class TooManyChildren(SupervisionError):
    """The supervisor has `max_children` already, stopped ones included. Nothing was started; delete one first."""

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        super().__init__(f"the supervisor has its {limit} children already; delete one, or raise max_children")


class TooManyRestarts(SupervisionError):
    """The supervisor gave up and has stopped its children: restarting did not help. `reason` ended the last one."""

    def __init__(self, *, id: str, max_restarts: int, max_seconds: float, reason: BaseException | None) -> None:
        self.id, self.max_restarts, self.max_seconds, self.reason = id, max_restarts, max_seconds, reason
        super().__init__(
            f"more than {max_restarts} restarts within {max_seconds:g} s; "
            f"the last to end was the child {id!r}, with {describe_end(reason)}"
        )


class ChildNotFound(SupervisionError, LookupError):
    """The supervisor has no child with this id; `which_children()` lists them."""

    def __init__(self, *, id: str) -> None:
        self.id = id
        super().__init__(f"the supervisor has no child {id!r}")


class ChildExists(SupervisionError):
    """There is a child with this id; `state` says where it is. Nothing was started; a stopped one can be restarted."""

    def __init__(self, *, id: str, state: str) -> None:
        self.id, self.state = id, state
        super().__init__(f"there is a child {id!r} already, and it is {state}; a stopped one can be restarted")


class ChildNotStopped(SupervisionError):
    """Only a stopped child can be restarted or deleted; `terminate_child()` it first."""

    def __init__(self, *, id: str, state: str) -> None:
        self.id, self.state = id, state
        super().__init__(f"the child {id!r} is {state}; terminate it first")


class NotRunning(SupervisionError):
    """There is no running incarnation now, so nobody was told. It may be restarting: `child(id, timeout=…)` waits."""

    def __init__(self, *, name: str, state: str = "not running") -> None:
        self.name, self.state = name, state
        super().__init__(f"{name!r} is {state}: nobody was told")


class NameTaken(SupervisionError):
    """Another child that runs has this name. Nothing was started; take another name."""

    def __init__(self, *, name: str) -> None:
        self.name = name
        super().__init__(f"the name {name!r} is taken by another child that runs")


class SupervisorStopped(SupervisionError):
    """The supervisor ends or has ended, by `reason` if it gave up, so this cannot be done. Start another."""

    def __init__(self, reason: BaseException | None = None) -> None:
        self.reason = reason
        super().__init__("the supervisor has been stopped" if reason is None else f"the supervisor ended: {reason}")


class SupervisionTimeout(SupervisionError, TimeoutError):
    """What was asked for was not done within the time that its caller would wait. It goes on; look again later."""

    def __init__(self, *, what: str, after: float) -> None:
        self.what, self.after = what, after
        super().__init__(f"{what} was not done within {after:g} s; it goes on")


class ChildKilled(SupervisionError):
    """The reason of an actor that did not end in its shutdown time: it was abandoned, since no thread can be killed."""

    def __init__(self) -> None:
        super().__init__("the actor did not end in time and was abandoned")


class ActorGone(SupervisionError):
    """The reason of an actor whose end nobody saw: it ended before it was watched, or its thread died under it."""

    def __init__(self) -> None:
        super().__init__("the actor had ended before it was watched, or its thread died: the reason is unknown")
