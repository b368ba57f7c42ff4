"""Watch: learns that any pykka actor has ended, once, why, and without a thread or polling.

pykka tells nobody of an end: it sets the event `actor_stopped`, from inside the `except` block if something was raised.
So a watch stands among the event's waiters as a thread that waits for it would, and looks at the exception of the
moment when it is woken. It relies on three things that neither library promises and `test_watch.py` pins: the waiters
of `threading.Condition`, the actor behind a ref, and `_actor_loop_teardown`, which is a pykka actor's last step.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, Final

import pykka
from pykka import ActorDeadError, ActorRegistry
from pykka._envelope import Envelope
from pykka.messages import _ActorStop

from claude_actors.actors.contained import run_contained
from claude_actors.actors.endings import UNKNOWN, keep_reason, kept_reason
from claude_actors.actors.reactor import Reactor
from claude_actors.actors.timers import TimerHandle
from claude_actors.errors import ActorGone, ChildKilled

# `on_stop` and `on_failure` run after the actor counts as stopped. They get this long before it counts as ended.
CLEANUP_SECONDS: Final = 5.0


def actor_of(ref: pykka.ActorRef[Any]) -> pykka.Actor | None:
    """Give the actor behind a ref, None if it is gone."""
    weak = getattr(ref, "_actor_weakref", None)
    actor: pykka.Actor | None = weak() if weak is not None else getattr(ref, "_actor", None)
    return actor


def has_pykkas_loop(actor: pykka.Actor) -> bool:
    """Tell whether the actor runs in a thread by pykka's own loop, so that its last step is known."""
    return isinstance(actor, pykka.ThreadingActor) and type(actor)._actor_loop is pykka.Actor._actor_loop


class Watch:
    """One watcher of one actor. Any thread; nothing blocks. The callback comes from the actor's or a runtime thread."""

    def __init__(self, ref: pykka.ActorRef[Any]) -> None:
        self.ref = ref
        self._lock = threading.Lock()
        self._ended = False
        self._thread_over = False
        self._callback: Callable[[BaseException | None], object] | None = None
        self._timer: TimerHandle | None = None
        self._reactor = Reactor.acquire()
        actor = actor_of(ref)
        # An actor whose thread dies under pykka (SystemExit in on_start) still counts as alive; without a GuardedLoop
        # only the collector notices. Its callback may come in the midst of anything, so it only hands over.
        self._actor = weakref.ref(actor, self._actor_collected) if actor is not None else None
        event = ref.actor_stopped
        with event._cond:  # type: ignore[attr-defined]
            if not event.is_set():
                event._cond._waiters.append(self)  # type: ignore[attr-defined]
                return
        if kept_reason(ref) is UNKNOWN:
            keep_reason(ref, ActorGone())
        self._end()

    @property
    def actor(self) -> pykka.Actor | None:
        """Give the watched actor, None if it is gone."""
        return self._actor() if self._actor is not None else None

    @property
    def lingers(self) -> bool:
        """Tell whether the actor's thread still runs, though it may count as ended."""
        return not self._thread_over and self.actor is not None

    def when_ended(self, callback: Callable[[BaseException | None], object]) -> None:
        """Have `callback(reason)` called once, at the end, or now if that was before. One callback a watch."""
        with self._lock:
            if not self._ended:
                self._callback = callback
                return
        callback(self._reason())

    def cancel(self) -> None:
        """Watch no more; the callback is not called unless it is being called already."""
        with self.ref.actor_stopped._cond:  # type: ignore[attr-defined]
            waiters = self.ref.actor_stopped._cond._waiters  # type: ignore[attr-defined]
            if self in waiters:
                waiters.remove(self)
        with self._lock:
            self._callback = None
        self._end()

    def stop(self) -> None:
        """Ask the actor to end after what is in its inbox; may block where putting into its inbox does."""
        try:
            self.ref.tell(_ActorStop())
        except ActorDeadError:
            return

    def kill(self) -> None:
        """Let the actor handle no message after the one in hand, as far as a thread lets that be done."""
        keep_reason(self.ref, ChildKilled())
        actor = self.actor
        if actor is not None and has_pykkas_loop(actor):
            ActorRegistry.unregister(self.ref)
            self.ref.actor_stopped.set()
        # Wakes a loop that waits for a message.
        self.ref.actor_inbox.put(Envelope(_ActorStop()))

    # --- the end ---

    def release(self) -> None:
        """Be woken as a waiting thread's lock is: by the event, in the setter's thread, under the event's lock."""
        run_contained("watch_failed", self._stopped)

    def _stopped(self) -> None:
        reason = keep_reason(self.ref, sys.exception())
        actor = self.actor
        # With SystemExit the actor's next step is to stop all actors and to wait for them, its supervisors included.
        if actor is not None and has_pykkas_loop(actor) and (reason is None or isinstance(reason, Exception)):
            self._timer = self._reactor.call_at(self._reactor.now() + CLEANUP_SECONDS, self._end)
            LastStep.of(actor).watches.append(self)
        else:
            self._reactor.call_soon(self._end)

    def _end(self) -> None:
        with self._lock:
            if self._ended:
                return
            self._ended = True
            callback, self._callback = self._callback, None
        if self._timer is not None:
            self._timer.cancel()
        if callback is not None:
            run_contained("watch_callback_failed", callback, self._reason())
        self._reactor.release()

    def _reason(self) -> BaseException | None:
        reason = kept_reason(self.ref)
        return None if reason is UNKNOWN else reason

    def _actor_collected(self, _weak: object) -> None:
        if not self._ended:
            self._reactor.call_soon(self._vanished)

    def _vanished(self) -> None:
        if not self.ref.actor_stopped.is_set():
            keep_reason(self.ref, ActorGone())
        self.thread_is_over()

    def thread_is_over(self) -> None:
        """Do what pykka may have left undone: the actor's thread has ended, so nobody may wait for the actor."""
        self._thread_over = True
        if not self.ref.actor_stopped.is_set():
            ActorRegistry.unregister(self.ref)
            self.ref.actor_stopped.set()
            answer_the_rest(self.ref)
        self._end()


