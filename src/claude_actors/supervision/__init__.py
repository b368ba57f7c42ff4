"""Supervisors: trees of actors, sessions and other supervisors that are kept alive, in OTP's words and meaning."""

from __future__ import annotations

from claude_actors.errors import (
    ActorGone,
    ChildExists,
    ChildKilled,
    ChildNotFound,
    ChildNotStopped,
    ChildStartFailed,
    NameTaken,
    NotRunning,
    SupervisionError,
    SupervisionTimeout,
    SupervisorStopped,
    TooManyChildren,
    TooManyRestarts,
)
from claude_actors.supervision.monitors import Down, Monitor, monitor
from claude_actors.supervision.names import NamedRef, names, whereis
from claude_actors.supervision.record import ChildCounts, ChildInfo
from claude_actors.supervision.snapshot import ChildSnapshot, TreeSnapshot
from claude_actors.supervision.specs import ChildSpec
from claude_actors.supervision.supervisor import Supervisor

__all__ = [
    "ActorGone",
    "ChildCounts",
    "ChildExists",
    "ChildInfo",
    "ChildKilled",
    "ChildNotFound",
    "ChildNotStopped",
    "ChildSnapshot",
    "ChildSpec",
    "ChildStartFailed",
    "Down",
    "Monitor",
    "NameTaken",
    "NamedRef",
    "NotRunning",
    "SupervisionError",
    "SupervisionTimeout",
    "Supervisor",
    "SupervisorStopped",
    "TooManyChildren",
    "TooManyRestarts",
    "TreeSnapshot",
    "monitor",
    "names",
    "whereis",
]
