"""A journal read back: every record, every cut, every damage."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_actors.fleet import JournalCorrupt, JournalFailed, Spent, records
from claude_actors.fleet.records import AnyRecord, DamagedLine, FailureInWords, decode_line, encode_record
from claude_actors.fleet.replay import Replay

CRASH = FailureInWords("SessionCrashed", "signal 9")
RESULT: dict[str, Any] = {"type": "result", "subtype": "success", "result": 'fine\nand "quoted" ü'}


def added(task_id: str, **task: Any) -> AnyRecord:
    return records.TaskAdded(id=task_id, task={"prompt": f"do {task_id}", **task})


def finished(task_id: str, **fields: Any) -> AnyRecord:
    given_fields = {"outcome": "done", "spent": Spent(1, 10, 0.5), "result": RESULT, **fields}
    return records.TaskFinished(id=task_id, **given_fields)


STORY: list[AnyRecord] = [
    records.JournalOpened(version=1, pid=7),
    added("a"),
    added("b", conversation="k"),
    records.AttemptBegan(id="a", attempt=1, session_id="s1"),
    records.SessionRan(id="a", pid=41, session_id="s1"),
    records.AttemptBegan(id="b", attempt=1, session_id="s2"),
    records.AttemptFailed(id="a", failures=1, error=CRASH, spent=Spent(1, 5, 0.1), worked=2.5, resume="s1"),
    finished("b", session_id="s2"),
    records.FleetLimited(resets_at=1234.5),
    records.AttemptBegan(id="a", attempt=2, session_id="s1"),
    records.SessionRan(id="a", pid=42, session_id="s1"),
]


def lines(story: list[AnyRecord]) -> list[bytes]:
    return [encode_record(record) for record in story]


def replayed(story: list[AnyRecord]) -> Replay:
    return Replay("j").read(lines(story))


def test_what_has_no_end_is_unfinished_and_stands_where_it_was() -> None:
    (left,) = replayed(STORY).unfinished.values()
    assert (left.id, left.task) == ("a", {"prompt": "do a"})
    assert (left.attempt, left.failures, left.session_id, left.pid) == (2, 1, "s1", 42)
    assert (left.spent, left.worked) == (Spent(1, 5, 0.1), 2.5)


def test_what_has_ended_is_a_place_in_the_file() -> None:
    whole = b"".join(lines(STORY))
    (place,) = replayed(STORY).finished.values()
    assert decode_line(whole[place.offset : place.offset + place.length]) == STORY[7]


def test_a_conversation_goes_on_under_its_last_id() -> None:
    assert replayed(STORY).conversations == {"k": "s2"}


def test_an_attempt_that_failed_tells_the_next_what_to_resume() -> None:
    story = [*STORY[:4], records.AttemptFailed(id="a", failures=1, error=CRASH, spent=Spent(), resume=None)]
    assert replayed(story).unfinished["a"].session_id is None


def test_the_latest_rate_limit_and_the_sum_of_spending_are_known() -> None:
    replay = replayed(STORY)
    assert (replay.resets_at, replay.spent) == (1234.5, Spent(1, 10, 0.5))


def test_a_task_ends_only_once_whatever_the_journal_says() -> None:
    replay = replayed([added("a"), finished("a"), finished("a", outcome="failed"), added("a")])
    assert replay.spent == Spent(1, 10, 0.5)
    assert list(replay.finished) == ["a"]


def test_a_task_that_was_taken_back_is_as_if_it_had_never_been_there_but_what_it_used_is_used() -> None:
    back = records.TaskWithdrawn(id="a", spent=Spent(1, 10, 0.1))
    replay = replayed([added("a"), records.AttemptBegan(id="a", attempt=1), back])
    assert (replay.unfinished, replay.finished, replay.spent) == ({}, {}, Spent(1, 10, 0.1))
    assert replayed([added("a"), back, added("a")]).unfinished["a"].attempt == 0


def test_records_of_unknown_tasks_change_nothing() -> None:
    replay = replayed([records.AttemptBegan(id="x", attempt=1), records.SessionRan(id="x", pid=1)])
    assert (replay.unfinished, replay.finished) == ({}, {})


def test_a_journal_of_a_newer_format_is_refused() -> None:
    with pytest.raises(JournalFailed, match="newer"):
        replayed([records.JournalOpened(version=2, pid=7)])


def test_every_cut_of_a_journal_is_read_up_to_its_last_whole_line() -> None:
    whole = b"".join(lines(STORY))
    ends = [0]
    for line in lines(STORY):
        ends.append(ends[-1] + len(line))
    for cut in range(len(whole) + 1):
        replay = Replay("j").read(whole[:cut].splitlines(keepends=True))
        last = max(end for end in ends if end <= cut)
        assert (replay.end, replay.torn) == (last, cut != last)


@given(st.data())
def test_a_changed_byte_is_never_taken_for_a_record(data: st.DataObject) -> None:
    line = bytearray(encode_record(data.draw(st.sampled_from(STORY))))
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(DamagedLine):
        decode_line(bytes(line))


def test_damage_in_the_middle_is_reported_with_its_line() -> None:
    damaged = lines(STORY)
    damaged[3] = damaged[3].replace(b"began", b"begun")
    with pytest.raises(JournalCorrupt, match="line 4") as caught:
        Replay("the path").read(damaged)
    assert (caught.value.line, caught.value.path) == (4, "the path")


def test_a_damaged_end_of_several_lines_is_what_a_loss_of_power_leaves() -> None:
    kept = lines(STORY[:4])
    replay = Replay("j").read([*kept, b"\0\0\0\0\n", b"junk\n", encode_record(STORY[4])[:-5]])
    assert (replay.torn, replay.end, replay.lines) == (True, sum(map(len, kept)), 4)


@given(st.text(max_size=50), st.text(max_size=50))
def test_any_text_comes_back_and_stays_one_line(task_id: str, prompt: str) -> None:
    record = records.TaskAdded(id=task_id or "x", task={"prompt": prompt})
    line = encode_record(record)
    assert line.count(b"\n") == 1
    assert decode_line(line) == record


def test_a_line_is_plain_json_with_its_record_inside() -> None:
    plain = msgspec.json.decode(encode_record(STORY[1]))
    assert plain["record"] == {"kind": "added", "id": "a", "task": {"prompt": "do a"}}
