"""Where a session can deliver to: a mailbox, or a pykka actor by `tell`.

An actor's inbox has no bound of its own, so the sink sets one and says what it left out. Messages are decoded in the
actor's thread, when it looks at them: the thread that delivers is the one that serves every session's callbacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import msgspec
import pykka

from claude_actors.errors import NotSupported

T = TypeVar("T")


class Sink(Protocol):
    """What a session needs of a subscriber. Called from one thread at a time; nothing here may block or raise."""

    @property
    def closed(self) -> bool:
        """Whether it wants nothing more, so that it can be unsubscribed."""
        ...

    def put_many(self, items: Sequence[Any]) -> None:
        """Take in items in order."""
        ...

    def put_last(self, item: Any) -> None:
        """Take in one item that no bound may keep out, and learn that nothing more will come."""
        ...

    def close(self, error: BaseException | None = None) -> None:
        """Learn that nothing more will come, and the failure that is the reason, if one is."""
        ...


class Delivered(Generic[T]):
    """Tell an actor of one message: `source` is what was subscribed to, `message` is decoded when first looked at."""

    __slots__ = ("_decode", "_item", "source")
    __match_args__ = ("source", "message")

    def __init__(self, source: Any, item: Any, decode: Callable[[Any], T] | None) -> None:
        self.source, self._item, self._decode = source, item, decode

    @property
    def message(self) -> T:
        if self._decode is not None:
            self._item, self._decode = self._decode(self._item), None
        message: T = self._item
        return message

    def __repr__(self) -> str:
        return f"Delivered({self.source!r}, {self.message!r})"


class DeliverySkipped(msgspec.Struct, frozen=True):
    """Tell an actor that `count` messages were left out here, because its inbox was full."""

    source: Any
    count: int


class DeliveryEnded(msgspec.Struct, frozen=True):
    """Tell an actor that nothing more will come from `source`; `error` if it failed and no item has told so."""

    source: Any
    error: BaseException | None


class ActorSink:
    """Deliver to a pykka actor: `Delivered` for each item, `DeliverySkipped` for a gap, at last `DeliveryEnded`.

    While `max_in_flight` messages (of anybody) wait in the actor's inbox, new items are left out and counted in
    `skipped`; nothing that waits can be taken back. The gap is told in its place, with the next delivery. A dead actor
    closes the sink; what it did not get is counted in `undelivered`. `decode=None` delivers items as they are.
    Raises NotSupported for an inbox whose size cannot be asked, or whose `put` could block.
    """

    def __init__(
        self,
        ref: pykka.ActorRef[Any],
        decode: Callable[[Any], object] | None = None,
        *,
        source: Any = None,
        max_in_flight: int = 10_000,
    ) -> None:
        self._ref, self._decode, self._source, self._max_in_flight = ref, decode, source, max_in_flight
        inbox_size = getattr(ref.actor_inbox, "qsize", None)
        if inbox_size is None:
            raise NotSupported(f"the inbox of {ref} cannot be counted, so deliveries to it could not be bounded")
        if getattr(ref.actor_inbox, "maxsize", 0) > 0:
            raise NotSupported(f"the inbox of {ref} blocks when it is full: set max_in_flight instead of its maxsize")
        self._inbox_size: Callable[[], int] = inbox_size
        self._gap = 0
        self.closed = False
        self.skipped = 0
        self.undelivered = 0

    def put_many(self, items: Sequence[Any]) -> None:
        """Tell the actor of each item that its inbox has room for. Never blocks, never raises."""
        told = items[: max(0, self._max_in_flight - self._inbox_size())]
        if told:
            self._tell_gap()
        for item in told:
            if not self._tell(Delivered(self._source, item, self._decode)):
                self.undelivered += 1
        self._gap += len(items) - len(told)
        self.skipped += len(items) - len(told)

    def put_last(self, item: Any) -> None:
        """Tell the actor of the last item and of the end, whatever waits in its inbox."""
        self._tell_gap()
        if not self._tell(Delivered(self._source, item, self._decode)):
            self.undelivered += 1
        self.close()

    def close(self, error: BaseException | None = None) -> None:
        """Tell the actor of the end, whatever waits in its inbox. Only the first close counts."""
        self._tell_gap()
        self._tell(DeliveryEnded(self._source, error))
        self.closed = True

    def _tell_gap(self) -> None:
        if self._gap:
            self._tell(DeliverySkipped(self._source, self._gap))
            self._gap = 0

    def _tell(self, message: object) -> bool:
        if self.closed:
            return False
        try:
            self._ref.tell(message)
        except pykka.ActorDeadError:
            self.closed = True
        return not self.closed
