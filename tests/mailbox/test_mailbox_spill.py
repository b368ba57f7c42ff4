"""What does not fit into memory waits on disk: in order, within bounds, without a trace, and told when it fails."""

from __future__ import annotations

import errno
import os
import random
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_actors.errors import MailboxTimeout, SpillFailed
from claude_actors.mailbox import Mailbox, MailboxLimits, OverflowReport
from claude_actors.mailbox import spill as spill_module
from claude_actors.mailbox.spill_writer import writer_for

DEADLINE = 30.0


def make(reports: list[OverflowReport] | None = None, **limits: Any) -> Mailbox[str]:
    on_overflow = None if reports is None else reports.append
    return Mailbox(bytes.decode, limits=MailboxLimits(**limits), name="box", on_overflow=on_overflow)


def lines(count: int, start: int = 0) -> list[bytes]:
    return [str(number).encode() for number in range(start, start + count)]


def texts(count: int, start: int = 0) -> list[str]:
    return [line.decode() for line in lines(count, start)]


def written(directory: Path | None = None) -> None:
    """Wait until the disk has taken everything so far, and what has been read is closed."""
    done = threading.Event()
    writer_for(None if directory is None else str(directory)).submit(done.set)
    assert done.wait(DEADLINE)


def kinds(reports: list[OverflowReport]) -> list[str]:
    return [report.kind for report in reports]


def test_what_does_not_fit_goes_to_disk_and_comes_back_in_order() -> None:
    reports: list[OverflowReport] = []
    mailbox = make(reports, max_items=10)
    mailbox.put_many(lines(1000))
    counts = mailbox.counts()
    assert (counts.waiting, counts.spilled_items, counts.memory_bytes) == (1000, 990, 10)
    mailbox.close()
    assert list(mailbox) == texts(1000)
    assert kinds(reports) == ["spilling", "drained"]
    assert mailbox.counts().dropped == mailbox.counts().refused == 0


def test_bytes_bound_a_mailbox_as_items_do() -> None:
    mailbox = make(max_bytes=100)
    for _ in range(10):
        mailbox.put(b"x" * 40)
    assert mailbox.counts().memory_bytes == 80
    mailbox.close()
    assert [len(text) for text in mailbox] == [40] * 10


def test_an_item_larger_than_the_bound_is_taken_in_when_there_is_nothing_else() -> None:
    mailbox = make(max_bytes=10)
    mailbox.put(b"x" * 1000)
    assert mailbox.counts().memory_bytes == 1000
    mailbox.put(b"y")
    assert mailbox.counts().spilled_items == 1
    assert (mailbox.get(0), mailbox.get(0)) == ("x" * 1000, "y")


def test_new_items_wait_behind_the_spilled_ones_and_memory_is_used_again_after_them() -> None:
    reports: list[OverflowReport] = []
    mailbox = make(reports, max_items=5)
    mailbox.put_many(lines(8))
    assert [mailbox.get(0) for _ in range(4)] == texts(4)
    mailbox.put_many(lines(2, 8))
    assert [mailbox.get(0) for _ in range(6)] == texts(6, 4)
    with pytest.raises(MailboxTimeout):
        mailbox.get(0)
    mailbox.put_many(lines(5))
    assert mailbox.counts().spilled_items == 0
    mailbox.put_many(lines(5, 5))
    assert mailbox.counts().spilled_items == 5
    assert [mailbox.get(0) for _ in range(10)] == texts(10)
    assert kinds(reports)[:3] == ["spilling", "drained", "spilling"]


