"""The journal's file: one writer, appended to, synced before anything is acknowledged, and written anew when most of
it is needed no more.

Records are written by a thread of its own, as many at a time as have come meanwhile, so that nobody who submits or
reports waits for the disk in the reactor. What the records mean is decided in `replay`.
"""

from __future__ import annotations

import os
import queue
import threading
import time
import weakref
from collections.abc import Callable, Generator
from contextlib import closing
from itertools import islice
from os import PathLike
from typing import Final, Literal

import msgspec

from claude_actors.actors.contained import describe, note, run_contained, warn
from claude_actors.errors import InvalidOptions
from claude_actors.fleet.compaction import Tally, needed_lines
from claude_actors.fleet.errors import JournalFailed
from claude_actors.fleet.locked_file import LockedFile
from claude_actors.fleet.records import VERSION, AnyRecord, JournalOpened, TaskFinished, decode_line, encode_record
from claude_actors.fleet.replay import Place, Replay

Acknowledge = Callable[[JournalFailed | None], object]

_MOST_AT_ONCE: Final = 1000
#: A smaller file is never worth the trouble.
COMPACT_FROM: Final = 16 * 1024 * 1024


class Journal(msgspec.Struct, frozen=True):
    """Where a fleet keeps its journal, and how safe it is.

    `sync="always"`: what was acknowledged survives a loss of power. `"never"`: it survives the death of the process,
    and costs no fsync. `keep_finished`: how many finished tasks stay known, at least; an older one would be run again
    if it were submitted again, and its conversation begun anew. None: all of them, so that a journal grows with them.
    """

    path: str | PathLike[str]
    sync: Literal["always", "never"] = "always"
    keep_finished: int | None = None

    def __post_init__(self) -> None:
        if self.sync not in ("always", "never"):
            raise InvalidOptions("Journal: sync is 'always' or 'never'")
        if self.keep_finished is not None and self.keep_finished < 0:
            raise InvalidOptions("Journal: keep_finished must not be negative, or None to keep all")


class _Wanted(msgspec.Struct, frozen=True):
    record: AnyRecord
    line: bytes | None
    done: Acknowledge | None


class _Close(msgspec.Struct, frozen=True):
    done: Callable[[], object]


#: A fork shares the lock: a child that outlives its parent would keep the next fleet out.
OPEN: Final[weakref.WeakSet[JournalFile]] = weakref.WeakSet()


