"""Puts on record what the fleet does, if it has a journal; without one, everything is safe at once.

Makes the records and knows when a job may be reported; how they reach the disk is the journal's business.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec
import pykka
from pykka import ActorDeadError

from claude_actors.errors import ClaudeActorsError
from claude_actors.fleet import records
from claude_actors.fleet.entry import Entry
from claude_actors.fleet.errors import JournalFailed
from claude_actors.fleet.inputs import FinishJob, TaskWithdrawn
from claude_actors.fleet.job import Job
from claude_actors.fleet.journal import JournalFile
from claude_actors.fleet.records import FailureInWords
from claude_actors.wire.messages import decode_message


class ReportSafe(msgspec.Struct, frozen=True):
    """A job's end is on record and may be reported."""

    finish: FinishJob


class JournalBroke(msgspec.Struct, frozen=True):
    """Something could not be put on record; `finish` if it was a job's end."""

    failure: JournalFailed
    finish: FinishJob | None = None


class Scribe:
    """Writes for one fleet's actor, in its thread; tells it ReportSafe or JournalBroke. Never blocks."""

    def __init__(self, journal: JournalFile | None, actor: pykka.ActorRef[Any]) -> None:
        self._journal = journal
        self._actor = actor

    def began(self, entry: Entry) -> None:
        """Note that an attempt begins."""
        self._write(records.AttemptBegan(id=entry.id, attempt=entry.attempt, session_id=entry.session_id, at=_now()))

    def ran(self, job: str, pid: int | None, session_id: str | None) -> None:
        """Note the process and the conversation of a running attempt."""
        if pid is not None:
            self._write(records.SessionRan(id=job, pid=pid, session_id=session_id, at=_now()))

    def failed(self, entry: Entry, error: ClaudeActorsError) -> None:
        """Note that an attempt failed."""
        record = records.AttemptFailed(
            id=entry.id,
            failures=entry.failures,
            error=_in_words(error),
            spent=entry.spent,
            worked=entry.worked,
            resume=entry.resume,
            at=_now(),
        )
        self._write(record)

    def limited(self, resets_at: float) -> None:
        """Note a rate limit."""
        self._write(records.FleetLimited(resets_at=resets_at, at=_now()))

    def finished(self, finish: FinishJob, job: Job) -> None:
        """Note a job's end, and have it reported when that is safe; one that was only stopped is not noted."""
        if self._journal is None or finish.outcome == "stopped":
            self._tell(ReportSafe(finish))
            return
        if isinstance(finish.error, TaskWithdrawn):
            self._report_after(records.TaskWithdrawn(id=finish.job, spent=job.spent, at=_now()), finish)
            return
        record = records.TaskFinished(
            id=finish.job,
            outcome=finish.outcome,
            spent=job.spent,
            attempt=job.attempt,
            session_id=job.session_id,
            result=None if finish.line is None else decode_message(finish.line).raw,
            error=None if finish.error is None else _in_words(finish.error),
            at=_now(),
        )
        self._report_after(record, finish)

    def _write(self, record: records.AnyRecord) -> None:
        self._report_after(record, None)

    def _report_after(self, record: records.AnyRecord, finish: FinishJob | None) -> None:
        if self._journal is not None:
            self._journal.append(record, lambda failure: self._acknowledged(finish, failure))

    def _acknowledged(self, finish: FinishJob | None, failure: JournalFailed | None) -> None:
        if failure is not None:
            self._tell(JournalBroke(failure, finish))
        elif finish is not None:
            self._tell(ReportSafe(finish))

    def close(self, done: Callable[[], object]) -> None:
        """Let the journal write what is left and free its file, then call `done`."""
        if self._journal is None:
            done()
        else:
            self._journal.close(done)

    def _tell(self, message: ReportSafe | JournalBroke) -> None:
        try:
            self._actor.tell(message)
        except ActorDeadError:
            return


def _now() -> float:
    return time.time()


def _in_words(error: BaseException) -> FailureInWords:
    return FailureInWords(type(error).__name__, str(error))
