"""Waiting for several mailboxes at once, in a thread or a coroutine, without polling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, overload

from claude_actors.mailbox.mailbox import Mailbox
from claude_actors.mailbox.waiting import TaskWaiter, ThreadWaiter, Waiter, deadline_after, remaining


class Waitable(Protocol):
    """What can be waited for beside others: a mailbox, or something that happens once."""

    @property
    def ready(self) -> bool:
        """Whether there is nothing to wait for."""
        ...

    def join(self, waiter: Waiter) -> None:
        """Let the waiter be woken when it may be `ready`."""
        ...

    def leave(self, waiter: Waiter) -> None:
        """Wait no more."""
        ...


@overload
def select(mailboxes: Sequence[Mailbox[Any]], timeout: float | None = None) -> Mailbox[Any] | None: ...


@overload
def select(mailboxes: Sequence[Waitable], timeout: float | None = None) -> Waitable | None: ...


def select(mailboxes: Sequence[Waitable], timeout: float | None = None) -> Waitable | None:
    """Block until a mailbox has an item or is closed and return it, the first in the given order; None if time is up.

    Takes nothing: with several consumers another may be faster, so `get(timeout=0)` can still find it empty. A closed
    mailbox is always ready, so leave it out once its end was seen. Without mailboxes there is nothing to wait for.
    """
    deadline = deadline_after(timeout)
    while mailboxes:
        waiter = ThreadWaiter()
        with _joined(mailboxes, waiter):
            if (ready := _first_ready(mailboxes)) is not None:
                return ready
            if not waiter.wait(remaining(deadline)):
                return None
    return None


@overload
async def aselect(mailboxes: Sequence[Mailbox[Any]], timeout: float | None = None) -> Mailbox[Any] | None: ...


@overload
async def aselect(mailboxes: Sequence[Waitable], timeout: float | None = None) -> Waitable | None: ...


async def aselect(mailboxes: Sequence[Waitable], timeout: float | None = None) -> Waitable | None:
    """Do as `select()` does, suspending the coroutine. Cancelling it leaves nothing behind."""
    deadline = deadline_after(timeout)
    while mailboxes:
        waiter = TaskWaiter()
        with _joined(mailboxes, waiter):
            if (ready := _first_ready(mailboxes)) is not None:
                return ready
            if not await waiter.wait(remaining(deadline)):
                return None
    return None


def _first_ready(mailboxes: Sequence[Waitable]) -> Waitable | None:
    return next((mailbox for mailbox in mailboxes if mailbox.ready), None)


@contextmanager
def _joined(mailboxes: Sequence[Waitable], waiter: Waiter) -> Iterator[None]:
    try:
        for mailbox in mailboxes:
            mailbox.join(waiter)
        yield
    finally:
        for mailbox in mailboxes:
            mailbox.leave(waiter)
