"""What a journal tells when it is read from its beginning: which tasks are unfinished and how far they have come.

Pure, over lines. Finished tasks are kept as places in the file only, so that a long journal costs little memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, assert_never

import msgspec

from claude_actors.fleet import records
from claude_actors.fleet.errors import JournalCorrupt, JournalFailed
from claude_actors.fleet.records import AnyRecord, DamagedLine, decode_line
from claude_actors.fleet.spending import Spent


class Unfinished(msgspec.Struct, kw_only=True):
    """A task without an end: its fields, and what its attempts have come to.

    `session_id` is the conversation to go on with, `pid` the process of an attempt that was running when the journal
    breaks off. `offset` is where its first line stands.
    """

    id: str
    task: dict[str, Any]
    offset: int = 0
    attempt: int = 0
    failures: int = 0
    session_id: str | None = None
    pid: int | None = None
    spent: Spent = Spent()
    worked: float = 0.0


class Place(msgspec.Struct, frozen=True):
    """Where a line stands in the file."""

    offset: int
    length: int


class Replay:
    """The sum of a journal. `end` is where its last whole line ends; `torn` whether something stands behind it.

    `speakers`: for each conversation the task that had its last turn, by id and offset. `each` is told of every record.
    """

    def __init__(self, path: str = "", each: Callable[[AnyRecord, int], object] = lambda record, length: None) -> None:
        self._path = path
        self.unfinished: dict[str, Unfinished] = {}
        self.finished: dict[str, Place] = {}
        self.conversations: dict[str, str] = {}
        self.speakers: dict[str, tuple[str, int]] = {}
        self._each = each
        self.spent = Spent()
        self.resets_at: float | None = None
        self.lines = 0
        self.end = 0
        self.torn = False

    def read(self, lines: Iterable[bytes]) -> Replay:
        """Take in all lines, each with its newline.

        A damaged end is what a crash leaves behind: it is passed over. Raises JournalCorrupt if a sound line follows,
        and JournalFailed for a file that begins like no journal: somebody has named the wrong one.
        """
        damaged: JournalCorrupt | None = None
        for number, line in enumerate(lines, 1):
            try:
                record = decode_line(line)
            except DamagedLine as error:
                if number == 1 and records.is_foreign(line):
                    raise JournalFailed(path=self._path, reason="it is no journal; it was left as it is") from error
                damaged = damaged or JournalCorrupt(path=self._path, line=number, reason=str(error))
                continue
            if damaged is not None:
                raise damaged
            self._take_in(record, Place(self.end, len(line)))
            self._each(record, len(line))
            self.end += len(line)
            self.lines = number
        self.torn = damaged is not None
        return self

    def _take_in(self, record: AnyRecord, place: Place) -> None:
        match record:
            case records.JournalOpened(version=version):
                if version > records.VERSION:
                    reason = f"it was written by a newer release (format {version}); use that one"
                    raise JournalFailed(path=self._path, reason=reason)
            case records.TaskAdded(id=task_id, task=task):
                self.unfinished.setdefault(task_id, Unfinished(id=task_id, task=task, offset=place.offset))
            case records.AttemptBegan() | records.SessionRan() | records.AttemptFailed():
                known = self.unfinished.get(record.id)
                if known is not None:
                    _advance(known, record)
            case records.TaskFinished():
                self._finished(record, place)
            case records.TaskWithdrawn(id=task_id, spent=spent):
                self.spent += spent
                self.unfinished.pop(task_id, None)
            case records.TasksForgotten(spent=spent):
                self.spent += spent
            case records.FleetLimited(resets_at=resets_at):
                self.resets_at = resets_at
            case _:
                assert_never(record)

    def _finished(self, record: records.TaskFinished, place: Place) -> None:
        # The first end counts: whoever asked has been told that one.
        if record.id in self.finished:
            return
        self.finished[record.id] = place
        self.spent += record.spent
        known = self.unfinished.pop(record.id, None)
        key = known.task.get("conversation") if known is not None else None
        if known is not None and isinstance(key, str) and record.session_id is not None and record.result is not None:
            self.conversations[key] = record.session_id
            self.speakers[key] = record.id, known.offset


def _advance(task: Unfinished, record: records.AttemptBegan | records.SessionRan | records.AttemptFailed) -> None:
    match record:
        case records.AttemptBegan():
            task.attempt, task.session_id, task.pid = record.attempt, record.session_id, None
        case records.SessionRan():
            task.pid = record.pid
            task.session_id = record.session_id or task.session_id
        case records.AttemptFailed():
            task.failures, task.spent, task.worked = record.failures, record.spent, record.worked
            task.session_id, task.pid = record.resume, None
