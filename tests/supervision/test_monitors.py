"""monitor(): one Down for each end, to a mailbox or an actor, also for what has ended already."""

from __future__ import annotations

import threading
from typing import Any

import pykka
import pytest
from support.leaks import wait_until
from support.trees import DEADLINE, Journal, Worker, failing, workers

from claude_actors import (
    ActorGone,
    Down,
    InvalidOptions,
    Mailbox,
    MailboxClosed,
    MailboxTimeout,
    NamedRef,
    SupervisionError,
    Supervisor,
    monitor,
)


@pytest.fixture
def journal() -> Journal:
    return Journal()


class Listener(pykka.ThreadingActor):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []

    def on_receive(self, message: Any) -> Any:
        self.heard.append(message)
        return self.heard


def test_a_down_carries_the_ref_and_the_reason(journal: Journal) -> None:
    ref, error = Worker.start("a", journal), ValueError("x")
    watching = monitor(ref)
    with pytest.raises(MailboxTimeout):
        watching.get(0)
    ref.tell(failing(error))
    assert watching.get(DEADLINE) == Down(ref, error)
    with pytest.raises(MailboxClosed):
        watching.get(DEADLINE)


def test_a_normal_end_has_no_reason(journal: Journal) -> None:
    ref = Worker.start("a", journal)
    watching = monitor(ref)
    ref.stop()
    assert [*watching.mailbox] == [Down(ref, None)]


def test_downs_of_many_actors_can_come_into_one_mailbox_or_to_one_actor(journal: Journal) -> None:
    downs: Mailbox[Down] = Mailbox(overflow="fail")
    listener = Listener.start()
    refs = [Worker.start(str(number), journal) for number in range(10)]
    for ref in refs:
        monitor(ref, downs)
        monitor(ref, listener)
    for ref in refs:
        ref.stop()
    assert {downs.get(DEADLINE).ref for _ in refs} == {*refs}
    assert len(downs) == 0

    def heard() -> list[Down]:
        messages: list[Any] = listener.ask("all?", block=True, timeout=DEADLINE)
        return [message for message in messages if isinstance(message, Down)]

    assert wait_until(lambda: len(heard()) >= len(refs))
    assert sorted(down.ref.actor_urn for down in heard()) == sorted(ref.actor_urn for ref in refs)
    listener.stop()


def test_what_has_ended_already_is_down_at_once_with_its_reason_if_anybody_knows_it(journal: Journal) -> None:
    ref, error = Worker.start("a", journal), ValueError("x")
    first = monitor(ref)
    ref.tell(failing(error))
    first.get(DEADLINE)
    assert monitor(ref).get(0) == Down(ref, error)
    unseen = Worker.start("b", journal)
    unseen.stop()
    down = monitor(unseen).get(0)
    assert isinstance(down.reason, ActorGone)


def test_a_cancelled_monitor_says_nothing(journal: Journal) -> None:
    downs: Mailbox[Down] = Mailbox(overflow="fail")
    ref = Worker.start("a", journal)
    watching = monitor(ref, downs)
    marker = monitor(ref)
    watching.cancel()
    watching.cancel()
    ref.stop()
    marker.get(DEADLINE)
    assert len(downs) == 0
    with pytest.raises(MailboxClosed):
        watching.get(0)


def test_a_listener_that_is_dead_is_no_harm(journal: Journal) -> None:
    listener, ref = Listener.start(), Worker.start("a", journal)
    monitor(ref, listener)
    marker = monitor(ref)
    listener.stop()
    ref.stop()
    assert marker.get(DEADLINE).ref is ref


def test_every_end_gives_exactly_one_down_however_many_threads_end_the_actor(journal: Journal) -> None:
    for _ in range(50):
        downs: Mailbox[Down] = Mailbox(overflow="fail")
        ref = Worker.start("a", journal)
        monitor(ref, downs)
        threads = [threading.Thread(target=ref.stop, kwargs={"block": False}) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        downs.get(DEADLINE)
        assert len(downs) == 0


def test_supervisors_proxies_and_names_can_be_monitored(journal: Journal) -> None:
    proxied = Worker.start("p", journal)
    proxy = proxied.proxy()
    watching = monitor(proxy)
    proxied.stop()
    assert watching.get(DEADLINE).ref is proxy
    with Supervisor(workers("a", journal, name="monitored")) as tree:
        ref = tree.child("a")
        by_name, of_tree = monitor(NamedRef("monitored")), monitor(tree)
    assert by_name.get(DEADLINE) == Down(ref, None)
    assert of_tree.get(DEADLINE) == Down(tree, None)


def test_what_cannot_be_monitored_or_told_is_refused(journal: Journal) -> None:
    with pytest.raises(SupervisionError, match="cannot be supervised"):
        monitor("nobody")
    ref = Worker.start("a", journal)
    with pytest.raises(InvalidOptions, match="Mailbox"):
        monitor(ref, print)  # type: ignore[arg-type]
    ref.stop()
