"""A disk that is slow, hangs or fails late: nobody who puts waits for it, readers read on, and memory stays bounded."""

from __future__ import annotations

import errno
import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.leaks import alive_threads, wait_until
from support.slow_disk import HungDisk, hung_disk

from claude_actors.errors import SpillFailed
from claude_actors.mailbox import Mailbox, MailboxLimits, OverflowReport
from claude_actors.mailbox import spill as spill_module
from claude_actors.mailbox.spill_writer import SpillWriter, writer_for

DEADLINE = 30.0
KIB, MIB = 1024, 1024 * 1024


@pytest.fixture
def small_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill_module, "MOST_UNWRITTEN", 8 * MIB)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[HungDisk]:
    with hung_disk(monkeypatch) as disk:
        yield disk


def make(reports: list[OverflowReport] | None = None, **limits: Any) -> Mailbox[bytes]:
    on_overflow = None if reports is None else reports.append
    return Mailbox(bytes, limits=MailboxLimits(**limits), name="box", on_overflow=on_overflow)


def items(count: int, start: int = 0, size: int = KIB) -> list[bytes]:
    return [str(number).encode().rjust(size) for number in range(start, start + count)]


def kept_by(mailbox: Mailbox[bytes]) -> list[bytes]:
    """Take what a mailbox still has whose spill has failed."""
    kept: list[bytes] = []
    with pytest.raises(SpillFailed):
        kept.extend(iter(mailbox))
    return kept


def put_each(mailbox: Mailbox[bytes], many: list[bytes]) -> None:
    for item in many:
        mailbox.put(item)


def test_what_a_hung_disk_has_not_taken_is_read_from_memory_in_order(disk: HungDisk) -> None:
    mailbox = make(max_items=10)
    put_each(mailbox, items(2000))
    disk.hangs()
    assert [mailbox.get(0) for _ in range(1500)] == items(1500)
    put_each(mailbox, items(1000, 2000))
    assert [mailbox.get(0) for _ in range(1500)] == items(1500, 1500)
    assert mailbox.counts().refused == mailbox.counts().waiting == 0
    disk.goes_on()
    put_each(mailbox, items(2000))
    mailbox.close()
    assert list(mailbox) == items(2000)


def test_a_write_that_ends_after_a_part_of_it_was_read_leaves_the_rest_on_disk_in_order(disk: HungDisk) -> None:
    mailbox = make(max_items=10)
    put_each(mailbox, items(100))
    disk.hangs()  # with the first chunk
    put_each(mailbox, items(100, 100))
    disk.goes_on(once=True)
    disk.hangs()  # with all the others
    assert [mailbox.get(0) for _ in range(55)] == items(55)
    disk.goes_on()
    disk.is_idle()
    assert mailbox._store._spill.segments
    mailbox.close()
    assert list(mailbox) == items(145, 55)


@pytest.mark.usefixtures("small_bound")
def test_more_than_may_wait_for_a_hung_disk_fails_the_mailbox_loudly_and_what_it_took_in_is_delivered(
    disk: HungDisk,
) -> None:
    reports: list[OverflowReport] = []
    mailbox = make(reports, max_items=10, max_bytes=MIB)
    put_each(mailbox, items(20_000))
    disk.hangs()
    assert [report.kind for report in reports] == ["spilling", "spill_failed"]
    assert isinstance(reports[-1].error, SpillFailed)
    assert "disk" in str(reports[-1].error)
    counts = mailbox.counts()
    # What may wait, and up to two chunks that came after the last look.
    assert 7 * MIB < counts.spilled_bytes <= spill_module.MOST_UNWRITTEN + 2 * spill_module.CHUNK_BYTES
    assert counts.put + counts.refused == 20_000
    mailbox.close()
    assert kept_by(mailbox) == items(counts.put)


def test_a_hung_disk_holds_up_no_mailbox_that_spills_elsewhere(disk: HungDisk, tmp_path: Path) -> None:
    hung, other = make(max_items=10), make(max_items=10, spill_directory=str(tmp_path))
    put_each(hung, items(1000))
    disk.hangs()
    disk.spare(tmp_path)
    put_each(other, items(20_000))
    assert wait_until(lambda: other._store._spill.segments)
    other.close()
    assert list(other) == items(20_000)


def test_what_hung_is_written_when_the_disk_comes_back_and_memory_is_free_again(disk: HungDisk) -> None:
    mailbox = make(max_items=10, max_bytes=MIB)
    put_each(mailbox, items(5000))
    disk.hangs()
    assert mailbox._store._spill.unwritten_bytes > 4 * MIB
    disk.goes_on()
    disk.is_idle()
    assert mailbox._store._spill.unwritten_bytes == 0
    put_each(mailbox, items(5000, 5000))
    mailbox.close()
    assert list(mailbox) == items(10_000)


