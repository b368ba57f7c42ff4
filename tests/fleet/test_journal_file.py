"""The journal's file: locked, appended to, synced, cut where it is torn, and honest when the disk fails."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_actors.errors import InvalidOptions
from claude_actors.fleet import Journal, JournalCorrupt, JournalFailed, JournalLocked, Spent, records
from claude_actors.fleet.journal import JournalFile
from claude_actors.fleet.records import encode_record

WITHIN = 30.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fleet.journal"


@pytest.fixture
def journals() -> Iterator[Any]:
    """Open journals; all are closed at the end."""
    opened: list[JournalFile] = []

    def open_one(path: Path, sync: Any = "always") -> JournalFile:
        opened.append(JournalFile(Journal(path, sync)))
        return opened[-1]

    yield open_one
    for journal in opened:
        journal.close()


def closed(journal: JournalFile) -> None:
    over = threading.Event()
    journal.close(over.set)
    assert over.wait(WITHIN)


def added(task_id: str) -> records.TaskAdded:
    return records.TaskAdded(id=task_id, task={"prompt": "p"})


def finished(task_id: str) -> records.TaskFinished:
    return records.TaskFinished(id=task_id, outcome="done", spent=Spent(), result={"type": "result"})


def written(journal: JournalFile, *wanted: records.AnyRecord) -> list[JournalFailed | None]:
    """Append records and wait until they are acknowledged."""
    told: list[JournalFailed | None] = []
    all_told = threading.Event()

    def acknowledge(failure: JournalFailed | None) -> None:
        told.append(failure)
        if len(told) == len(wanted):
            all_told.set()

    for record in wanted:
        journal.append(record, acknowledge)
    assert all_told.wait(WITHIN)
    return told


def test_what_was_acknowledged_is_there_for_the_next_fleet(path: Path, journals: Any) -> None:
    first = journals(path)
    assert written(first, added("a"), added("b"), finished("a")) == [None, None, None]
    closed(first)
    replay = journals(path).replay
    assert (list(replay.unfinished), list(replay.finished)) == (["b"], ["a"])


def test_what_was_acknowledged_is_in_the_file_before_it_is_closed(path: Path, journals: Any) -> None:
    written(journals(path), added("a"))
    assert path.read_bytes().endswith(encode_record(added("a")))


def test_a_journal_is_private_to_its_owner(path: Path, journals: Any) -> None:
    journals(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_second_fleet_in_the_same_process_is_refused(path: Path, journals: Any) -> None:
    first = journals(path)
    with pytest.raises(JournalLocked) as caught:
        JournalFile(Journal(path))
    assert caught.value.path == str(path)
    closed(first)
    journals(path)


def test_a_fleet_in_another_process_is_refused(path: Path, journals: Any) -> None:
    journals(path)
    script = (
        "import sys\n"
        "from claude_actors.fleet import Journal, JournalLocked\n"
        "from claude_actors.fleet.journal import JournalFile\n"
        "try:\n    JournalFile(Journal(sys.argv[1]))\n"
        "except JournalLocked:\n    print('locked')\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, timeout=60, check=True)
    assert done.stdout == b"locked\n"


def test_a_fork_that_outlives_its_parent_does_not_keep_the_journal(path: Path, journals: Any) -> None:
    script = (
        "import os, signal, sys\n"
        "from claude_actors.fleet import Journal\n"
        "from claude_actors.fleet.journal import JournalFile\n"
        "journal = JournalFile(Journal(sys.argv[1]))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os.write(1, b'%d\\n' % os.getpid())\n"
        "    os.closerange(0, 3)\n"
        "    signal.pause()\n"
        "signal.pause()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    forked = int(parent.stdout.readline())
    with pytest.raises(JournalLocked):
        JournalFile(Journal(path))
    parent.kill()
    parent.communicate(timeout=WITHIN)
    try:
        journals(path)
    finally:
        os.kill(forked, signal.SIGKILL)


def test_a_torn_end_is_cut_off_and_writing_goes_on_behind_it(path: Path, journals: Any) -> None:
    first = journals(path)
    written(first, added("a"))
    closed(first)
    whole = path.read_bytes()
    path.write_bytes(whole + encode_record(added("b"))[:-9])
    second = journals(path)
    assert second.replay.torn
    written(second, added("c"))
    closed(second)
    assert path.read_bytes().startswith(whole)
    assert list(journals(path).replay.unfinished) == ["a", "c"]


def test_a_damaged_journal_is_refused_and_left_as_it_is(path: Path, journals: Any) -> None:
    first = journals(path)
    written(first, added("a"), added("b"))
    closed(first)
    damaged = path.read_bytes().replace(b'"id":"a"', b'"id":"x"')
    path.write_bytes(damaged)
    with pytest.raises(JournalCorrupt):
        JournalFile(Journal(path))
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("place", [".", "no/such/directory/j"])
def test_a_place_that_cannot_be_written_is_told_at_once(tmp_path: Path, place: str) -> None:
    with pytest.raises(JournalFailed):
        JournalFile(Journal(tmp_path / place))


def test_the_end_of_a_task_can_be_read_while_the_journal_is_written(path: Path, journals: Any) -> None:
    journal = journals(path)
    written(journal, added("a"), finished("a"))
    assert journal.read_finished("a") == finished("a")
    assert journal.read_finished("b") is None


def test_what_comes_together_is_written_together_and_in_order(path: Path, journals: Any) -> None:
    journal = journals(path)
    names = [f"t{number}" for number in range(3000)]
    assert written(journal, *map(added, names)) == [None] * 3000
    closed(journal)
    assert list(journals(path).replay.unfinished) == names


def test_without_sync_everything_is_the_same_but_the_disk_is_not_waited_for(
    path: Path, journals: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    journal = journals(path, "never")
    written(journal, added("a"))
    assert synced == []
    closed(journal)
    closed(journals(path, "always"))
    assert synced


def test_a_full_disk_is_told_to_everybody_and_leaves_no_half_line(
    path: Path, journals: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = journals(path)
    written(journal, added("a"))
    whole = path.read_bytes()
    write = os.write

    def write_half(fd: int, data: Any) -> int:
        if b'"id":"b"' in bytes(data):
            write(fd, bytes(data)[:20])
            raise OSError(28, "No space left on device")
        return write(fd, data)

    monkeypatch.setattr(os, "write", write_half)
    (failure,) = written(journal, added("b"))
    assert isinstance(failure, JournalFailed)
    assert "No space left" in str(failure)
    monkeypatch.undo()
    assert written(journal, added("c")) == [failure]
    assert path.read_bytes() == whole


def test_an_unknown_way_to_sync_is_refused() -> None:
    with pytest.raises(InvalidOptions):
        Journal("j", "sometimes")  # type: ignore[arg-type]
