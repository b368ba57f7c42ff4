"""Others than the holder of a session are told of what happens in it: actors by `tell`, mailboxes by `put`."""

from __future__ import annotations

import threading
from typing import Any, Literal

import pykka
import pytest
from support.leaks import wait_until
from support.live import DEADLINE, in_thread, joined, passed, running, taken_in

from claude_actors import (
    Delivered,
    DeliveryEnded,
    DeliverySkipped,
    InvalidOptions,
    JunkSeen,
    LifecycleChanged,
    Mailbox,
    MailboxLimits,
    MailboxOverflow,
    Message,
    SessionCrashed,
    SessionFailed,
    SessionStopped,
    event_mailbox,
    message_mailbox,
)
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.wire.messages import decode_message


class Gate:
    """Where a listener stands still with its first message in hand."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def go_through(self) -> None:
        self.reached.set()
        self.opened.wait(DEADLINE)


class Listener(pykka.ThreadingActor):
    """Keeps what it is told; stands still at its gate if it has one."""

    def __init__(self, told: list[Any], gate: Gate | None = None) -> None:
        super().__init__()
        self.told, self.gate = told, gate

    def on_receive(self, message: Any) -> None:
        if self.gate is not None:
            self.gate.go_through()
        self.told.append(message)


def say(cli: MemoryCLI, *numbers: int) -> None:
    cli.push_frame(*({"type": "numbered", "number": number} for number in numbers))


def numbers(items: list[Any]) -> list[int]:
    messages = [item.message if isinstance(item, Delivered) else item for item in items]
    return [
        message.raw["number"] for message in messages if isinstance(message, Message) and message.type == "numbered"
    ]


def last_is_told(told: list[Any]) -> bool:
    return wait_until(lambda: bool(told) and isinstance(told[-1], DeliveryEnded))


def test_an_actor_is_told_of_every_message_from_now_on_and_of_the_end() -> None:
    told: list[Any] = []
    cli, listener = MemoryCLI(), Listener.start(told)
    with running(cli) as session:
        say(cli, 1, 2)
        first = [session.messages().get(DEADLINE) for _ in range(2)]
        subscription = session.subscribe(listener)
        active = subscription.active
        say(cli, 3, 4)
        say(cli, 5)
        assert wait_until(lambda: numbers(told) == [3, 4, 5])
    assert last_is_told(told)
    assert told[-1] == DeliveryEnded(session, None)
    assert {item.source for item in told} == {session}
    assert numbers(first) == [1, 2]
    # Subscribing takes nothing from the session's own mailbox.
    assert numbers(list(session.messages())) == [3, 4, 5]
    assert (active, subscription.active) == (True, False)
    listener.stop()


def test_a_message_is_decoded_in_the_actors_own_thread_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoders: list[str] = []

    def noting(line: bytes) -> Message:
        decoders.append(threading.current_thread().name)
        return decode_message(line)

    monkeypatch.setattr("claude_actors.subscriptions.decode_message", noting)
    told: list[Any] = []
    cli, listener = MemoryCLI(), Listener.start(told)
    with running(cli) as session:
        session.subscribe(listener)
        say(cli, 1)
        assert wait_until(lambda: len(told) == 1)
        assert decoders == []
        assert told[0].message is told[0].message
        assert decoders == [threading.current_thread().name]
    listener.stop()


def test_an_actor_is_told_of_events_and_the_final_one_is_the_last() -> None:
    told: list[Any] = []
    cli, listener = MemoryCLI(), Listener.start(told)
    with running(cli) as session:
        session.subscribe(listener, "events")
        cli.push(b"junk\n")
        assert wait_until(lambda: len(told) == 1)
        cli.exit(3)
        session.wait(DEADLINE)
    assert last_is_told(told)
    kinds = [type(item.message) for item in told[:-1]]
    assert kinds == [JunkSeen, LifecycleChanged, SessionFailed]
    assert told[-2].message == session.final_event
    # The final event has told the failure already.
    assert told[-1] == DeliveryEnded(session, None)
    listener.stop()


def test_a_crash_is_the_error_of_the_end_of_messages() -> None:
    told: list[Any] = []
    cli, listener, mailbox = MemoryCLI(), Listener.start(told), message_mailbox()
    with running(cli) as session:
        session.subscribe(listener)
        session.subscribe(mailbox)
        cli.exit(3)
        session.wait(DEADLINE)
    assert last_is_told(told)
    assert isinstance(told[-1].error, SessionCrashed)
    with pytest.raises(SessionCrashed):
        list(mailbox)
    listener.stop()


def test_an_actor_that_falls_behind_is_skipped_and_told_how_much_it_missed_where_it_missed_it() -> None:
    told: list[Any] = []
    gate = Gate()
    cli, listener = MemoryCLI(), Listener.start(told, gate)
    with running(cli) as session:
        subscription = session.subscribe(listener, max_in_flight=10)
        say(cli, 0)
        # With one in hand it leaves the inbox empty, so which of the next ones fit does not depend on its thread.
        passed(gate.reached)
        for number in range(1, 100):
            say(cli, number)
        taken_in(cli, session)
        assert subscription.skipped == 89
        gate.opened.set()
        assert wait_until(lambda: len(told) == 11)
        say(cli, 100, 101)
        assert wait_until(lambda: numbers(told)[-2:] == [100, 101])
    assert last_is_told(told)
    gaps = [(index, item.count) for index, item in enumerate(told) if isinstance(item, DeliverySkipped)]
    assert gaps == [(11, 89)]
    assert numbers(told) == [*range(11), 100, 101]
    # The session's own mailbox misses nothing.
    assert numbers(list(session.messages())) == list(range(102))
    listener.stop()


def test_an_actor_that_is_full_is_still_told_of_the_final_event_and_of_the_end() -> None:
    told: list[Any] = []
    gate = Gate()
    cli, listener = MemoryCLI(), Listener.start(told, gate)
    with running(cli) as session:
        session.subscribe(listener, "events", max_in_flight=1)
        for _ in range(20):
            cli.push(b"junk\n")
        taken_in(cli, session)
    gate.opened.set()
    assert last_is_told(told)
    finals = [item.message for item in told if isinstance(item, Delivered) and item.message == session.final_event]
    assert finals == [SessionStopped("stop requested")]
    assert any(isinstance(item, DeliverySkipped) for item in told)
    listener.stop()


def test_an_actor_that_dies_is_unsubscribed_and_nobody_is_disturbed() -> None:
    told: list[Any] = []
    cli, dying, living = MemoryCLI(), Listener.start([]), Listener.start(told)
    with running(cli) as session:
        subscription = session.subscribe(dying)
        session.subscribe(living)
        dying.stop()
        say(cli, 1)
        say(cli, 2)
        assert wait_until(lambda: numbers(told) == [1, 2])
        assert not subscription.active
    living.stop()


def test_a_cancelled_subscription_delivers_no_more_and_closes_nothing() -> None:
    cli, mailbox = MemoryCLI(), message_mailbox()
    with running(cli) as session:
        subscription = session.subscribe(mailbox)
        say(cli, 1)
        assert numbers([mailbox.get(DEADLINE)]) == [1]
        subscription.cancel()
        subscription.cancel()
        say(cli, 2)
        taken_in(cli, session)
        assert len(mailbox) == 0
    assert not mailbox.closed


def test_one_mailbox_may_serve_several_sessions_and_outlive_them() -> None:
    clis, mailbox = [MemoryCLI() for _ in range(3)], message_mailbox()
    for number, cli in enumerate(clis):
        with running(cli) as session:
            session.subscribe(mailbox, close=False)
            say(cli, number)
            taken_in(cli, session)
    assert not mailbox.closed
    mailbox.close()
    assert numbers(list(mailbox)) == [0, 1, 2]


def test_a_shared_mailbox_of_events_gets_one_final_event_of_each_session() -> None:
    mailbox = event_mailbox()
    for _ in range(3):
        with running(MemoryCLI()) as session:
            session.subscribe(mailbox, "events", close=False)
    mailbox.close()
    assert [event for event in mailbox if isinstance(event, SessionStopped)] == [SessionStopped("stop requested")] * 3


def test_a_small_mailbox_of_events_keeps_the_final_one_by_every_policy() -> None:
    policies: tuple[Literal["drop_oldest", "fail"], ...] = ("drop_oldest", "fail")
    for policy in policies:
        cli = MemoryCLI()
        mailbox = event_mailbox(limits=MailboxLimits(max_items=2), overflow=policy)
        with running(cli) as session:
            session.subscribe(mailbox, "events")
            for _ in range(20):
                cli.push(b"junk\n")
            taken_in(cli, session)
        assert list(mailbox)[-1] == session.final_event


def test_a_subscriber_that_has_lost_messages_learns_it_at_the_end() -> None:
    cli = MemoryCLI()
    mailbox = message_mailbox(limits=MailboxLimits(max_items=2), overflow="fail")
    with running(cli) as session:
        session.subscribe(mailbox)
        for _ in range(5):
            cli.push(b'{"type":"odd"}\n')
        taken_in(cli, session)
    assert isinstance(session.final_event, SessionStopped)
    got: list[Any] = []
    with pytest.raises(MailboxOverflow):
        got.extend(iter(mailbox))
    assert len(got) == 2


def test_who_subscribes_after_the_end_is_told_how_it_ended() -> None:
    told: list[Any] = []
    cli, listener, events, messages = MemoryCLI(), Listener.start(told), event_mailbox(), message_mailbox()
    with running(cli) as session:
        cli.exit(3)
        session.wait(DEADLINE)
    assert not session.subscribe(listener, "events").active
    assert not session.subscribe(events, "events").active
    assert not session.subscribe(messages).active
    assert last_is_told(told)
    assert [item.message for item in told[:-1]] == [session.final_event]
    assert list(events) == [session.final_event]
    with pytest.raises(SessionCrashed):
        list(messages)
    listener.stop()


def test_who_subscribes_while_the_session_ends_is_told_of_the_end_exactly_once() -> None:
    for _ in range(100):
        told: list[Any] = []
        begin = threading.Barrier(2)
        listener = Listener.start(told)
        with running(MemoryCLI()) as session:

            def subscribe(session: Any = session, listener: Any = listener, begin: threading.Barrier = begin) -> None:
                begin.wait(DEADLINE)
                session.subscribe(listener, "events")

            thread = in_thread(subscribe)
            begin.wait(DEADLINE)
            session.stop()
            joined(thread)
        assert last_is_told(told)
        assert [item.message for item in told if isinstance(item, Delivered)].count(session.final_event) == 1
        assert sum(isinstance(item, DeliveryEnded) for item in told) == 1
        listener.stop()


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (event_mailbox(), "messages"),
        (message_mailbox(), "events"),
        (object(), "messages"),
        (print, "events"),
        (Mailbox[Any](None, overflow="drop_oldest"), "messages"),
    ],
)
def test_what_cannot_subscribe_is_refused(target: Any, kind: Any) -> None:
    with running(MemoryCLI()) as session, pytest.raises(InvalidOptions):
        session.subscribe(target, kind)
