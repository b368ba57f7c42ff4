"""snapshot(): the whole tree, at once, whatever its children do."""

from __future__ import annotations

import threading

import pytest
from support.leaks import wait_until
from support.trees import DEADLINE, Journal, Thing, failing, worker, workers

from claude_actors import Backoff, ChildSpec, Supervisor

QUICK = Backoff(first=0.001, jitter=0.0)


@pytest.fixture
def journal() -> Journal:
    return Journal()


def test_it_shows_every_child_its_state_restarts_and_mailbox_with_nested_trees(journal: Journal) -> None:
    gate, inside = threading.Event(), threading.Event()

    def hold() -> None:
        inside.set()
        gate.wait(DEADLINE)

    nested = Supervisor.spec("nested", workers("c", journal), strategy="one_for_all")
    children = [worker("a", journal, name="alpha"), worker("b", journal, restart="transient"), nested]
    with Supervisor(children, backoff=QUICK) as tree:
        tree.child("a").tell(failing(ValueError("oh")))
        journal.wait_for("start a", 2)
        assert wait_until(lambda: tree.count_children().active == 3)
        busy = tree.child("nested").child("c")
        busy.tell(hold)
        assert inside.wait(DEADLINE)
        for _ in range(5):
            busy.tell("later")
        tree.terminate_child("b")
        taken = tree.snapshot()
        gate.set()
    a, b, inner = taken.children
    assert (a.id, a.name, a.state, a.restarts, a.last_reason) == ("a", "alpha", "running", 1, "ValueError: oh")
    assert a.uptime is not None
    assert a.uptime >= 0
    assert (b.state, b.restart, b.mailbox, b.uptime, b.last_reason) == ("stopped", "transient", None, None, None)
    assert inner.kind == "supervisor"
    assert inner.tree is not None
    assert (inner.tree.strategy, inner.tree.state) == ("one_for_all", "running")
    assert [(child.id, child.mailbox) for child in inner.tree.children] == [("c", 5)]
    assert (taken.state, taken.restarts, taken.abandoned) == ("running", 1, 0)
    assert str(taken).splitlines() == [
        "supervisor: running; one_for_one, 1 restart inside",
        "  a: running, permanent, 1 restart, 0 waiting, last ended with ValueError: oh",
        "  b: stopped, transient, 0 restarts",
        "  nested: running, permanent, 0 restarts; one_for_all, 0 restarts inside",
        "    c: running, permanent, 0 restarts, 5 waiting",
    ]


def test_it_can_be_taken_before_the_start_after_the_end_and_while_a_start_blocks(journal: Journal) -> None:
    gate, reached = threading.Event(), threading.Event()

    def start() -> None:
        reached.set()
        gate.wait(DEADLINE)

    tree = Supervisor([*workers("a", journal), ChildSpec("slow", start)])
    assert [child.state for child in tree.snapshot().children] == ["starting", "starting"]
    starter = threading.Thread(target=tree.start)
    starter.start()
    assert reached.wait(DEADLINE)
    assert [child.state for child in tree.snapshot().children] == ["running", "starting"]
    assert tree.snapshot().state == "starting"
    gate.set()
    starter.join(DEADLINE)
    tree.stop()
    assert [child.state for child in tree.snapshot().children] == ["stopped", "stopped"]
    assert tree.snapshot().state == "ended"


def test_what_a_child_says_of_itself_is_part_of_it() -> None:
    with Supervisor([ChildSpec("thing", Thing)]) as tree:
        taken = tree.snapshot().children[0]
    assert taken.detail == {"answers": 42}
    assert taken.tree is None
    assert taken.mailbox is None
