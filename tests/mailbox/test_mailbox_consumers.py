"""What a thread that takes from a mailbox can rely on."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from claude_actors.errors import MailboxClosed, MailboxTimeout, SessionCrashed
from claude_actors.mailbox import Mailbox, MailboxLimits
from claude_actors.mailbox.crowd import AT_WORK, LONG_REST, REST
from claude_actors.mailbox.pace import PACE

PATIENCE = 30


def filled(*items: bytes, closed: bool = False) -> Mailbox[str]:
    mailbox = Mailbox(bytes.decode, name="messages")
    mailbox.put_many(items)
    if closed:
        mailbox.close()
    return mailbox


def test_items_come_out_decoded_and_in_order() -> None:
    mailbox = filled(b"a", b"b")
    mailbox.put(b"c")
    assert len(mailbox) == 3
    assert [mailbox.get(), mailbox.get(), mailbox.get()] == ["a", "b", "c"]
    assert len(mailbox) == 0


def test_an_item_is_decoded_once_and_in_the_thread_that_takes_it() -> None:
    threads: list[str] = []

    def decode(item: bytes) -> bytes:
        threads.append(threading.current_thread().name)
        return item

    mailbox = Mailbox(decode)
    mailbox.put(b"x")
    assert threads == []
    with ThreadPoolExecutor(1, thread_name_prefix="consumer") as pool:
        pool.submit(mailbox.get).result(PATIENCE)
    assert threads == ["consumer_0"]


def test_without_decode_any_object_passes_through_as_it_is() -> None:
    mailbox: Mailbox[object] = Mailbox(overflow="drop_oldest")
    thing = object()
    mailbox.put(thing)
    assert mailbox.get() is thing


def test_objects_cannot_be_spilled_to_disk() -> None:
    with pytest.raises(ValueError, match="cannot be spilled"):
        Mailbox()


@pytest.mark.parametrize("limits", [{"max_items": 0}, {"max_bytes": 0}])
def test_a_mailbox_must_hold_something(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least one"):
        MailboxLimits(**limits)


def test_an_unknown_policy_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="drop_newest"):
        Mailbox(bytes.decode, overflow="drop_newest")  # type: ignore[arg-type]


def test_iteration_gives_what_is_inside_and_ends_after_the_close() -> None:
    assert list(filled(b"a", b"b", closed=True)) == ["a", "b"]


def test_iteration_raises_the_error_that_ended_the_source_after_the_last_item() -> None:
    mailbox = filled(b"a", b"b")
    mailbox.close(SessionCrashed(code=1, signal=None))
    seen: list[str] = []
    with pytest.raises(SessionCrashed):
        seen.extend(mailbox)
    assert seen == ["a", "b"]


def test_get_after_the_last_item_raises_mailbox_closed_with_the_error() -> None:
    error = SessionCrashed(code=None, signal=9)
    mailbox = filled(b"a")
    mailbox.close(error)
    assert mailbox.get() == "a"
    for _ in range(2):
        with pytest.raises(MailboxClosed) as raised:
            mailbox.get()
        assert raised.value.error is error
        assert raised.value.__cause__ is error


def test_only_the_first_close_counts() -> None:
    mailbox = filled()
    mailbox.close()
    mailbox.close(RuntimeError("too late"))
    assert list(mailbox) == []
    assert mailbox.error is None


def test_what_is_put_after_the_close_is_refused_and_counted() -> None:
    mailbox = filled(b"a", closed=True)
    mailbox.put_many([b"b", b"c"])
    mailbox.put_last(b"d")
    assert list(mailbox) == ["a"]
    assert mailbox.counts().refused == 3


def test_get_raises_mailbox_timeout_and_leaves_the_mailbox_usable() -> None:
    mailbox = filled()
    for timeout in (0, 0.001, -1):
        with pytest.raises(MailboxTimeout):
            mailbox.get(timeout)
    mailbox.put(b"a")
    assert mailbox.get(0) == "a"


def test_a_waiting_thread_is_woken_by_an_item_and_by_the_close() -> None:
    mailbox = filled()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(mailbox.get)
        mailbox.put(b"a")
        assert waiting.result(PATIENCE) == "a"
        ending = pool.submit(list, mailbox)
        mailbox.put(b"b")
        mailbox.close()
        assert ending.result(PATIENCE) == ["b"]


def test_each_of_several_waiting_threads_gets_one_item() -> None:
    mailbox = filled()
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(mailbox.get, PATIENCE) for _ in range(8)]
        for index in range(0, 8, 2):
            mailbox.put_many([b"%d" % index, b"%d" % (index + 1)])
        assert sorted(future.result(PATIENCE) for future in waiting) == [str(index) for index in range(8)]


def test_leaving_a_loop_early_keeps_the_other_items() -> None:
    mailbox = filled(b"a", b"b", b"c", closed=True)
    for message in mailbox:
        assert message == "a"
        break
    assert list(mailbox) == ["b", "c"]


def test_a_decode_error_reaches_the_consumer_and_only_that_item_is_gone() -> None:
    mailbox = filled(b"\xff", b"a", closed=True)
    with pytest.raises(UnicodeDecodeError):
        mailbox.get()
    assert list(mailbox) == ["a"]
    assert mailbox.counts().memory_bytes == 0
    assert mailbox.counts().taken == 2


def test_an_index_error_of_decode_does_not_look_like_an_empty_mailbox() -> None:
    mailbox: Mailbox[int] = Mailbox(lambda item: item[5])
    mailbox.put(b"short")
    with pytest.raises(IndexError):
        next(iter(mailbox))


def test_a_consumer_stuck_in_decode_never_holds_up_a_producer() -> None:
    entered, proceed = threading.Event(), threading.Event()

    def stuck(item: bytes) -> bytes:
        entered.set()
        assert proceed.wait(PATIENCE)
        return item

    mailbox = Mailbox(stuck, limits=MailboxLimits(max_items=10))
    mailbox.put(b"first")
    with ThreadPoolExecutor(1) as pool:
        stuck_consumer = pool.submit(mailbox.get)
        assert entered.wait(PATIENCE)
        mailbox.put_many([b"x"] * 10_000)
        mailbox.close()
        assert len(mailbox) == 10_000
        proceed.set()
        assert stuck_consumer.result(PATIENCE) == b"first"


def test_the_counts_add_up_at_every_step() -> None:
    mailbox = filled(b"aa", b"b")
    assert mailbox.counts().memory_bytes == 3
    mailbox.get()
    counts = mailbox.counts()
    assert (counts.put, counts.taken, counts.waiting, counts.memory_bytes) == (2, 1, 1, 1)
    assert not counts.closed


def test_a_last_item_is_delivered_and_then_the_end() -> None:
    mailbox = filled(b"a")
    mailbox.put_last(b"end", error=RuntimeError("why"))
    assert (mailbox.get(), mailbox.get()) == ("a", "end")
    with pytest.raises(RuntimeError, match="why"):
        list(mailbox)


def test_discard_drops_what_waits_and_ends_the_mailbox() -> None:
    mailbox = filled(b"a", b"b")
    mailbox.discard()
    assert list(mailbox) == []
    counts = mailbox.counts()
    assert (counts.dropped, counts.waiting, counts.memory_bytes, counts.closed) == (2, 0, 0, True)


def test_an_empty_mailbox_is_still_true_and_tells_its_name() -> None:
    mailbox = filled()
    assert mailbox
    assert repr(mailbox) == "<Mailbox 'messages' waiting=0 closed=False>"


@pytest.mark.parametrize("way", ["for", "get"])
@pytest.mark.parametrize("somebody_waits", [True, False])
def test_a_consumer_gives_up_the_interpreter_now_and_then_and_often_while_somebody_waits(
    way: str, somebody_waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox = filled(*[b"x"] * 200, closed=True)
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    PACE.hurry()
    now += 0.2 if somebody_waits else 0.3
    taken_at: list[int] = []

    def note_instead(_seconds: float) -> None:
        taken_at.append(mailbox.counts().taken)

    monkeypatch.setattr(time, "sleep", note_instead)
    if way == "for":
        list(mailbox)
    else:
        [mailbox.get() for _ in range(200)]
    assert taken_at == ([64, 128, 192] if somebody_waits else [192])


def test_it_is_crowded_while_consumers_at_work_are_behind() -> None:
    mailbox: Mailbox[bytes] = Mailbox(bytes)
    mailbox.put_many([b"x"] * 1500)
    assert not mailbox.crowded()  # nobody takes anything
    mailbox.get()
    assert mailbox.crowded() == REST
    assert not mailbox.crowded()  # nothing was taken since
    for _ in range(600):
        mailbox.get()
    assert not mailbox.crowded()  # they have caught up
    mailbox.discard()


def test_behind_large_items_the_rest_is_longer_and_ends_when_a_consumer_comes_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    mailbox: Mailbox[bytes] = Mailbox(bytes)
    reliefs: list[str] = []
    mailbox.put_many([b"x" * 600_000] * 2)
    assert not mailbox.crowded(lambda: reliefs.append("nobody is at work"))
    mailbox.get()
    assert mailbox.crowded(lambda: reliefs.append("taken")) == LONG_REST
    assert reliefs == []
    mailbox.get()
    assert reliefs == ["taken"]
    assert not mailbox.crowded(lambda: reliefs.append("nothing waits"))
    mailbox.put(b"x" * 600_000)
    assert mailbox.crowded(lambda: reliefs.append("again")) == LONG_REST
    now += AT_WORK
    assert not mailbox.crowded(lambda: reliefs.append("the consumer has stopped"))
    mailbox.get()
    assert reliefs == ["taken", "again"]


def test_an_item_that_is_being_decoded_counts_until_it_is_and_a_consumer_that_is_done_meanwhile_is_seen() -> None:
    rests: list[float] = []
    mailbox: Mailbox[bytes]

    def decode(item: bytes) -> bytes:
        rests.append(mailbox.crowded())
        return item

    mailbox = Mailbox(decode)
    mailbox.put_many([b"x", b"x" * 600_000])
    mailbox.get()
    mailbox.get()
    assert rests == [0.0, LONG_REST]
    assert not mailbox.crowded()