def test_the_files_have_no_name_and_are_closed_as_soon_as_they_are_read(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    mailbox = make(max_items=10, spill_directory=str(tmp_path))
    mailbox.put_many([b"x" * 1000] * 5000)
    written(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) > before
    mailbox.close()
    assert len(list(mailbox)) == 5000
    written(tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_long_backlog_is_cut_into_files_that_are_freed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill_module, "SEGMENT_BYTES", 10_000)
    monkeypatch.setattr(spill_module, "CHUNK_BYTES", 1_000)
    before = len(os.listdir("/proc/self/fd"))
    mailbox = make(max_items=1)
    mailbox.put_many([b"x" * 100] * 1000)
    written()
    files = len(os.listdir("/proc/self/fd")) - before
    assert files >= 9
    for _ in range(500):
        mailbox.get(0)
    written()
    assert 0 < len(os.listdir("/proc/self/fd")) - before < files
    mailbox.discard()
    written()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_full_disk_is_told_once_and_what_was_kept_is_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[OverflowReport] = []
    mailbox = make(reports, max_items=2)
    mailbox.put_many(lines(2))

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    for number in range(20_000):
        mailbox.put(str(number + 2).encode())
        if number == 10_000:
            written()
    monkeypatch.undo()
    assert kinds(reports) == ["spilling", "spill_failed"]
    assert isinstance(reports[-1].error, SpillFailed)
    counts = mailbox.counts()
    assert counts.refused > 0
    mailbox.close()
    kept: list[str] = []
    with pytest.raises(SpillFailed):
        kept.extend(iter(mailbox))
    assert kept == texts(len(kept))
    assert len(kept) + counts.refused == 20_002


def test_a_bound_on_the_disk_is_kept_and_told() -> None:
    reports: list[OverflowReport] = []
    mailbox = make(reports, max_items=1, max_spill_bytes=1000)
    mailbox.put_many([b"x" * 100] * 50)
    assert mailbox.counts().spilled_bytes <= 1000
    assert kinds(reports) == ["spilling", "spill_failed"]
    assert "max_spill_bytes" in str(reports[-1].error)
    assert mailbox.counts().waiting == 11
    assert mailbox.counts().refused == 39


def test_a_directory_that_cannot_be_written_is_a_failed_spill_and_no_exception(tmp_path: Path) -> None:
    reports: list[OverflowReport] = []
    mailbox = make(reports, max_items=1, max_bytes=100, spill_directory=str(tmp_path / "nowhere"))
    for _ in range(10):
        mailbox.put(b"x" * 60)
        written(tmp_path / "nowhere")
    assert kinds(reports) == ["spilling", "spill_failed"]


def test_a_spill_that_cannot_be_read_back_raises_and_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    mailbox = make(max_items=1)
    mailbox.put_many([b"x" * 100_000] * 10)
    written()

    def broken(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    assert len(mailbox.get(0)) == 100_000
    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", broken)
        with pytest.raises(SpillFailed):
            mailbox.get(0)
    assert [len(mailbox.get(0)) for _ in range(9)] == [100_000] * 9


def test_a_last_item_comes_after_everything_that_was_spilled() -> None:
    mailbox = make(max_items=2)
    mailbox.put_many(lines(100))
    mailbox.put_last(b"last")
    mailbox.put(b"too late")
    assert list(mailbox) == [*texts(100), "last"]
    assert mailbox.counts().refused == 1


@given(
    steps=st.lists(st.one_of(st.integers(1, 40), st.integers(-40, -1), st.just(0)), max_size=30),
    max_items=st.integers(1, 20),
)
def test_whatever_the_order_of_puts_and_gets_nothing_is_lost_or_swapped(steps: list[int], max_items: int) -> None:
    mailbox, put, got = make(max_items=max_items), 0, list[str]()
    for step in steps:
        if step == 0:
            written()
        elif step > 0:
            mailbox.put_many(lines(step, put))
            put += step
        else:
            for _ in range(min(-step, len(mailbox))):
                got.append(mailbox.get(0))
        counts = mailbox.counts()
        assert counts.put == counts.waiting + counts.taken == put
        assert len(mailbox) - counts.spilled_items <= max(max_items, spill_module.CHUNK_ITEMS)
    mailbox.close()
    got += list(mailbox)
    assert got == texts(put)


def test_producers_and_consumers_at_once_lose_nothing_through_the_spill() -> None:
    mailbox = make(max_items=20)
    taken: list[list[int]] = [[] for _ in range(3)]

    def produce(start: int) -> None:
        chance = random.Random(start)
        number = start
        while number < start + 3000:
            count = min(chance.randrange(1, 50), start + 3000 - number)
            mailbox.put_many(lines(count, number))
            number += count

    def consume(numbers: list[int]) -> None:
        numbers.extend(int(text) for text in mailbox)

    consumers = [threading.Thread(target=consume, args=(numbers,)) for numbers in taken]
    producers = [threading.Thread(target=produce, args=(start,)) for start in (0, 10_000, 20_000)]
    for thread in (*consumers, *producers):
        thread.start()
    for thread in producers:
        thread.join(DEADLINE)
    mailbox.close()
    for thread in consumers:
        thread.join(DEADLINE)
    everything = sorted(number for numbers in taken for number in numbers)
    assert everything == [*range(3000), *range(10_000, 13_000), *range(20_000, 23_000)]
    for numbers in taken:
        for start in (0, 10_000, 20_000):
            own = [number for number in numbers if start <= number < start + 3000]
            assert own == sorted(own)