def test_a_disk_that_fails_late_is_told_with_the_first_item_that_is_lost(disk: HungDisk) -> None:
    reports: list[OverflowReport] = []
    mailbox = make(reports, max_items=10)
    put_each(mailbox, items(1000))
    disk.hangs()
    disk.goes_on(OSError(errno.ENOSPC, "No space left on device"))
    disk.is_idle()
    assert [report.kind for report in reports] == ["spilling"]
    mailbox.put(b"one more")
    assert [report.kind for report in reports] == ["spilling", "spill_failed"]
    assert "No space left" in str(reports[-1].error)
    mailbox.close()
    assert kept_by(mailbox) == items(1000)


@pytest.mark.parametrize("reads", [False, True])
def test_a_mailbox_is_discarded_at_once_though_the_disk_hangs(disk: HungDisk, reads: bool) -> None:
    mailbox = make(max_items=10)
    put_each(mailbox, items(1000))
    reader = threading.Thread(target=lambda: list(mailbox))
    if reads:
        disk.goes_on()
        disk.is_idle()
        disk.hang_reads()
        reader.start()
    disk.hangs()
    mailbox.discard()
    assert len(mailbox) == 0
    assert mailbox.counts().put == mailbox.counts().taken + mailbox.counts().dropped == 1000
    disk.goes_on()
    if reads:
        reader.join(DEADLINE)
    disk.is_idle()
    assert not mailbox._store._spill.segments


def test_a_hung_disk_keeps_nothing_alive_that_its_owner_has_let_go_of(disk: HungDisk) -> None:
    first, mailbox = make(max_items=10), make(max_items=10)
    put_each(first, items(1000))
    disk.hangs()
    put_each(mailbox, items(1000))
    gone = weakref.ref(mailbox._store._spill)
    del mailbox
    assert gone() is None


@pytest.mark.usefixtures("small_bound")
def test_one_put_may_be_larger_than_what_may_wait_for_the_disk(disk: HungDisk) -> None:
    mailbox = make(max_items=10, max_bytes=MIB)
    mailbox.put_many(items(20 * KIB))
    assert mailbox.counts().refused == 0
    disk.goes_on()
    mailbox.close()
    assert list(mailbox) == items(20 * KIB)


def test_only_a_disk_that_is_behind_and_at_work_makes_a_mailbox_crowded(
    disk: HungDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox = make(max_items=10)
    put_each(mailbox, items(100))
    disk.hangs()
    put_each(mailbox, items(10_000))
    assert not mailbox.crowded()
    monkeypatch.setattr(spill_module, "AT_WORK", 3600.0)
    disk.goes_on(once=True)
    disk.hangs()
    assert mailbox.crowded()
    disk.goes_on()
    disk.is_idle()
    assert not mailbox.crowded()


def test_the_writer_ends_when_there_is_nothing_to_write_and_starts_again() -> None:
    for _ in range(3):
        mailbox = make(max_items=10)
        put_each(mailbox, items(1000))
        mailbox.discard()
        assert wait_until(lambda: not [name for name in alive_threads() if "claude-actors-spill" in name])


def test_jobs_from_many_threads_are_all_run_one_at_a_time_while_writers_come_and_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SpillWriter, "linger", 0.0)
    writer, busy, ran = SpillWriter(), threading.Lock(), list[int]()

    def job(number: int) -> None:
        assert busy.acquire(blocking=False)
        ran.append(number)
        busy.release()

    def submit(start: int) -> None:
        for number in range(start, start + 300):
            writer.submit(lambda number=number: job(number))  # type: ignore[misc]

    threads = [threading.Thread(target=submit, args=(start,)) for start in (0, 1000, 2000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert wait_until(lambda: len(ran) == 900)
    for start in (0, 1000, 2000):
        own = [number for number in ran if start <= number < start + 300]
        assert own == list(range(start, start + 300))


def test_a_writer_that_no_thread_could_be_started_for_is_started_by_the_next_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    done = threading.Event()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        writer_for("somewhere").submit(lambda: None)
        mailbox = make(max_items=10)
        put_each(mailbox, items(1000))
    put_each(mailbox, items(1000, 1000))
    writer_for(None).submit(done.set)
    assert done.wait(DEADLINE)
    mailbox.close()
    assert list(mailbox) == items(2000)


def test_a_forked_child_can_spill_while_the_parents_disk_hangs(disk: HungDisk) -> None:
    mailbox = make(max_items=10)
    put_each(mailbox, items(1000))
    disk.hangs()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            disk.spare_all()
            own = make(max_items=10)
            put_each(own, items(20_000))
            own.close()
            code = 0 if list(own) == items(20_000) and own.counts().refused == 0 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    disk.goes_on()
    mailbox.close()
    assert list(mailbox) == items(1000)
