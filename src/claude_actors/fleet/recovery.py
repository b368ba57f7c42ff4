"""From a journal back to jobs: unfinished tasks go on, finished ones answer at once.

Blocks for the disk and for processes of an earlier fleet; runs in the thread that makes the fleet or submits.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from claude_actors.actors.contained import warn
from claude_actors.errors import ClaudeActorsError
from claude_actors.fleet.entry import Entry
from claude_actors.fleet.errors import RecordedFailure, TaskCancelled
from claude_actors.fleet.job import Job
from claude_actors.fleet.records import TaskFinished
from claude_actors.fleet.replay import Replay, Unfinished
from claude_actors.fleet.spending import Spent
from claude_actors.protocol.results import result_error
from claude_actors.wire.messages import ResultMessage, decode_message

# The warden ends the processes of a fleet that was killed within a few seconds.
_PATIENCE: Final = 10.0
_LOOK_EVERY: Final = 0.02


def restore(entry: Entry, found: Unfinished) -> None:
    """Put an entry where its task was when the journal broke off."""
    entry.attempt, entry.failures = found.attempt, found.failures
    entry.spent, entry.worked = found.spent, found.worked
    entry.session_id = found.session_id
    entry.resume = found.session_id if entry.may_resume else None


def spent_before(replay: Replay) -> Spent:
    """Return what all tasks of a journal have used."""
    return sum((task.spent for task in replay.unfinished.values()), replay.spent)


def settle_recorded(job: Job, record: TaskFinished) -> None:
    """Give a job the outcome that it had in an earlier run."""
    job._entry.attempt, job._entry.spent = record.attempt, record.spent
    job._entry.session_id, job._entry.state = record.session_id, record.outcome
    line = None if record.result is None else msgspec.json.encode(record.result)
    error = None if record.outcome == "done" else _recorded_error(record, line)
    job.settle(record.outcome, line, error)


def _recorded_error(record: TaskFinished, line: bytes | None) -> ClaudeActorsError:
    if record.outcome == "cancelled":
        return TaskCancelled(task_id=record.id)
    message = None if line is None else decode_message(line)
    told = result_error(message) if isinstance(message, ResultMessage) else None
    if told is not None:
        return told
    failure = record.error
    return RecordedFailure(
        kind=failure.kind if failure else "unknown", reason=failure.reason if failure else "no reason was recorded"
    )


def wait_for_processes(pids: Iterable[int], patience: float = _PATIENCE) -> None:
    """Block until these processes are gone, so that no conversation is resumed while its last process still writes.

    A number that is in use by somebody else by now only costs the patience.
    """
    deadline, pause = time.monotonic() + patience, threading.Event()
    left = [pid for pid in pids if _exists(pid)]
    while left and time.monotonic() < deadline:
        pause.wait(_LOOK_EVERY)
        left = [pid for pid in left if _exists(pid)]
    if left:
        warn("fleet_processes_still_there", pids=left, waited=patience)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # not ours, so the number is another's by now
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Dead, and only not yet collected by whoever inherited it; known on Linux only."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    except (OSError, IndexError):
        return False
