"""Answers on their way to the session: at once, or together with others where somebody is sure to let them out."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pykka
import pytest
from support.leaks import wait_until

from claude_actors.actors.answer_box import AnswerBox
from claude_actors.actors.base import ReactorActor
from claude_actors.actors.cork import CORK, let_out
from claude_actors.protocol.inputs import CallbackFinished, CallbacksFinished


class Session(ReactorActor):
    accepts: ClassVar[tuple[type, ...]] = (CallbacksFinished,)
    heard: ClassVar[list[list[str]]] = []
    threads: ClassVar[list[int]] = []

    def on_message(self, message: Any) -> None:
        self.heard.append([answer.request_id for answer in message.finished])
        self.threads.append(threading.get_ident())


@pytest.fixture
def session() -> Iterator[pykka.ActorRef[Session]]:
    Session.heard.clear()
    Session.threads.clear()
    ref = Session.start()
    yield ref
    CORK.holds = False
    ref.stop()


def answer(name: str, size: int = 10) -> CallbackFinished:
    return CallbackFinished(name, b"x" * size)


def test_an_answer_that_nobody_would_let_out_is_told_at_once(
    session: pykka.ActorRef[Session],
) -> None:
    box = AnswerBox(session)
    box.put(answer("one"), inline=True)
    assert wait_until(lambda: Session.heard == [["one"]])


def test_answers_that_may_wait_are_told_together_and_in_order_when_let_out(session: pykka.ActorRef[Session]) -> None:
    box = AnswerBox(session)
    CORK.holds = True
    for name in ("one", "two", "three"):
        box.put(answer(name), inline=True)
    assert Session.heard == []
    let_out()
    assert wait_until(lambda: Session.heard == [["one", "two", "three"]])
    let_out()
    assert len(Session.heard) == 1


def test_another_thread_lets_out_what_this_one_holds(session: pykka.ActorRef[Session]) -> None:
    box = AnswerBox(session)
    CORK.holds = True
    box.put(answer("held"), inline=True)
    other = threading.Thread(target=let_out)
    other.start()
    other.join()
    assert wait_until(lambda: Session.heard == [["held"]])


def test_a_long_answer_and_one_from_a_users_stack_wait_for_nobody(session: pykka.ActorRef[Session]) -> None:
    box = AnswerBox(session)
    CORK.holds = True
    box.put(answer("long", 100_000), inline=True)
    box.put(answer("told"), inline=False)
    assert wait_until(lambda: Session.heard == [["long"], ["told"]])
    assert Session.threads[1] != threading.get_ident()


def test_answers_for_a_session_that_is_over_are_let_go(session: pykka.ActorRef[Session]) -> None:
    box = AnswerBox(session)
    CORK.holds = True
    box.put(answer("held"), inline=True)
    session.stop()
    box.put(answer("long", 100_000), inline=True)
    let_out()
    assert Session.heard == []


def test_no_answer_is_lost_between_threads_that_put_and_threads_that_let_out(session: pykka.ActorRef[Session]) -> None:
    box, count = AnswerBox(session), 2000

    def put(prefix: str) -> None:
        CORK.holds = True
        for number in range(count):
            box.put(answer(f"{prefix}{number}"), inline=True)
            if number % 7 == 0:
                let_out()
        let_out()

    threads = [threading.Thread(target=put, args=(prefix,)) for prefix in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wait_until(lambda: sum(map(len, Session.heard)) == 4 * count)
    assert len({name for names in Session.heard for name in names}) == 4 * count
