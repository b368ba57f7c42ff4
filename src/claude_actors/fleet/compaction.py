"""Which lines of a journal are still needed, and how many bytes they are.

Pure, over lines and their sum. What has ended needs its end alone; how it came there, and what it was asked, can go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import assert_never

from claude_actors.fleet import records
from claude_actors.fleet.records import AnyRecord, decode_line, encode_record
from claude_actors.fleet.replay import Replay
from claude_actors.fleet.spending import Spent


class Tally:
    """Counts the bytes of a journal that are `needed`, record by record; `keep` finished tasks are (None: all)."""

    def __init__(self, keep: int | None = None) -> None:
        self.needed = 0
        self._keep = keep
        self._open: dict[str, int] = {}
        self._ended: deque[int] = deque()

    def take_in(self, record: AnyRecord, length: int) -> None:
        """Count a line behind the others."""
        match record:
            case records.TaskAdded():
                self._open.setdefault(record.id, 0)
                self._grow(record.id, length)
            case records.AttemptBegan() | records.SessionRan() | records.AttemptFailed():
                self._grow(record.id, length)
            case records.TaskFinished():
                self.needed += length - self._open.pop(record.id, 0)
                self._forget_the_oldest(length)
            case records.TaskWithdrawn():
                self.needed -= self._open.pop(record.id, 0)
            case records.JournalOpened() | records.FleetLimited() | records.TasksForgotten():
                pass
            case _:
                assert_never(record)

    def _grow(self, task_id: str, length: int) -> None:
        if task_id in self._open:
            self._open[task_id] += length
            self.needed += length

    def _forget_the_oldest(self, length: int) -> None:
        if self._keep is not None:
            self._ended.append(length)
            if len(self._ended) > self._keep:
                self.needed -= self._ended.popleft()


def needed_lines(lines: Iterable[bytes], replay: Replay, keep: int | None) -> Iterator[tuple[AnyRecord, bytes]]:
    """Give the lines that mean together what all of them do, in order; `replay` is the sum of all of them.

    Of finished tasks the newest `keep` stay (None: all). What the others have used stays known.
    """
    forgotten, offset = Spent(), 0
    many = len(replay.finished)
    kept = set(islice(replay.finished, 0 if keep is None else max(0, many - keep), None))
    speaking = {offset for task_id, offset in replay.speakers.values() if task_id in kept}
    for line in lines:
        record = decode_line(line)
        match record:
            case records.TaskAdded() | records.AttemptBegan() | records.SessionRan() | records.AttemptFailed():
                task = replay.unfinished.get(record.id)
                if offset in speaking or (task is not None and offset >= task.offset):
                    yield record, line
            case records.TaskFinished(id=task_id):
                if replay.finished[task_id].offset == offset and task_id in kept:
                    yield record, line
                elif replay.finished[task_id].offset == offset:
                    forgotten += record.spent
            case records.TaskWithdrawn(spent=spent) | records.TasksForgotten(spent=spent):
                forgotten += spent
            case records.JournalOpened() | records.FleetLimited():
                pass
            case _:
                assert_never(record)
        offset += len(line)
    rest: list[AnyRecord] = [records.TasksForgotten(spent=forgotten)] if forgotten != Spent() else []
    if replay.resets_at is not None:
        rest.append(records.FleetLimited(resets_at=replay.resets_at))
    for record in rest:
        yield record, encode_record(record)
