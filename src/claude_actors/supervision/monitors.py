"""monitor(): hear once that an actor, a session or a supervisor has ended, and why."""

from __future__ import annotations

from typing import Any

import msgspec
import pykka
from pykka import ActorDeadError

from claude_actors.errors import InvalidOptions
from claude_actors.mailbox import Mailbox
from claude_actors.supervision.children import Child, child_of
from claude_actors.supervision.names import NamedRef


class Down(msgspec.Struct, frozen=True):
    """`ref` is no more: `reason` is None for a normal end or a stop, else what it failed with."""

    ref: Any
    reason: BaseException | None = None


class Monitor:
    """Waits for one end. Without another receiver its Down is in `mailbox`, which is closed behind it."""

    def __init__(self, ref: Any, child: Child, to: Mailbox[Down] | pykka.ActorRef[Any] | None) -> None:
        self.ref = ref
        self.mailbox: Mailbox[Down] = Mailbox(overflow="fail", name="down")
        self._to = to
        self._child = child
        child.when_ended(self._ended)

    def get(self, timeout: float | None = None) -> Down:
        """Block until the end; raises MailboxTimeout, or MailboxClosed after `cancel()` and if it went elsewhere."""
        return self.mailbox.get(timeout)

    def cancel(self) -> None:
        """Want no Down any more; one that is on its way may still come. Idempotent, any thread."""
        self._child.forget()
        self.mailbox.close()

    def _ended(self, reason: BaseException | None) -> None:
        down = Down(self.ref, reason)
        if self._to is None:
            self.mailbox.put_last(down)
            return
        self.mailbox.close()
        if isinstance(self._to, Mailbox):
            self._to.put(down)
            return
        try:
            self._to.tell(down)
        except ActorDeadError:
            return


def monitor(ref: Any, to: Mailbox[Down] | pykka.ActorRef[Any] | None = None) -> Monitor:
    """Have one `Down(ref, reason)` delivered when `ref` ends, at once if it has ended already.

    `ref` is any pykka ActorRef or proxy, a Session, a Supervisor, or a NamedRef (its present incarnation). `to` is a
    mailbox or an actor; without it the Down is in the monitor's own `mailbox`. Any thread; never blocks.
    """
    if to is not None and not isinstance(to, Mailbox | pykka.ActorRef):
        raise InvalidOptions(f"monitor: a Down goes to a Mailbox or an ActorRef, not to a {type(to).__name__}")
    target = ref.current() if isinstance(ref, NamedRef) else ref
    return Monitor(target, child_of(target), to)
