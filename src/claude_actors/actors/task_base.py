"""The base of actors that run user code in a thread of their own.

Whatever the code raises, SystemExit and KeyboardInterrupt too, stays in this actor and becomes the reason of its one
ending report. Threads are daemons: a callback that never returns must not hold up the interpreter's exit.
"""

from __future__ import annotations

import queue
from typing import Any

import pykka
from pykka import ActorDeadError, ActorRegistry
from pykka._envelope import Envelope
from pykka.messages import _ActorStop

from claude_actors.actors.base import ActorEnded, Supervisor, report_ending
from claude_actors.actors.contained import note, report, run_contained
from claude_actors.actors.endings import keep_reason


class TaskInbox:
    """A SimpleQueue that answers what comes after the end."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Envelope[Any]] = queue.SimpleQueue()
        self._closed = False
        self.rejected = 0

    def put(self, envelope: Envelope[Any], /) -> None:
        """Queue a message; any thread."""
        self._queue.put(envelope)
        if self._closed:
            self._reject_all()

    def get(self) -> Envelope[Any]:
        """Wait for the next message."""
        return self._queue.get()

    def empty(self) -> bool:
        """Tell whether no message waits."""
        return self._queue.empty()

    def qsize(self) -> int:
        """Count the messages that wait."""
        return self._queue.qsize()

    def close(self) -> None:
        """Answer everything that waits, and all that still comes, as sent to a dead actor."""
        self._closed = True
        self._reject_all()

    def _reject_all(self) -> None:
        while True:
            try:
                envelope = self._queue.get_nowait()
            except queue.Empty:
                return
            self._reject(envelope)

    def _reject(self, envelope: Envelope[Any]) -> None:
        if envelope.reply_to is None:
            self.rejected += 1
            note("dead_letter_dropped", message=type(envelope.message).__name__)
        elif isinstance(envelope.message, _ActorStop):
            envelope.reply_to.set(None)
        else:
            error = ActorDeadError("the actor ended before it handled the message")
            envelope.reply_to.set_exception((ActorDeadError, error, None))


class TaskActor(pykka.ThreadingActor):
    """Override `on_start`, `on_message` and `on_end`; everything runs in this actor's own thread.

    An exception from `on_start` or a told message ends the actor with that reason; one from an asked message goes to
    the asker and the actor lives on.
    """

    use_daemon_thread = True

    def __init__(self, *, supervisor: Supervisor = None) -> None:
        super().__init__()
        self.supervisor = supervisor

    def on_message(self, message: Any) -> Any:
        """Handle one message; the returned value answers an `ask`."""
        raise NotImplementedError

    def on_end(self, reason: BaseException | None) -> None:
        """Clean up; runs exactly once, at every kind of end, before it is reported."""

    @staticmethod
    def _create_actor_inbox() -> TaskInbox:
        return TaskInbox()

    def _start_actor_loop(self) -> None:
        try:
            super()._start_actor_loop()
        except BaseException:
            # No thread to be had. pykka would leave it registered, and a stop_all() would wait for it for ever.
            ActorRegistry.unregister(self.actor_ref)
            self.actor_stopped.set()
            self._close_inbox()
            raise

    def _actor_loop(self) -> None:
        reason: BaseException | None = None
        stop_waiter: pykka.Future[Any] | None = None
        try:
            self.on_start()
            stop_waiter = self._run_messages()
        except BaseException as error:
            reason = error
            report("task_actor_failed", error, actor=str(self))
        self._end(reason)
        if stop_waiter is not None:
            stop_waiter.set(None)

    def _run_messages(self) -> pykka.Future[Any] | None:
        while True:
            envelope = self.actor_inbox.get()
            if isinstance(envelope.message, _ActorStop):
                return envelope.reply_to
            if envelope.reply_to is None:
                self.on_message(envelope.message)
            else:
                self._answer(envelope.message, envelope.reply_to)

    def _answer(self, message: object, reply_to: pykka.Future[Any]) -> None:
        try:
            reply_to.set(self.on_message(message))
        except Exception as error:
            reply_to.set_exception((type(error), error, error.__traceback__))
        except BaseException as error:
            # Raising SystemExit in the asker would only move the harm to another thread.
            dead = ActorDeadError(f"{self} failed on the message: {error!r}")
            reply_to.set_exception((ActorDeadError, dead, None))
            raise

    def _end(self, reason: BaseException | None) -> None:
        run_contained("task_actor_cleanup_failed", self.on_end, reason)
        ActorRegistry.unregister(self.actor_ref)
        keep_reason(self.actor_ref, reason)
        self.actor_stopped.set()
        self._close_inbox()
        report_ending(self.supervisor, ActorEnded(self.actor_ref, reason))

    def _close_inbox(self) -> None:
        inbox = self.actor_inbox
        assert isinstance(inbox, TaskInbox)
        inbox.close()
