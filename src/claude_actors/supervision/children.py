"""What a supervisor needs of a child, and how an actor, a session or another supervisor gives it.

Starting and stopping may block and run user code, so they belong in a thread of the task pool.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeAlias

import pykka
from pykka import ActorRegistry

from claude_actors.errors import SupervisionError
from claude_actors.supervision.watch import GuardedLoop, Watch, has_pykkas_loop

WhenEnded: TypeAlias = Callable[[BaseException | None], object]


class Child(Protocol):
    """One running child."""

    @property
    def target(self) -> Any:
        """What the start function returned: what users get."""
        ...

    def when_ended(self, callback: WhenEnded) -> None:
        """Have `callback(reason)` called once, at the end or now, from any thread."""
        ...

    def stop(self, timeout: float | None) -> None:
        """Ask it to end; may block until it has, or for `timeout`."""
        ...

    def kill(self) -> None:
        """End it by force as far as possible; must not wait for the end."""
        ...

    def forget(self) -> None:
        """Want to hear no more of it."""
        ...

    def lingers(self) -> bool:
        """Tell whether something of it is still there."""
        ...


class ActorChild:
    """An actor, or what lives as long as one."""

    def __init__(self, watch: Watch, target: Any) -> None:
        self.watch = watch
        self.target = target
        self.when_ended = watch.when_ended
        self.kill = watch.kill
        self.forget = watch.cancel

    def stop(self, timeout: float | None) -> None:
        """Ask the actor to end; does not wait."""
        self.watch.stop()

    def lingers(self) -> bool:
        """Tell whether the actor's thread still runs."""
        return self.watch.lingers


class HandleChild:
    """A session, or anything else with `stop(timeout=)` and `add_done_callback(fn)`."""

    def __init__(self, handle: Any) -> None:
        self.target = handle
        self._callback: WhenEnded | None = None
        self._over = False

    def when_ended(self, callback: WhenEnded) -> None:
        """Hear of the end from the handle."""
        self._callback = callback
        self.target.add_done_callback(self._done)

    def stop(self, timeout: float | None) -> None:
        """Stop it and wait for that."""
        self.target.stop(timeout=timeout)

    def kill(self) -> None:
        """Ask it to end and do not wait; sessions have deadlines of their own for the rest."""
        self.target.stop(timeout=0)

    def forget(self) -> None:
        """Want to hear no more of it."""
        self._callback = None

    def lingers(self) -> bool:
        """Tell whether it has not said that it is over."""
        return not self._over

    def _done(self, outcome: object) -> None:
        self._over = True
        callback, self._callback = self._callback, None
        if callback is not None:
            callback(failure_of(outcome))


def failure_of(outcome: object) -> BaseException | None:
    """Read what a done callback got: an exception, or what has one as its `error`, is a failure; all else is not."""
    error = outcome if isinstance(outcome, BaseException) else getattr(outcome, "error", None)
    return error if isinstance(error, BaseException) else None


def child_of(target: Any) -> Child:
    """Watch what a start function returned, or what a monitor was asked for; raises SupervisionError if one cannot."""
    if isinstance(target, pykka.ActorRef):
        return ActorChild(Watch(target), target)
    if not isinstance(target, pykka.ActorProxy) and _has(target, "stop") and _has(target, "add_done_callback"):
        return HandleChild(target)
    ref = ref_of(target)
    if ref is not None:
        return ActorChild(Watch(ref), target)
    raise SupervisionError(
        f"{type(target).__name__} cannot be supervised: it is no ActorRef, Session or started Supervisor, "
        "and has no stop(timeout=) and add_done_callback(fn)"
    )


def begin(start: Callable[[], Any]) -> Child | None:
    """Call the start function and watch what it started; None if it started nothing. Raises what it raises.

    An actor can die before its `start()` has returned, and then nobody would know why. So where the function is pykka's
    own `start`, alone or in a `partial`, its steps are taken here, with the watch in place before the first of them.
    """
    inner, args, keywords = start, (), {}  # type: tuple[Any, tuple[Any, ...], dict[str, Any]]
    if isinstance(start, partial):
        inner, args, keywords = start.func, start.args, start.keywords
    if getattr(inner, "__func__", None) is not pykka.Actor.start.__func__:  # type: ignore[attr-defined]
        target = start()
        return None if target is None else child_of(target)
    actor: pykka.Actor = inner.__self__(*args, **keywords)
    watch = Watch(actor.actor_ref)
    ActorRegistry.register(actor.actor_ref)
    try:
        if has_pykkas_loop(actor):
            actor.__dict__["_actor_loop"] = GuardedLoop(actor, watch)
        actor._start_actor_loop()
    except BaseException:
        watch.cancel()
        ActorRegistry.unregister(actor.actor_ref)
        raise
    finally:
        actor.__dict__.pop("_actor_loop", None)
    return ActorChild(watch, actor.actor_ref)


def ref_of(target: Any) -> pykka.ActorRef[Any] | None:
    """Give the actor of a child, None if it has none."""
    ref = target if isinstance(target, pykka.ActorRef) else getattr(target, "actor_ref", None)
    return ref if isinstance(ref, pykka.ActorRef) else None


def has_ended(target: Any) -> bool:
    """Tell whether the actor of a child has stopped; its supervisor may hear of it a moment later."""
    ref = ref_of(target)
    return ref is not None and not ref.is_alive()


def inbox_depth(target: Any) -> int | None:
    """Count what waits in the inbox of the child's actor; None where that cannot be counted."""
    ref = ref_of(target)
    size = getattr(getattr(ref, "actor_inbox", None), "qsize", None)
    return int(size()) if size is not None else None


def _has(target: object, method: str) -> bool:
    return callable(getattr(target, method, None))
