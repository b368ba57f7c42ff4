"""Waiting for several mailboxes at once, in a thread or a coroutine, without polling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from claude_actors.mailbox.mailbox import Mailbox
from claude_actors.mailbox.waiting import TaskWaiter, ThreadWaiter, Waiter, deadline_after, remaining


def select(mailboxes: Sequence[Mailbox[Any]], timeout: float | None = None) -> Mailbox[Any] | None:
    """Wait until a mailbox has an item or is closed and return it, the first in the given order; None when time is up.

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


async def aselect(mailboxes: Sequence[Mailbox[Any]], timeout: float | None = None) -> Mailbox[Any] | None:
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


def _first_ready(mailboxes: Sequence[Mailbox[Any]]) -> Mailbox[Any] | None:
    return next((mailbox for mailbox in mailboxes if mailbox.ready), None)


@contextmanager
def _joined(mailboxes: Sequence[Mailbox[Any]], waiter: Waiter) -> Iterator[None]:
    try:
        for mailbox in mailboxes:
            mailbox.join(waiter)
        yield
    finally:
        for mailbox in mailboxes:
            mailbox.leave(waiter)