class JournalFile:
    """An open journal, locked against every other fleet until it is closed.

    The constructor blocks, reads the whole file into `replay`, and raises JournalLocked, JournalCorrupt or
    JournalFailed. `append` and `close` never block.
    """

    def __init__(self, journal: Journal) -> None:
        self.path = os.fspath(journal.path)
        self._keep = journal.keep_finished
        self._file = LockedFile(self.path, sync=journal.sync == "always")
        self._tally, self._compact_from = Tally(self._keep), COMPACT_FROM
        # Guards the file and the places in it against their exchange by a compaction.
        self._exchange = threading.Lock()
        try:
            with closing(self._file.lines()) as lines:
                self.replay = Replay(self.path, self._tally.take_in).read(lines)
            self.finished = self.replay.finished
            self._file.end = self.replay.end
            self._cut_torn_end()
            if self._wastes_space():
                self._compact(self.replay)
            self._file.append(self._opened())
            self._file.sync_directory()
        except OSError as error:
            self._file.close()
            raise JournalFailed(path=self.path, reason=str(error)) from error
        except BaseException:
            self._file.close()
            raise
        self._wanted: queue.SimpleQueue[_Wanted | _Close] = queue.SimpleQueue()
        self._failure: JournalFailed | None = None
        OPEN.add(self)
        self._thread = threading.Thread(target=self._run, name="claude-actors-journal", daemon=True)
        self._thread.start()

    # --- any thread ---

    def append(self, record: AnyRecord, done: Acknowledge | None = None, *, line: bytes | None = None) -> None:
        """Have a record written (`line`, if it is encoded already), in the order of the calls.

        `done(None)` is called in the journal's thread when it is safe, `done(error)` if it never will be.
        """
        self._wanted.put(_Wanted(record, line, done))

    def close(self, done: Callable[[], object] = lambda: None) -> None:
        """Write what is left, free the file and the lock, and then call `done`; what comes later is never written."""
        self._wanted.put(_Close(done))

    def close_now(self) -> None:
        """Close it, and block until the lock is free."""
        self.close()
        self._thread.join()

    def read_finished(self, task_id: str) -> TaskFinished | None:
        """Read how a task has ended, None if it has not. Blocks for the disk; raises JournalFailed."""
        with self._exchange:
            place = self.finished.get(task_id)
            if place is None:
                return None
            try:
                record = decode_line(self._file.read_at(place.offset, place.length))
            except (OSError, ValueError) as error:
                reason = f"its record of {task_id!r} is unreadable: {error}"
                raise JournalFailed(path=self.path, reason=reason) from error
        return record if isinstance(record, TaskFinished) else None

    # --- opening ---

    def _opened(self) -> bytes:
        return encode_record(JournalOpened(version=VERSION, pid=os.getpid(), at=time.time()))

    def _cut_torn_end(self) -> None:
        if self.replay.torn:
            warn("journal_end_was_torn", path=self.path, kept_bytes=self._file.end, kept_lines=self.replay.lines)
            self._file.cut()

    # --- the writer's thread ---

    def _run(self) -> None:
        close: _Close | None = None
        while close is None:
            batch, close = self._next_batch()
            self._handle(batch)
            if self._failure is None and self._wastes_space():
                self._compact()
        OPEN.discard(self)
        with self._exchange:
            self._file.close()
        run_contained("journal_close_callback_failed", close.done)

    def _next_batch(self) -> tuple[list[_Wanted], _Close | None]:
        batch, wanted = list[_Wanted](), self._wanted.get()
        while isinstance(wanted, _Wanted):
            batch.append(wanted)
            if len(batch) >= _MOST_AT_ONCE or self._wanted.empty():
                return batch, None
            wanted = self._wanted.get()
        return batch, wanted

    def _handle(self, batch: list[_Wanted]) -> None:
        if self._failure is None:
            try:
                self._write_batch(batch)
            except Exception as error:
                self._failure = JournalFailed(path=self.path, reason=f"it cannot be written: {error}")
                # What half of a line is left there would damage the next one.
                run_contained("journal_truncate_failed", self._file.cut)
        for wanted in batch:
            if wanted.done is not None:
                run_contained("journal_acknowledge_failed", wanted.done, self._failure)

    def _write_batch(self, batch: list[_Wanted]) -> None:
        lines = [wanted.line or encode_record(wanted.record) for wanted in batch]
        start = self._file.end
        self._file.append(b"".join(lines))
        for wanted, line in zip(batch, lines, strict=True):
            if isinstance(wanted.record, TaskFinished):
                self.finished.setdefault(wanted.record.id, Place(start, len(line)))
            self._tally.take_in(wanted.record, len(line))
            start += len(line)

    # --- keeping it small ---

    def _wastes_space(self) -> bool:
        return self._file.end >= max(self._compact_from, 2 * self._tally.needed)

    def _compact(self, replay: Replay | None = None) -> None:
        """Write anew what is needed; if that cannot be done, go on with the file as it is."""
        before = self._file.end
        try:
            self._exchange_file(replay or self._replay_again())
            self._file.sync_directory()
        except Exception as error:
            warn("journal_not_compacted", path=self.path, reason=describe(error))
            self._compact_from = 2 * before
        else:
            note("journal_compacted", path=self.path, before=before, after=self._file.end)
            # What is left may be more than was counted; not to try for every line, let it grow first.
            self._compact_from = max(COMPACT_FROM, 2 * self._file.end)

    def _replay_again(self) -> Replay:
        with closing(self._file.lines()) as lines:
            return Replay(self.path).read(lines)

    def _exchange_file(self, replay: Replay) -> None:
        finished: dict[str, Place] = {}
        tally = Tally(self._keep)

        def needed() -> Generator[bytes, None, None]:
            opened = self._opened()
            end = len(opened)
            yield opened
            with closing(self._file.lines()) as lines:
                for record, line in needed_lines(islice(lines, replay.lines), replay, self._keep):
                    if isinstance(record, TaskFinished):
                        finished[record.id] = Place(end, len(line))
                    tally.take_in(record, len(line))
                    end += len(line)
                    yield line

        self._file.prepare(needed())
        with self._exchange:
            self._file.exchange()
            self.finished = replay.finished = finished
            self._tally = tally

    def forget(self) -> None:
        """Let go of the file in the child of a fork; the parent keeps it and its lock."""
        self._file.forget()


def _forget_all() -> None:
    for journal in list(OPEN):
        run_contained("journal_not_forgotten", journal.forget)
    OPEN.clear()


os.register_at_fork(after_in_child=_forget_all)
