"""A full mailbox that does not spill: the oldest are dropped and counted, or it refuses loudly."""

from __future__ import annotations

from typing import Any

import pytest

from claude_actors.errors import MailboxOverflow
from claude_actors.mailbox import Mailbox, MailboxLimits, Overflow, OverflowReport


def make(overflow: Overflow, reports: list[OverflowReport] | None = None, **limits: Any) -> Mailbox[str]:
    on_overflow = None if reports is None else reports.append
    return Mailbox(bytes.decode, limits=MailboxLimits(**limits), overflow=overflow, name="box", on_overflow=on_overflow)


def lines(count: int, start: int = 0) -> list[bytes]:
    return [str(number).encode() for number in range(start, start + count)]


def texts(count: int, start: int = 0) -> list[str]:
    return [line.decode() for line in lines(count, start)]


def kinds(reports: list[OverflowReport]) -> list[str]:
    return [report.kind for report in reports]


# --- drop_oldest ---


def test_the_oldest_are_dropped_counted_and_told_in_doubling_steps() -> None:
    reports: list[OverflowReport] = []
    mailbox = make("drop_oldest", reports, max_items=10)
    for line in lines(100):
        mailbox.put(line)
    assert [report.dropped for report in reports] == [1, 2, 4, 8, 16, 32, 64]
    assert set(kinds(reports)) == {"dropping"}
    assert mailbox.counts().dropped == 90
    mailbox.close()
    assert list(mailbox) == texts(10, 90)


def test_a_batch_larger_than_the_mailbox_leaves_its_newest() -> None:
    mailbox = make("drop_oldest", max_items=10, max_bytes=25)
    mailbox.put_many(lines(10))
    mailbox.put_many(lines(100, 100))
    mailbox.close()
    assert list(mailbox) == texts(8, 192)
    counts = mailbox.counts()
    assert (counts.put, counts.dropped, counts.taken) == (110, 102, 8)


# --- fail ---


def test_a_mailbox_that_must_not_overflow_refuses_loudly_from_then_on() -> None:
    reports: list[OverflowReport] = []
    mailbox = make("fail", reports, max_items=3)
    mailbox.put_many(lines(5))
    mailbox.put_many(lines(5, 5))
    (report,) = reports
    assert report.kind == "refusing"
    assert isinstance(report.error, MailboxOverflow)
    assert report.error.limits["max_items"] == 3
    assert mailbox.counts().refused == 7
    # Also when there is room again: what was refused is missing, and nobody shall think that it is not.
    assert [mailbox.get(0) for _ in range(3)] == texts(3)
    mailbox.put(b"late")
    assert len(mailbox) == 0
    mailbox.put_last(b"last", report.error)
    assert mailbox.get(0) == "last"
    with pytest.raises(MailboxOverflow):
        list(mailbox)


def test_a_mailbox_that_has_refused_items_never_ends_as_if_nothing_were_missing() -> None:
    refusing, told = make("fail", None, max_items=3), make("fail", None, max_items=3)
    for mailbox in (refusing, told):
        mailbox.put_many(lines(5))
    refusing.close()
    told.close(KeyError("of the source"))
    assert [refusing.get(0) for _ in range(3)] == texts(3)
    with pytest.raises(MailboxOverflow):
        list(refusing)
    with pytest.raises(KeyError):
        list(told)


# --- reports ---


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_a_callback_that_raises_disturbs_no_producer(error: type[BaseException]) -> None:
    def raises(report: OverflowReport) -> None:
        raise error

    mailbox: Mailbox[Any] = Mailbox(None, limits=MailboxLimits(max_items=1), overflow="fail", on_overflow=raises)
    mailbox.put_many([1, 2, 3])
    assert mailbox.counts().refused == 2


def test_a_callback_may_use_the_mailbox_itself() -> None:
    seen: list[str] = []

    def look(report: OverflowReport) -> None:
        seen.append(report.kind)
        mailbox.put(b"from the callback")
        mailbox.counts()

    mailbox: Mailbox[str] = Mailbox(bytes.decode, limits=MailboxLimits(max_items=2), on_overflow=look)
    mailbox.put_many(lines(3))
    assert seen == ["spilling"]
    mailbox.close()
    assert list(mailbox) == [*texts(3), "from the callback"]