class GuardedLoop:
    """Stands in for the loop of an actor that is started under a watch: runs it, and sees every end of its thread."""

    def __init__(self, actor: pykka.Actor, watch: Watch) -> None:
        # As a bound method has it: it tells whose thread this is.
        self.__self__ = actor
        self._watch = watch

    def __call__(self) -> None:
        actor = self.__self__
        try:
            type(actor)._actor_loop(actor)
        except BaseException as error:
            keep_reason(self._watch.ref, error)
            raise
        finally:
            self._watch.thread_is_over()


class LastStep:
    """Stands in for one actor's `_actor_loop_teardown`, does it, and tells the watches. Holds no actor alive."""

    def __init__(self, actor: pykka.Actor) -> None:
        self._actor = weakref.ref(actor)
        self.watches: list[Watch] = []

    @classmethod
    def of(cls, actor: pykka.Actor) -> LastStep:
        """Give the actor's stand-in; the event's lock is held, so there is one at a time here."""
        step = actor.__dict__.get("_actor_loop_teardown")
        if not isinstance(step, cls):
            step = actor.__dict__["_actor_loop_teardown"] = cls(actor)
        return step

    def __call__(self) -> None:
        actor = self._actor()
        try:
            if actor is not None:
                type(actor)._actor_loop_teardown(actor)
        finally:
            for watch in self.watches:
                watch.thread_is_over()


def answer_the_rest(ref: pykka.ActorRef[Any]) -> None:
    """Answer what waits in the inbox of an actor that is no more, as pykka does at an orderly end."""
    while not ref.actor_inbox.empty():
        reply_to = ref.actor_inbox.get().reply_to
        if reply_to is not None:
            reply_to.set_exception((ActorDeadError, ActorDeadError(f"{ref} died before handling the message"), None))
