"""What a journal holds, and how a record becomes a line.

Pure. A line is JSON with a checksum and the length of its record in front, so that `jq` can read a journal and a torn
or damaged line is never taken for a record.
"""

from __future__ import annotations

import zlib
from typing import Any, Final, Literal, TypeAlias

import msgspec

from claude_actors.fleet.spending import Spent
from claude_actors.fleet.task import Task

VERSION: Final = 1


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """Base of all records; `at` is Unix time."""

    at: float = 0.0


class JournalOpened(Record, frozen=True, kw_only=True, tag="opened"):
    """A fleet began to write here."""

    version: int
    pid: int


class TaskAdded(Record, frozen=True, kw_only=True, tag="added"):
    """A task was submitted; `task` holds its fields as plain JSON."""

    id: str
    task: dict[str, Any]


class AttemptBegan(Record, frozen=True, kw_only=True, tag="began"):
    """An attempt is about to start; a resumed conversation keeps its id."""

    id: str
    attempt: int
    session_id: str | None = None


class SessionRan(Record, frozen=True, kw_only=True, tag="ran"):
    """The attempt's session has told its process and its conversation."""

    id: str
    pid: int | None = None
    session_id: str | None = None


class FailureInWords(msgspec.Struct, frozen=True):
    """An error as a journal keeps it: the name of its class, and what it says."""

    kind: str
    reason: str


class AttemptFailed(Record, frozen=True, kw_only=True, tag="attempt_failed"):
    """An attempt failed and another will follow; `spent` and `worked` are those of the task so far."""

    id: str
    failures: int
    error: FailureInWords
    spent: Spent
    worked: float = 0.0
    resume: str | None = None


class TaskFinished(Record, frozen=True, kw_only=True, tag="finished"):
    """A task is over for good; `result` is its result frame, if it has one."""

    id: str
    outcome: Literal["done", "failed", "cancelled"]
    spent: Spent
    attempt: int = 0
    session_id: str | None = None
    result: dict[str, Any] | None = None
    error: FailureInWords | None = None


class TaskWithdrawn(Record, frozen=True, kw_only=True, tag="withdrawn"):
    """A task was taken back by its submitter; it may be added again. `spent` is what it has used nevertheless."""

    id: str
    spent: Spent = Spent()


class TasksForgotten(Record, frozen=True, kw_only=True, tag="forgotten"):
    """What tasks have used of which the journal tells nothing else any more."""

    spent: Spent


class FleetLimited(Record, frozen=True, kw_only=True, tag="limited"):
    """A rate limit is used up until this Unix time."""

    resets_at: float


AnyRecord: TypeAlias = (
    JournalOpened
    | TaskAdded
    | AttemptBegan
    | SessionRan
    | AttemptFailed
    | TaskFinished
    | TaskWithdrawn
    | TasksForgotten
    | FleetLimited
)

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(AnyRecord).decode
_HEAD: Final = b'{"crc":"%08x","length":%d,"record":'
_START: Final = b'{"crc":"'
_TAIL: Final = b"}\n"
_FIXED: Final = len(b'{"crc":"00000000","length":')


class DamagedLine(ValueError):
    """A line is not what was written; says in which way."""


def encode_record(record: AnyRecord) -> bytes:
    """Return the line of a record."""
    body = _encode(record)
    return _HEAD % (zlib.crc32(body), len(body)) + body + _TAIL


def decode_line(line: bytes) -> AnyRecord:
    """Return the record of a line; raises DamagedLine."""
    if not line.endswith(_TAIL):
        raise DamagedLine("it is cut off")
    head_end = line.find(b",", _FIXED)
    body = line[head_end + len(b',"record":') : -len(_TAIL)]
    if line[: len(line) - len(body) - len(_TAIL)] != _HEAD % (zlib.crc32(body), len(body)):
        raise DamagedLine("its checksum does not match")
    try:
        record: AnyRecord = _decode(body)
        return record
    except msgspec.MsgspecError as error:
        raise DamagedLine(f"it is no record of this version: {error}") from error


def is_foreign(line: bytes) -> bool:
    """Say whether this is surely not the beginning of a journal, not even of one whose first line was cut off."""
    return not (line.startswith(_START) or _START.startswith(line) or not line.strip(b"\0\n"))


_TASK_FIELDS: Final = (
    "prompt",
    "options",
    "priority",
    "timeout",
    "retries",
    "resume",
    "continue_prompt",
    "conversation",
    "max_turns",
    "max_tokens",
    "max_budget_usd",
    "messages",
    "data",
)


def task_fields(task: Task) -> dict[str, Any]:
    """Return a task as plain JSON, without what is the default."""
    default = Task("")
    fields = {name: getattr(task, name) for name in _TASK_FIELDS}
    changed = {name: value for name, value in fields.items() if name == "prompt" or value != getattr(default, name)}
    if changed.get("options") is not None:
        changed["options"] = dict(changed["options"])
    return changed


def task_from_fields(task_id: str, fields: dict[str, Any]) -> Task:
    """Make the task again that `task_fields` has written; raises InvalidOptions for fields that are none."""
    return Task(id=task_id, **fields)
