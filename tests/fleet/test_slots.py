"""Which sessions are free, fit, give way, or have had their time."""

from __future__ import annotations

from typing import Any

import pytest

from claude_actors.errors import InvalidOptions
from claude_actors.fleet import Budget, WarmPolicy
from claude_actors.fleet.entry import Entry
from claude_actors.fleet.slots import Slot, SlotTable
from claude_actors.options import Options

OPTIONS = Options(model="opus")
POLICY = WarmPolicy(max_idle=2, idle_ttl=10.0, max_age=100.0)


def entry(**fields: Any) -> Entry:
    return Entry(**{"id": "job", "number": 1, "options": OPTIONS, **fields})


def slot(table: SlotTable, *, now: float = 0.0, options: Options = OPTIONS, **fields: Any) -> Slot:
    made = table.add(options, now, session_id=fields.pop("session_id", "s"))
    state, job = fields.pop("state", "idle"), fields.pop("job", None)
    if job is not None:
        table.occupy(made, job, fields.pop("conversation", None))
    if state != "starting":
        table.show(made, state, now)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


KEPT: dict[str, Any] = {"used": True, "conversation": "k", "session_id": "s"}
FITS: list[tuple[str, dict[str, Any], dict[str, Any], bool]] = [
    ("a session never used fits a new conversation", {}, {}, True),
    ("one that is still starting does too", {"state": "starting"}, {}, True),
    ("it does not fit a conversation to be resumed", {}, {"resume": "s"}, False),
    ("nor a task with other options", {"options": Options(model="haiku")}, {}, False),
    ("equal options need not be the same object", {"options": Options(model="opus")}, {}, True),
    ("nor a budget that the CLI is told at its start", {}, {"budget": Budget(turns=3)}, False),
    ("nor this one", {}, {"budget": Budget(usd=3.0)}, False),
    ("tokens are counted here, so they do no harm", {}, {"budget": Budget(tokens=3)}, True),
    ("one that has a task fits nobody", {"job": "other"}, {}, False),
    ("one that is ending fits nobody", {"state": "ending"}, {}, False),
    ("a used one fits nobody else", {"used": True}, {}, False),
    ("a used one without a conversation does not fit its id", {"used": True}, {"resume": "s"}, False),
    ("one kept for a conversation fits its next task", KEPT, {"conversation": "k", "resume": "s"}, True),
    ("but not if the conversation went on elsewhere", KEPT, {"conversation": "k", "resume": "other"}, False),
    ("and not another conversation", KEPT, {"conversation": "m", "resume": "s"}, False),
    ("and not a task without one", KEPT, {}, False),
    ("a new conversation with a key may have one never used", {}, {"conversation": "k"}, True),
]


@pytest.mark.parametrize(("of", "asked", "fits"), [row[1:] for row in FITS], ids=[row[0] for row in FITS])
def test_whether_a_session_fits(of: dict[str, Any], asked: dict[str, Any], fits: bool) -> None:
    table = SlotTable()
    made = slot(table, **of)
    assert table.fitting(entry(**asked)) is (made if fits else None)


def test_an_initialised_session_is_taken_before_one_that_still_starts() -> None:
    table = SlotTable()
    slot(table, state="starting")
    ready = slot(table, now=5.0)
    assert table.fitting(entry()) is ready


def test_a_session_that_is_ending_gives_its_place_away_but_they_do_not_pile_up() -> None:
    table = SlotTable()
    for _ in range(2):
        slot(table, state="ending")
    assert table.has_room(2)
    slot(table, state="running", job="a")
    slot(table, state="ending")
    assert not table.has_room(2)


def test_a_conversation_is_in_use_until_its_process_is_gone() -> None:
    table = SlotTable()
    ending = slot(table, state="ending", session_id="s")
    assert (table.is_ending("s"), table.is_ending("other"), table.is_ending(None)) == (True, False, False)
    table.remove(ending.number)
    assert not table.is_ending("s")


def test_one_never_used_gives_way_first_and_then_the_one_idle_the_longest() -> None:
    table = SlotTable()
    slot(table, job="busy", state="needs_input")
    older = slot(table, used=True, conversation="a", idle_since=1.0)
    younger = slot(table, used=True, conversation="b", idle_since=2.0)
    unused = slot(table, idle_since=3.0)
    order = []
    while (one := table.to_evict()) is not None:
        table.show(one, "ending", 0.0)
        order.append(one)
    assert order == [unused, older, younger]


@pytest.mark.parametrize("state", ["starting", "running", "needs_input"])
def test_a_session_with_a_task_is_never_evicted_nor_expired(state: str) -> None:
    table = SlotTable()
    slot(table, job="busy", state=state)
    assert table.to_evict() is None
    assert table.expired(POLICY, now=1e9) == []
    assert table.next_expiry(POLICY) is None


def test_an_idle_session_expires_by_idleness_or_by_age_whichever_comes_first() -> None:
    table = SlotTable()
    idle = slot(table, idle_since=5.0)
    assert table.next_expiry(POLICY) == 15.0
    assert table.expired(POLICY, 14.9) == []
    assert table.expired(POLICY, 15.0) == [idle]
    idle.idle_since = 99.0
    assert table.next_expiry(POLICY) == 100.0


@pytest.mark.parametrize(
    ("fields", "others", "now", "kept"),
    [
        ({"conversation": "k"}, 0, 50.0, True),
        ({"conversation": None}, 0, 50.0, False),
        ({"conversation": "k"}, 1, 50.0, True),
        ({"conversation": "k"}, 2, 50.0, False),
        ({"conversation": "k"}, 0, 100.0, False),
    ],
    ids=["one of a conversation", "one without", "within max_idle", "beyond max_idle", "past max_age"],
)
def test_what_is_kept_after_a_task(fields: dict[str, Any], others: int, now: float, kept: bool) -> None:
    table = SlotTable()
    for _ in range(others):
        slot(table, idle_since=now)
    made = slot(table, used=True, idle_since=now, **fields)
    assert table.may_keep(made, POLICY, now) is kept


@pytest.mark.parametrize("fields", [{"ready": -1}, {"max_idle": -1}, {"idle_ttl": 0.0}, {"max_age": -1.0}])
def test_an_unsound_policy_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidOptions):
        WarmPolicy(**fields)
