"""The base of actors that never wait and never run user code: they share the reactor's thread.

Decides how an actor begins, handles one message at a time, and ends: every ending, whatever its cause, is reported
exactly once to the supervisor, and whatever an actor raises stays inside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import pykka
from msgspec import Struct
from pykka import ActorDeadError, ActorRegistry
from pykka._envelope import Envelope
from pykka.messages import _ActorStop

from claude_actors.actors.contained import note, report, run_contained
from claude_actors.actors.endings import keep_reason
from claude_actors.actors.inbox import ReactorInbox
from claude_actors.actors.reactor import Reactor
from claude_actors.actors.timers import TimerHandle


class ActorEnded(Struct, frozen=True):
    """An actor has ended: `reason` is None for a normal end or a stop, else what it failed with."""

    ref: pykka.ActorRef[Any]
    reason: BaseException | None = None


Supervisor: TypeAlias = pykka.ActorRef[Any] | Callable[[ActorEnded], object] | None


def deliver_inline(ref: pykka.ActorRef[Any], message: object) -> None:
    """Tell a reactor actor and run it in this thread if nobody else is running it, with the reactor actors it tells.

    For threads of the runtime that have just finished user code: it saves a change of threads. A user's thread uses
    `tell`, because a KeyboardInterrupt could hit it inside the actor. Raises ActorDeadError as `tell` does.
    """
    inbox = ref.actor_inbox
    if not isinstance(inbox, ReactorInbox):
        ref.tell(message)
        return
    if not ref.is_alive():
        raise ActorDeadError(f"{ref} not found")
    inbox.run_inline(message)


def tell_now(ref: pykka.ActorRef[Any], message: object) -> None:
    """Tell an actor; a reactor actor that is idle handles the message before this returns, if actors run here.

    For what comes so often that the way through an inbox would cost more than the message. Raises ActorDeadError.
    """
    inbox = ref.actor_inbox
    if not (isinstance(inbox, ReactorInbox) and inbox.hear_now(message)):
        ref.tell(message)


def report_ending(supervisor: Supervisor, ended: ActorEnded) -> None:
    """Tell the supervisor; a dead or raising one changes nothing."""
    if isinstance(supervisor, pykka.ActorRef):
        try:
            supervisor.tell(ended)
        except ActorDeadError:
            return
    elif supervisor is not None:
        run_contained("supervisor_failed", supervisor, ended)


class ReactorActor(pykka.Actor):
    """One message at a time, in order, urgent ones first, in the reactor's thread or inline; override `on_…`.

    An exception from `on_start`, from a told message or from `stop_requested` ends the actor with that reason; one from
    an asked message goes to the asker and the actor lives on. `accepts` names the messages that the actor knows: a
    host program's broadcast reaches every actor and must end none of ours.
    """

    accepts: ClassVar[tuple[type, ...]] = (object,)
    _accepted: ClassVar[frozenset[type]] = frozenset()

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        cls._accepted = frozenset(cls.accepts) - {object, _ActorStop}

    def __init__(self, *, supervisor: Supervisor = None) -> None:
        super().__init__()
        self.supervisor = supervisor
        self._stop_waiters: list[pykka.Future[Any]] = []
        self._started = False
        self._stopping = False
        self._ended = False

    # --- for subclasses ---

    def on_start(self) -> None:
        """Prepare; runs before the first message, with `reactor` usable."""

    def on_message(self, message: Any) -> Any:
        """Handle one message; the returned value answers an `ask`."""
        raise NotImplementedError

    def stop_requested(self) -> None:
        """Begin to end, once, on pykka's stop; call `finish()` now or when really done. The asker waits for that."""
        self.finish()

    def on_end(self, reason: BaseException | None) -> None:
        """Clean up; runs exactly once, at every kind of end, before it is reported."""

    @property
    def rescue(self) -> Callable[[object], bool] | None:
        """Takes care of a message that was told and not handled before the end; False lets it go. Any thread.

        It is kept with the actor's ref, so it should not hold the actor.
        """
        return None

    @property
    def reactor(self) -> Reactor:
        """Give the reactor that runs this actor."""
        return self._reactor

    @property
    def ended(self) -> bool:
        """Tell whether the actor has ended."""
        return self._ended

    def tell_at(self, when: float, message: object) -> TimerHandle:
        """Tell this actor `message` at `when` (of `reactor.now()`), unless cancelled."""
        return self._reactor.call_at(when, lambda: self.actor_inbox.put(Envelope(message)))

    def tell_after(self, seconds: float, message: object) -> TimerHandle:
        """Tell this actor `message` after `seconds`, unless cancelled."""
        return self.tell_at(self._reactor.now() + seconds, message)

    def forget(self) -> None:
        """Be dead in the child of a fork, where the thread that ran this actor does not exist; changes nothing else."""
        self._ended = True
        self.actor_stopped.set()

    def finish(self, reason: BaseException | None = None) -> None:
        """End now: clean up, report, answer who waits. Only from inside the actor; later calls change nothing."""
        if self._ended:
            return
        self._ended = True
        if reason is not None:
            report("actor_failed", reason, actor=str(self))
        run_contained("actor_cleanup_failed", self.on_end, reason)
        ActorRegistry.unregister(self.actor_ref)
        keep_reason(self.actor_ref, reason)
        self.actor_stopped.set()
        self._inbox.close()
        report_ending(self.supervisor, ActorEnded(self.actor_ref, reason))
        for waiter in self._stop_waiters:
            waiter.set(None)
        self._reactor.actors.discard(self)
        self._reactor.release()

    # --- pykka's seam ---

    @staticmethod
    def _create_actor_inbox() -> ReactorInbox:
        return ReactorInbox()

    @staticmethod
    def _create_future() -> pykka.Future[Any]:
        return pykka.ThreadingFuture()

    def _start_actor_loop(self) -> None:
        inbox = self.actor_inbox
        assert isinstance(inbox, ReactorInbox)
        self._inbox = inbox
        inbox.name = str(self)
        try:
            self._reactor = Reactor.acquire()
        except BaseException:
            ActorRegistry.unregister(self.actor_ref)
            self.actor_stopped.set()
            inbox.close()
            raise
        self._reactor.actors.add(self)
        inbox.bind(self, self._reactor)

    # --- running ---

    def run_messages(self, limit: int) -> bool:
        """Handle up to `limit` messages; the inbox calls it, in one thread at a time."""
        if not self._started:
            self._started = True
            self._contained(self.on_start)
        inbox, accepted = self._inbox, self._accepted
        for _ in range(limit):
            if self._ended or not (inbox.normal or inbox.urgent):
                return False
            envelope = inbox.get()
            if envelope.reply_to is None and type(envelope.message) in accepted:
                self._hear(envelope.message)
            else:
                self._handle(envelope)
        return True

    def hear_now(self, message: object) -> bool:
        """Handle a message that has not gone through the inbox; for the inbox."""
        if not self._started or self._ended or type(message) not in self._accepted:
            return False
        self._hear(message)
        return True

    def _hear(self, message: object) -> None:
        try:
            self.on_message(message)
        except BaseException as error:
            self.finish(error)

    def _handle(self, envelope: Envelope[Any]) -> None:
        message, reply_to = envelope.message, envelope.reply_to
        if isinstance(message, _ActorStop):
            self._handle_stop(reply_to)
        elif not isinstance(message, self.accepts):
            self._decline(message, reply_to)
        elif reply_to is None:
            self._hear(message)
        else:
            self._answer(message, reply_to)

    def _answer(self, message: object, reply_to: pykka.Future[Any]) -> None:
        try:
            reply_to.set(self.on_message(message))
        except Exception as error:
            reply_to.set_exception((type(error), error, error.__traceback__))
        except BaseException as error:
            # Raising SystemExit in the asker would only move the harm to another thread.
            dead = ActorDeadError(f"{self} failed on the message: {error!r}")
            reply_to.set_exception((ActorDeadError, dead, None))
            self.finish(error)

    def _decline(self, message: object, reply_to: pykka.Future[Any] | None) -> None:
        note("unknown_message_ignored", actor=str(self), message=type(message).__name__)
        if reply_to is not None:
            error = TypeError(f"{type(self).__name__} knows no message of type {type(message).__name__}")
            reply_to.set_exception((TypeError, error, None))

    def _handle_stop(self, reply_to: pykka.Future[Any] | None) -> None:
        if reply_to is not None:
            self._stop_waiters.append(reply_to)
        if not self._stopping:
            self._stopping = True
            self._contained(self.stop_requested)

    def _contained(self, function: Callable[[], object]) -> None:
        try:
            function()
        except BaseException as error:
            self.finish(error)


# pykka's registry may be in use by another thread at the moment of a fork, and its lock would be held for ever in the
# child: forks wait for it.
_registry_lock = ActorRegistry._actor_refs_lock
os.register_at_fork(
    before=_registry_lock.acquire, after_in_parent=_registry_lock.release, after_in_child=_registry_lock.release
)
