"""What is left of a journal that is written anew means what the whole of it did, and no crash can lose it."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.leaks import wait_until

from claude_actors.errors import InvalidOptions
from claude_actors.fleet import Journal, JournalFailed, JournalLocked, Spent, journal, records
from claude_actors.fleet.compaction import Tally, needed_lines
from claude_actors.fleet.journal import JournalFile
from claude_actors.fleet.locked_file import LockedFile
from claude_actors.fleet.records import AnyRecord, FailureInWords, decode_line, encode_record
from claude_actors.fleet.replay import Replay

WITHIN = 30.0
SMALL = 4096
FAILURE = FailureInWords("SessionCrashed", "signal 9")
IDS = st.sampled_from("abcd")


def added(task_id: str, **task: Any) -> AnyRecord:
    return records.TaskAdded(id=task_id, task={"prompt": "p" * 100, **task})


def finished(task_id: str, **fields: Any) -> AnyRecord:
    given_fields = {"outcome": "done", "spent": Spent(1, 2), "result": {"of": task_id}, "session_id": "s", **fields}
    return records.TaskFinished(id=task_id, **given_fields)


STORIES = st.lists(
    st.one_of(
        st.just(records.JournalOpened(version=1, pid=1)),
        st.builds(lambda id, key: added(id, **({"conversation": key} if key else {})), IDS, st.sampled_from(" kl")),
        st.builds(lambda id, session: records.AttemptBegan(id=id, attempt=1, session_id=session), IDS, st.text("s")),
        st.builds(lambda id, pid: records.SessionRan(id=id, pid=pid), IDS, st.integers(1, 9)),
        st.builds(lambda id: records.AttemptFailed(id=id, failures=1, error=FAILURE, spent=Spent(0, 1)), IDS),
        st.builds(lambda id, session: finished(id, session_id=session), IDS, st.sampled_from(["s1", "s2"])),
        st.builds(lambda id, turns: records.TaskWithdrawn(id=id, spent=Spent(turns)), IDS, st.integers(0, 2)),
        st.just(records.TasksForgotten(spent=Spent(5))),
        st.builds(lambda when: records.FleetLimited(resets_at=when), st.floats(1, 9)),
    ),
    max_size=30,
)


def replayed(lines: list[bytes]) -> Replay:
    return Replay().read(lines)


def meaning(lines: list[bytes], replay: Replay) -> Any:
    """What matters of a journal, without where it stands."""
    whole = b"".join(lines)
    ends = {key: decode_line(whole[at.offset : at.offset + at.length]) for key, at in replay.finished.items()}
    tasks = {key: msgspec.structs.replace(task, offset=0) for key, task in replay.unfinished.items()}
    return tasks, ends, replay.conversations, replay.spent, replay.resets_at


# --- what is needed ---


@given(STORIES)
def test_what_is_needed_means_what_all_of_it_did(story: list[AnyRecord]) -> None:
    lines = [encode_record(record) for record in story]
    replay = replayed(lines)
    kept = [line for _, line in needed_lines(lines, replay, None)]
    assert meaning(kept, replayed(kept)) == meaning(lines, replay)
    again = [line for _, line in needed_lines(kept, replayed(kept), None)]
    assert again == kept


@given(STORIES, st.integers(0, 3))
def test_of_finished_tasks_the_newest_stay_if_only_some_may_and_all_that_was_spent_is_known(
    story: list[AnyRecord], keep: int
) -> None:
    lines = [encode_record(record) for record in story]
    replay = replayed(lines)
    kept = [line for _, line in needed_lines(lines, replay, keep)]
    left = replayed(kept)
    assert list(left.finished) == list(replay.finished)[len(replay.finished) - min(keep, len(replay.finished)) :]
    assert (list(left.unfinished), left.spent) == (list(replay.unfinished), replay.spent)
    assert left.conversations.items() <= replay.conversations.items()


@given(STORIES, st.none() | st.integers(0, 3))
def test_no_more_is_counted_as_needed_than_is_written(story: list[AnyRecord], keep: int | None) -> None:
    tally = Tally(keep)
    lines = [encode_record(record) for record in story if not isinstance(record, records.TaskFinished)]
    replay = Replay(each=tally.take_in).read(lines)
    assert tally.needed == sum(len(line) for record, line in needed_lines(lines, replay, keep) if hasattr(record, "id"))


def test_of_a_task_that_has_ended_only_its_end_is_needed() -> None:
    tally = Tally()
    story = [added("a"), records.AttemptBegan(id="a", attempt=1), finished("a"), added("b"), finished("b")]
    lines = [encode_record(record) for record in story]
    replay = Replay(each=tally.take_in).read(lines)
    assert [record for record, _ in needed_lines(lines, replay, None)] == [story[2], story[4]]
    assert tally.needed == len(lines[2]) + len(lines[4])


# --- the file ---


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(journal, "COMPACT_FROM", SMALL)
    return tmp_path / "fleet.journal"


@pytest.fixture
def journals() -> Iterator[Any]:
    """Open journals; all are closed at the end."""
    opened: list[JournalFile] = []

    def open_one(path: Path, **settings: Any) -> JournalFile:
        opened.append(JournalFile(Journal(path, **settings)))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def write(file: JournalFile, *wanted: AnyRecord) -> None:
    """Append records and wait until the last is safe; what its thread does with the file is over when it is closed."""
    for record in wanted[:-1]:
        file.append(record)
    told: list[JournalFailed | None] = []
    over = threading.Event()

    def acknowledge(failure: JournalFailed | None) -> None:
        told.append(failure)
        over.set()

    file.append(wanted[-1], acknowledge)
    assert over.wait(WITHIN)
    assert told == [None]


def many(count: int, of: str = "t") -> list[AnyRecord]:
    return [record for number in range(count) for record in (added(f"{of}{number}"), finished(f"{of}{number}"))]


def closed(file: JournalFile) -> None:
    over = threading.Event()
    file.close(over.set)
    assert over.wait(WITHIN)


def test_a_journal_that_is_written_for_long_forgets_how_tasks_came_to_their_end_and_no_end(
    path: Path, journals: Any
) -> None:
    file = journals(path)
    write(file, added("open"), *many(500))
    whole = sum(len(encode_record(record)) for record in many(500))
    closed(file)
    assert path.stat().st_size < whole * 0.8
    after = journals(path)
    assert list(after.replay.unfinished) == ["open"]
    assert len(after.replay.finished) == 500
    assert all(after.read_finished(f"t{number}") == finished(f"t{number}") for number in range(500))


def test_a_journal_that_keeps_only_some_stays_small_however_long_it_is_written(path: Path, journals: Any) -> None:
    file = journals(path, keep_finished=10)
    for number in range(50):
        write(file, *many(20, of=f"{number}-"))
    closed(file)
    assert path.stat().st_size < 4 * SMALL
    assert len(file.finished) < 100
    after = journals(path, keep_finished=10)
    assert after.read_finished("49-19") == finished("49-19")
    assert after.read_finished("0-0") is None
    assert after.replay.spent == Spent(1000, 2000)


def test_a_journal_is_made_small_when_it_is_opened_and_what_was_read_still_holds(path: Path, journals: Any) -> None:
    lines = [encode_record(record) for record in (added("open"), *many(50), added("x", conversation="k"))]
    lines += [encode_record(finished("x")), b"torn"]
    path.write_bytes(b"".join(lines))
    file = journals(path)
    assert path.stat().st_size < len(b"".join(lines))
    assert (list(file.replay.unfinished), file.replay.conversations) == (["open"], {"k": "s"})
    assert file.read_finished("t7") == finished("t7")
    write(file, added("later"))
    closed(file)
    assert list(journals(path).replay.unfinished) == ["open", "later"]


def test_who_reads_an_end_while_the_file_is_exchanged_reads_the_old_file_or_the_new_one(
    path: Path, journals: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = journals(path)
    read: list[object] = []
    readers: list[threading.Thread] = []
    exchange = LockedFile.exchange

    def exchange_and_look(self: LockedFile) -> None:
        exchange(self)
        readers.append(threading.Thread(target=lambda: read.append(file.read_finished("t9"))))
        readers[-1].start()
        readers[-1].join(0.1)  # who can read now reads with the old places

    monkeypatch.setattr(LockedFile, "exchange", exchange_and_look)
    write(file, *many(10))
    write(file, *many(100, of="more"))
    closed(file)
    for reader in readers:
        reader.join(WITHIN)
    assert read
    assert set(map(str, read)) == {str(finished("t9"))}


def test_a_crash_at_any_step_leaves_a_journal_that_means_the_same(
    path: Path, tmp_path: Path, journals: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = [added("open"), *many(30), records.FleetLimited(resets_at=5.0)]
    lines = [encode_record(record) for record in story]
    path.write_bytes(b"".join(lines))
    pictures: list[Path] = []

    def picture() -> None:
        """Keep the directory as a crash at this moment would leave it."""
        place = tmp_path / f"crash{len(pictures)}"
        place.mkdir()
        for file in path.parent.glob("fleet.journal*"):
            shutil.copyfile(file, place / file.name)
        pictures.append(place / path.name)

    def pictured(name: str) -> None:
        real = getattr(os, name)

        def step(*args: Any, **kwargs: Any) -> Any:
            picture()
            result = real(*args, **kwargs)
            picture()
            return result

        monkeypatch.setattr(os, name, step)

    def half(fd: int, data: Any) -> int:
        written = real_write(fd, bytes(data)[: max(1, len(data) // 2)])
        picture()
        return written

    real_write = os.write
    monkeypatch.setattr(os, "write", half)
    for name in ("fsync", "rename", "ftruncate", "fchmod", "unlink"):
        pictured(name)
    closed(journals(path))
    monkeypatch.undo()
    wanted = meaning(lines, replayed(lines))
    assert len(pictures) > 10
    assert any((place.parent / "fleet.journal.compacting").exists() for place in pictures)
    for place in pictures:
        file = journals(place)
        left = (file.replay.unfinished["open"].id, sorted(file.finished), file.replay.spent, file.replay.resets_at)
        assert left == ("open", sorted(wanted[1]), wanted[3], 5.0)
        assert all(file.read_finished(task_id) == end for task_id, end in wanted[1].items())
        assert not (place.parent / "fleet.journal.compacting").exists()


@pytest.mark.parametrize("step", ["rename", "fchmod"])
def test_a_journal_that_cannot_be_made_small_is_written_on_as_it_is(
    path: Path, journals: Any, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def refuse(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, refuse)
    file = journals(path)
    write(file, added("open"), *many(100))
    write(file, added("more"))
    closed(file)
    assert os.listdir(path.parent) == [path.name]
    monkeypatch.undo()
    after = journals(path)
    assert list(after.replay.unfinished) == ["open", "more"]
    assert len(after.finished) == 100


def test_it_stays_locked_and_stays_the_same_kind_of_file(path: Path, journals: Any, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere"
    real.write_bytes(b"")
    real.chmod(0o640)
    path.symlink_to(real)
    before = real.stat().st_ino
    write(journals(path), *many(100))
    assert wait_until(lambda: real.stat().st_ino != before, WITHIN)
    assert path.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    with pytest.raises(JournalLocked):
        JournalFile(Journal(real))


def test_who_had_opened_the_old_file_when_it_was_exchanged_gets_the_new_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = LockedFile(str(path), sync=False)
    first.append(b"old\n")
    flock = fcntl.flock

    def late(fd: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        first.prepare([b"new\n"])
        first.exchange()
        first.close()
        flock(fd, how)

    monkeypatch.setattr(fcntl, "flock", late)
    second = LockedFile(str(path), sync=False)
    assert list(second.lines()) == [b"new\n"]
    second.close()


def test_a_change_of_the_directory_does_not_change_the_journal(
    path: Path, journals: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    file = journals(Path(path.name))
    write(file, *many(1))
    monkeypatch.chdir("/")
    assert file.read_finished("t0") == finished("t0")


def test_what_is_no_regular_file_is_refused_and_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    for place in (path, Path("/dev/null")):
        with pytest.raises(JournalFailed, match="no regular file"):
            JournalFile(Journal(place))


def test_a_number_of_finished_tasks_that_means_nothing_is_refused() -> None:
    with pytest.raises(InvalidOptions, match="keep_finished"):
        Journal("j", keep_finished=-1)
