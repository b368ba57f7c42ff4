"""A tree of real actors under random deaths from many threads: it stays whole, and nothing of it is left at the end."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from pykka import ActorDeadError
from support.leaks import wait_until
from support.trees import DEADLINE, Journal, Worker, failing

from claude_actors import Backoff, ChildSpec, SupervisionError, Supervisor
from claude_actors.supervision.specs import Strategy

LEAVES = 6
KILLERS = 4
DEATHS = 40


class Counted(Worker):
    """Counts how many incarnations of one id are alive; more than one at a time would be a bug."""

    def __init__(self, id: str, journal: Journal, alive: dict[str, int], lock: threading.Lock) -> None:
        super().__init__(id, journal)
        self._alive, self._lock = alive, lock

    def on_start(self) -> None:
        self._count(1)

    def on_stop(self) -> None:
        self._count(-1)

    def on_failure(self, *_failure: object) -> None:
        self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._alive[self.id] = self._alive.get(self.id, 0) + change
            if self._alive[self.id] not in (0, 1):
                self.journal.write(f"{self._alive[self.id]} incarnations of {self.id}")


def death(chance: random.Random, leaf: Any) -> Callable[[], object]:
    return chance.choice([partial(leaf.tell, failing(ValueError("random"))), partial(leaf.stop, block=False)])


@pytest.mark.parametrize("strategy", ["one_for_one", "one_for_all", "rest_for_one"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_tree_survives_random_deaths_with_one_incarnation_of_each_child_at_a_time(
    strategy: Strategy, seed: int
) -> None:
    journal, alive, lock = Journal(), {}, threading.Lock()  # type: tuple[Journal, dict[str, int], threading.Lock]
    settings: dict[str, Any] = {
        "strategy": strategy,
        "max_restarts": 100_000,
        "backoff": Backoff(first=0.0005, most=0.002),
    }

    def leaf(id: str) -> ChildSpec:
        return ChildSpec(id, partial(Counted.start, id, journal, alive, lock))

    nested = Supervisor.spec("nested", [leaf(f"n{number}") for number in range(LEAVES)], **settings)
    with Supervisor([*(leaf(f"r{number}") for number in range(LEAVES)), nested], **settings) as tree:

        def kill(killer: int) -> None:
            chance = random.Random(seed * 100 + killer)
            done = 0
            while done < DEATHS:
                try:
                    parent = tree.child("nested") if chance.random() < 0.5 else tree
                    prefix = "r" if parent is tree else "n"
                    death(chance, parent.child(f"{prefix}{chance.randrange(LEAVES)}"))()
                    done += 1
                except (SupervisionError, ActorDeadError):
                    continue

        killers = [threading.Thread(target=kill, args=(number,)) for number in range(KILLERS)]
        for thread in killers:
            thread.start()
        for thread in killers:
            thread.join(DEADLINE * 2)
            assert not thread.is_alive()

        def whole() -> bool:
            try:
                counts = tree.count_children(), tree.child("nested").count_children()
            except SupervisionError:
                return False
            return [count.active for count in counts] == [LEAVES + 1, LEAVES] and set(alive.values()) == {1}

        assert wait_until(whole)
        assert tree.state == "running"
        assert tree.snapshot().restarts > 0
    assert journal.lines == []
    assert set(alive.values()) == {0}
