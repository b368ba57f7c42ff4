"""Who waits, and whose turn it is."""

from __future__ import annotations

from itertools import count

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from claude_actors.fleet.entry import Entry
from claude_actors.fleet.waiting import WaitingTasks
from claude_actors.options import Options

NUMBERS = count(1)
KINDS = ("ready", "delayed", "parked")
OPTIONS = Options()


def entry(name: str, **fields: int | str | None) -> Entry:
    return Entry(**{"id": name, "number": next(NUMBERS), "options": OPTIONS, **fields})  # type: ignore[arg-type]


def taken(waiting: WaitingTasks, now: float = 0.0) -> list[str]:
    """Take out whoever can go now."""
    found = []
    while (one := waiting.peek(now)) is not None:
        waiting.pop(one)
        found.append(one.id)
    return found


def filled(*entries: Entry) -> WaitingTasks:
    waiting = WaitingTasks()
    for one in entries:
        waiting.push(one)
    return waiting


def test_higher_priorities_go_first_and_equals_in_order_of_submission() -> None:
    waiting = filled(entry("a"), entry("b", priority=5), entry("c"), entry("d", priority=5), entry("e", priority=-1))
    assert taken(waiting) == ["b", "d", "a", "c", "e"]


def test_one_that_waits_again_goes_before_younger_ones() -> None:
    old, young = entry("old"), entry("young")
    waiting = filled(old)
    waiting.pop(old)
    waiting.push(young)
    waiting.push(old)
    assert taken(waiting) == ["old", "young"]


def test_a_delayed_one_goes_when_it_is_due_and_not_before() -> None:
    waiting = WaitingTasks()
    waiting.push(entry("late"), due=5.0)
    assert waiting.peek(4.9) is None
    assert waiting.next_due() == 5.0
    assert len(waiting) == 1
    assert taken(waiting, 5.0) == ["late"]
    assert waiting.next_due() is None


def test_one_that_was_removed_is_found_nowhere() -> None:
    ready, delayed, parked = entry("a"), entry("b"), entry("c", conversation="k")
    first = entry("first", conversation="k", priority=1)
    waiting = filled(first, ready, parked)
    waiting.push(delayed, due=5.0)
    waiting.pop(first)
    waiting.peek(0.0)
    assert [waiting.remove(one) for one in (ready, delayed, parked)] == [True, True, True]
    waiting.release("k")
    assert not waiting.remove(ready)
    assert (len(waiting), taken(waiting, 10.0), waiting.next_due()) == (0, [], None)


def test_a_conversation_has_one_task_at_a_time_and_the_others_go_past_it() -> None:
    waiting = filled(entry("k1", conversation="k"), entry("k2", conversation="k"), entry("other"))
    assert taken(waiting) == ["k1", "other"]
    waiting.release("k")
    assert taken(waiting) == ["k2"]


def test_the_tasks_of_a_conversation_keep_their_order() -> None:
    waiting = filled(*(entry(f"k{number}", conversation="k") for number in range(4)))
    order = []
    while len(waiting):
        order += taken(waiting)
        waiting.release("k")
    assert order == ["k0", "k1", "k2", "k3"]


def test_another_with_the_id_of_one_that_was_removed_is_not_taken_for_it() -> None:
    old, new = entry("a"), entry("a")
    waiting = filled(old)
    waiting.remove(old)
    waiting.push(new)
    assert not waiting.remove(old)
    assert waiting.peek(0.0) is new
    assert taken(waiting) == ["a"]


def test_those_that_were_removed_do_not_pile_up_behind_one_that_waits() -> None:
    first, parked = entry("first", priority=9), entry("busy", conversation="c", priority=10)
    waiting = filled(first, parked)
    assert waiting.peek(0.0) is parked
    waiting.pop(parked)
    for number in range(1000):
        gone = [entry(f"{kind}{number}", conversation="c" if kind == "parked" else None) for kind in KINDS]
        ready, delayed, held = gone
        waiting.push(ready)
        waiting.push(delayed, due=5.0)
        waiting.push(msgspec.structs.replace(held, priority=10))
        assert waiting.peek(0.0) is first
        for one in waiting.entries()[1:]:
            waiting.remove(one)
    kept = [len(waiting._ready), len(waiting._delayed), *map(len, waiting._parked.values())]
    assert max(kept) < 200
    assert taken(waiting) == ["first"]


def test_one_that_is_set_aside_lets_the_others_go_and_then_has_its_turn() -> None:
    first, second = entry("first"), entry("second")
    waiting = filled(first, second)
    waiting.set_aside(first)
    assert taken(waiting) == ["second"]
    assert (len(waiting), waiting.entries()) == (1, [first])
    waiting.bring_back()
    assert taken(waiting) == ["first"]


def test_one_that_was_removed_while_it_was_aside_does_not_come_back() -> None:
    one = entry("a")
    waiting = filled(one)
    waiting.set_aside(one)
    waiting.remove(one)
    waiting.bring_back()
    assert taken(waiting) == []


def test_releasing_no_conversation_changes_nothing() -> None:
    waiting = filled(entry("a"))
    waiting.release(None)
    waiting.release("unknown")
    assert taken(waiting) == ["a"]


@given(st.lists(st.tuples(st.integers(-2, 2), st.sampled_from([None, "k", "m"]), st.integers(0, 3)), max_size=30))
def test_everybody_who_is_pushed_goes_exactly_once(tasks: list[tuple[int, str | None, int]]) -> None:
    waiting = WaitingTasks()
    for number, (priority, conversation, due) in enumerate(tasks):
        waiting.push(entry(str(number), priority=priority, conversation=conversation), due=float(due) or None)
    gone: list[str] = []
    for now in range(5):
        while found := taken(waiting, float(now)):
            gone += found
            waiting.release("k")
            waiting.release("m")
    assert sorted(gone, key=int) == [str(number) for number in range(len(tasks))]
    assert len(waiting) == 0
