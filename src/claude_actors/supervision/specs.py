"""What a supervisor is told of a child: how to start it, when to start it again, how long it may take to end.

Plain values, checked once when they are made. The words and their meaning are OTP's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from claude_actors.errors import InvalidOptions
from claude_actors.protocol.restarts import Backoff

Restart: TypeAlias = Literal["permanent", "transient", "temporary"]
Strategy: TypeAlias = Literal["one_for_one", "one_for_all", "rest_for_one"]
Kind: TypeAlias = Literal["worker", "supervisor"]
Shutdown: TypeAlias = float | Literal["kill"] | None

_WORKER_SHUTDOWN = 5.0


class ChildSpec(msgspec.Struct, frozen=True):
    """One child of a supervisor.

    `start` is called in a thread of the runtime, again for each restart, and may block. It returns a pykka `ActorRef`
    (or a proxy), a `Session`, a started `Supervisor`, anything else with `stop(timeout=)` and `add_done_callback(fn)`,
    or None for "nothing to start now".

    `restart`: `permanent` children are started again whenever they end, `transient` ones when they failed, `temporary`
    ones never, and are then forgotten. `shutdown`: the seconds that the child has to end when it is stopped, `"kill"`
    to give it none, None to wait as long as it takes (default: 5 s, None for a supervisor). `name`: where `whereis()`
    finds the present incarnation.
    """

    id: str
    start: Callable[[], Any]
    restart: Restart = "permanent"
    shutdown: Shutdown | UnsetType = UNSET
    kind: Kind = "worker"
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id:
            raise InvalidOptions(f"ChildSpec: id must be a non-empty string, not {self.id!r}")
        if not callable(self.start):
            raise InvalidOptions(f"ChildSpec {self.id!r}: start must be callable, for instance Worker.start")
        if self.restart not in ("permanent", "transient", "temporary"):
            raise InvalidOptions(f"ChildSpec {self.id!r}: restart is 'permanent', 'transient' or 'temporary'")
        if self.kind not in ("worker", "supervisor"):
            raise InvalidOptions(f"ChildSpec {self.id!r}: kind is 'worker' or 'supervisor'")
        if self.shutdown is UNSET:
            default = None if self.kind == "supervisor" else _WORKER_SHUTDOWN
            msgspec.structs.force_setattr(self, "shutdown", default)
        elif self.shutdown not in ("kill", None) and not _is_duration(self.shutdown):
            raise InvalidOptions(f"ChildSpec {self.id!r}: shutdown is a number of seconds, 'kill' or None")

    @property
    def grace(self) -> Shutdown:
        """Give `shutdown` with its default filled in."""
        assert self.shutdown is not UNSET
        return self.shutdown


class TreeConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How one supervisor behaves, whoever its children are."""

    strategy: Strategy = "one_for_one"
    max_restarts: int = 3
    max_seconds: float = 5.0
    backoff: Backoff | None = Backoff()
    max_children: int | None = None

    def __post_init__(self) -> None:
        if self.strategy not in ("one_for_one", "one_for_all", "rest_for_one"):
            raise InvalidOptions("Supervisor: strategy is 'one_for_one', 'one_for_all' or 'rest_for_one'")
        if self.max_restarts < 0 or self.max_seconds <= 0:
            raise InvalidOptions("Supervisor: max_restarts must not be negative and max_seconds must be positive")
        if self.max_children is not None and self.max_children < 0:
            raise InvalidOptions("Supervisor: max_children must not be negative")


def check_children(config: TreeConfig, children: Iterable[ChildSpec]) -> tuple[ChildSpec, ...]:
    """Refuse what is no spec, ids that stand for two children, and more children than there may be."""
    specs = tuple(map(checked_spec, children))
    ids = [spec.id for spec in specs]
    if doubled := {id for id in ids if ids.count(id) > 1}:
        raise InvalidOptions(f"Supervisor: these ids stand for more than one child: {sorted(doubled)}")
    if config.max_children is not None and len(specs) > config.max_children:
        raise InvalidOptions(f"Supervisor: {len(specs)} children are more than max_children={config.max_children}")
    return specs


def checked_spec(spec: ChildSpec) -> ChildSpec:
    """Return the spec; raises InvalidOptions for what is none."""
    if not isinstance(spec, ChildSpec):
        raise InvalidOptions(
            f"Supervisor: a child is described by a ChildSpec(id, start), not by a {type(spec).__name__}"
        )
    return spec


def _is_duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
