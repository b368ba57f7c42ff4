"""The inbox of a reactor actor: two lanes, one runner at a time, and an answer for what comes too late.

It decides who may run the actor now; what a message means is the actor's business. pykka's `tell` and `ask` use it as
any other inbox.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import cache
from typing import Any, Final, Protocol

from pykka import ActorDeadError
from pykka._envelope import Envelope
from pykka.messages import _ActorStop

from claude_actors.actors.contained import note
from claude_actors.actors.here import HERE, Runnable
from claude_actors.actors.reactor import Reactor

MESSAGES_A_SLICE: Final = 64
# A thread that delivers inline has its own work to go back to; what is left then goes to the reactor.
_INLINE_SLICES: Final = 32


class InboxOwner(Protocol):
    """The actor, as its inbox sees it."""

    def run_messages(self, limit: int) -> bool:
        """Handle up to `limit` messages; tell whether the limit ended it."""
        ...

    def hear_now(self, message: object) -> bool:
        """Handle this message; False, with nothing done, if it must go through the inbox."""
        ...

    @property
    def rescue(self) -> Callable[[object], bool] | None:
        """Takes care of a told message that nobody will handle here; False lets it go. Any thread."""
        ...


@cache
def is_urgent(kind: type) -> bool:
    """Tell whether messages of a class overtake the backlog: stop, and every class that says `urgent = True`."""
    return getattr(kind, "urgent", False) is True or issubclass(kind, _ActorStop)


class ReactorInbox:
    """Holds envelopes until a thread runs the actor; `put` never blocks and is safe in signal handlers."""

    def __init__(self) -> None:
        self.urgent: deque[Envelope[Any]] = deque()
        self.normal: deque[Envelope[Any]] = deque()
        self._running = threading.Lock()
        self._reactor: Reactor | None = None
        self._owner: InboxOwner | None = None
        self._rescue: Callable[[object], bool] | None = None
        self._closed = False
        self.name = ""
        self.rejected = 0

    # --- pykka's side ---

    def put(self, envelope: Envelope[Any], /) -> None:
        """Queue a message and see to it that somebody runs the actor."""
        if self.add(envelope) and self._reactor is not None:
            self._reactor.make_ready(self)

    def get(self) -> Envelope[Any]:
        """Take the next message; raises IndexError if there is none."""
        return self.urgent.popleft() if self.urgent else self.normal.popleft()

    def empty(self) -> bool:
        """Tell whether no message waits."""
        return not self.urgent and not self.normal

    def qsize(self) -> int:
        """Count the messages that wait."""
        return len(self.urgent) + len(self.normal)

    # --- the actor's side ---

    def bind(self, owner: InboxOwner, reactor: Reactor) -> None:
        """Let the actor run from now on, first with what was put before."""
        self._owner, self._reactor = owner, reactor
        self._rescue = owner.rescue
        reactor.hand_over(self)

    def add(self, envelope: Envelope[Any]) -> bool:
        """Queue without waking anybody; False if the actor has ended, and then the envelope is answered so."""
        (self.urgent if is_urgent(envelope.message.__class__) else self.normal).append(envelope)
        # Checked after the append: either we see the end here, or the end sees the envelope.
        if self._closed:
            self._reject_all()
            return False
        return True

    def close(self) -> None:
        """Answer everything that waits, and all that still comes, as sent to a dead actor."""
        self._closed = True
        self._owner = None
        self._reject_all()

    def run_slice(self) -> None:
        """Run the actor for a bounded number of messages, unless another thread is running it."""
        # Who finds it running need not come back: the runner looks again after it has let go.
        while self._running.acquire(False):
            try:
                owner = self._owner
                more = owner is not None and owner.run_messages(MESSAGES_A_SLICE)
            finally:
                self._running.release()
            if not (self.normal or self.urgent) or self._owner is None:
                return
            if more and self._reactor is not None:
                self._reactor.make_ready(self)
                return

    def hear_now(self, message: object) -> bool:
        """Have the actor handle a message before this returns; False if it is busy or this thread runs no actors.

        What the message would wait behind makes the actor busy, so nothing is overtaken. It saves the way through the
        inbox and the queue of ready actors, which is most of the cost of a message.
        """
        if HERE.ready is None or self.normal or self.urgent or not self._running.acquire(False):
            return False
        try:
            owner = self._owner
            heard = owner is not None and owner.hear_now(message)
        finally:
            self._running.release()
        if self.normal or self.urgent:
            self.schedule()
        return heard

    def run_inline(self, message: object) -> None:
        """Have the actor handle a message in this thread, and then run the actors that it told, bounded."""
        if HERE.ready is not None or self._reactor is None:
            self.put(Envelope(message))
            return
        HERE.ready = ready = OrderedDict[Runnable, None]()
        try:
            if not self.hear_now(message) and self.add(Envelope(message)):
                self.run_slice()
            for _ in range(_INLINE_SLICES):
                if not ready:
                    break
                ready.popitem(last=False)[0].run_slice()
        finally:
            HERE.ready = None
            for runnable in ready:
                self._reactor.hand_over(runnable)

    def schedule(self) -> None:
        """Queue the actor to be run."""
        if self._reactor is not None:
            self._reactor.make_ready(self)

    def _reject_all(self) -> None:
        while True:
            try:
                envelope = self.get()
            except IndexError:
                return
            self._reject(envelope)

    def _reject(self, envelope: Envelope[Any]) -> None:
        if envelope.reply_to is None:
            if self._rescue is not None and self._rescue(envelope.message):
                return
            self.rejected += 1
            note("dead_letter_dropped", actor=self.name, message=type(envelope.message).__name__)
        elif isinstance(envelope.message, _ActorStop):
            envelope.reply_to.set(None)
        else:
            error = ActorDeadError(f"{self.name} ended before it handled the message")
            envelope.reply_to.set_exception((ActorDeadError, error, None))
