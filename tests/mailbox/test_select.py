"""Waiting for several mailboxes at once, in threads and coroutines, without polling and without a trace."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from claude_actors.errors import MailboxTimeout
from claude_actors.mailbox import Mailbox, aselect, select

DEADLINE = 30.0


def boxes(count: int) -> list[Mailbox[Any]]:
    return [Mailbox(None, overflow="drop_oldest", name=str(number)) for number in range(count)]


def test_the_first_that_is_ready_in_the_given_order_is_returned_and_nothing_is_taken() -> None:
    first, second, third = boxes(3)
    third.put("c")
    second.put("b")
    assert select([first, second, third]) is second
    assert select([third, second]) is third
    assert (len(second), len(third)) == (1, 1)


def test_nothing_is_ready_in_time_and_nobody_is_left_waiting() -> None:
    some = boxes(3)
    assert select(some, timeout=0) is None
    assert select(some, timeout=0.01) is None
    assert asyncio.run(aselect(some, timeout=0.01)) is None
    assert [len(box._waiting) for box in some] == [0, 0, 0]


def test_without_mailboxes_there_is_nothing_to_wait_for() -> None:
    assert select([]) is None
    assert asyncio.run(aselect([])) is None


def test_a_closed_mailbox_is_ready_so_that_its_end_is_seen() -> None:
    first, second = boxes(2)
    second.close()
    assert select([first, second]) is second


@pytest.mark.parametrize("what", ["put", "close", "put_last"])
def test_a_sleeper_is_woken_by_an_item_and_by_an_end(what: str) -> None:
    some, found, asleep = boxes(3), list[object](), threading.Event()

    class Noting(Mailbox[Any]):
        def join(self, waiter: Any) -> None:
            super().join(waiter)
            asleep.set()

    last: Mailbox[Any] = Noting(None, overflow="drop_oldest")
    thread = threading.Thread(target=lambda: found.append(select([*some, last], DEADLINE)))
    thread.start()
    assert asleep.wait(DEADLINE)
    getattr(some[1], what)(*(() if what == "close" else (1,)))
    thread.join(DEADLINE)
    assert found == [some[1]]


def test_one_consumer_can_serve_many_mailboxes_to_their_ends() -> None:
    some, got = boxes(5), list[tuple[str, int]]()

    def produce(box: Mailbox[Any]) -> None:
        for number in range(200):
            box.put(number)
        box.close()

    threads = [threading.Thread(target=produce, args=(box,)) for box in some]
    for thread in threads:
        thread.start()
    live = list(some)
    while live:
        ready = select(live, DEADLINE)
        assert ready is not None
        try:
            got.append((ready.name, ready.get(timeout=0)))
        except MailboxTimeout:
            continue
        except Exception:
            live.remove(ready)
    for thread in threads:
        thread.join(DEADLINE)
    for box in some:
        assert [number for name, number in got if name == box.name] == list(range(200))


def test_a_wake_up_that_a_selecting_consumer_does_not_use_goes_to_another() -> None:
    (box,) = boxes(1)
    (other,) = boxes(1)
    got: list[Any] = []
    taking = threading.Thread(target=lambda: got.append(box.get(DEADLINE)))
    # The selector sleeps first, so the wake-up for the item is spent on it.
    selecting = threading.Thread(target=lambda: got.append(select([box, other], DEADLINE)))
    selecting.start()
    while not len(box._waiting):
        threading.Event().wait(0.001)
    taking.start()
    while len(box._waiting) < 2:
        threading.Event().wait(0.001)
    box.put("item")
    selecting.join(DEADLINE)
    taking.join(DEADLINE)
    assert sorted(map(str, got)) == sorted(["item", str(box)])


def test_a_cancelled_coroutine_leaves_nothing_behind() -> None:
    some = boxes(3)

    async def main() -> None:
        waiting = asyncio.create_task(aselect(some))
        await asyncio.sleep(0)
        assert [len(box._waiting) for box in some] == [1, 1, 1]
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(main())
    assert [len(box._waiting) for box in some] == [0, 0, 0]
