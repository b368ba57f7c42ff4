"""TreeMachine against a model: OTP's supervisor told as plainly as possible, one thing after another and no waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.trees import TreeDriver, spec

from claude_actors import ChildSpec
from claude_actors.supervision.specs import Restart, Strategy

IDS = "abcdef"


class Model:
    """What supervisor.erl does, with lists: `children` maps ids, in start order, to whether they run."""

    def __init__(self, strategy: Strategy, kinds: dict[str, Restart], max_restarts: int, max_seconds: float) -> None:
        self.strategy, self.kinds = strategy, kinds
        self.max_restarts, self.max_seconds = max_restarts, max_seconds
        self.children: dict[str, bool] = {}
        self.failures: dict[str, int] = {}
        self.journal: list[tuple[str, str]] = []
        self.times: list[float] = []
        self.now = 0.0
        self.over = False

    def begin(self, ids: str) -> None:
        self.children = dict.fromkeys(ids, False)
        if self._start_all(list(ids)) is not None:
            self._give_up()
        else:
            self.journal.append(("started", ""))

    def end(self, id: str, failed: bool) -> None:
        self.children[id] = False
        kind = self.kinds[id]
        if kind == "permanent" or (kind == "transient" and failed):
            self._restart(id)
        elif kind == "temporary":
            del self.children[id]

    def terminate(self, id: str) -> None:
        self._stop(id)

    def restart(self, id: str) -> None:
        self.children[id] = self._start(id)

    def delete(self, id: str) -> None:
        del self.children[id]

    def start_child(self, id: str) -> None:
        if self._start(id):
            self.children[id] = True

    def stop(self) -> None:
        self._give_up()

    def _restart(self, id: str) -> None:
        again: str | None = id
        while again is not None:
            self.times = [time for time in self.times if self.now <= time + self.max_seconds] + [self.now]
            if len(self.times) > self.max_restarts:
                return self._give_up()
            again = self._restart_once(again)
        return None

    def _restart_once(self, id: str) -> str | None:
        ids = [*self.children]
        if self.strategy == "one_for_one":
            return self._start_all([id])
        group = ids if self.strategy == "one_for_all" else ids[ids.index(id) :]
        for member in reversed(group):
            self._stop(member)
        return self._start_all([member for member in group if member in self.children])

    def _start_all(self, ids: list[str]) -> str | None:
        """Gives the first that cannot start."""
        for id in ids:
            if not self._start(id):
                return id
            self.children[id] = True
        return None

    def _start(self, id: str) -> bool:
        self.journal.append(("start", id))
        if self.failures.get(id, 0):
            self.failures[id] -= 1
            return False
        return True

    def _stop(self, id: str) -> None:
        if self.children[id]:
            self.journal.append(("stop", id))
        if self.kinds[id] == "temporary":
            del self.children[id]
        else:
            self.children[id] = False

    def _give_up(self) -> None:
        for id in reversed([*self.children]):
            self._stop(id)
        self.over = True
        self.journal.append(("ended", ""))


@given(
    strategy=st.sampled_from(["one_for_one", "one_for_all", "rest_for_one"]),
    kinds=st.lists(st.sampled_from(["permanent", "transient", "temporary"]), min_size=6, max_size=6),
    first=st.integers(0, 5),
    max_restarts=st.integers(0, 8),
    first_failure=st.sampled_from([None, None, None, "a", "c"]),
    data=st.data(),
)
def test_with_children_that_start_and_stop_at_once_the_machine_does_what_otp_does(
    strategy: Strategy, kinds: list[Restart], first: int, max_restarts: int, first_failure: str | None, data: Any
) -> None:
    kind_of = dict(zip(IDS, kinds, strict=True))
    model = Model(strategy, kind_of, max_restarts, 5.0)
    specs = [spec(id, restart=kind_of[id]) for id in IDS[:first]]
    tree = TreeDriver(specs, strategy=strategy, instant=True, max_restarts=max_restarts, max_seconds=5.0)
    if first_failure is not None:
        model.failures[first_failure] = tree.failures[first_failure] = 1
    model.begin(IDS[:first])
    tree.begin()
    compare(model, tree)
    while not model.over and data.draw(st.booleans()):
        model.failures.clear()
        for id in data.draw(st.lists(st.sampled_from(IDS), max_size=4)):
            model.failures[id] = model.failures.get(id, 0) + 1
        tree.failures = dict(model.failures)
        model.now += data.draw(st.sampled_from([0.0, 1.0, 6.0]))
        tree.now = model.now
        for step in data.draw(st.sampled_from(possible(model))):
            step(model, tree)
        compare(model, tree)


def possible(model: Model) -> list[list[Callable[[Model, TreeDriver], object]]]:
    """Everything that can happen to the model's children now: what it is for the model, and for the machine."""
    found: list[list[Callable[[Model, TreeDriver], object]]] = [[lambda m, t: m.stop(), lambda m, t: t.stop()]]
    for id in IDS:
        found += possible_for(id, model.children.get(id), spec(id, restart=model.kinds[id]))
    return found


def possible_for(id: str, runs: bool | None, child: ChildSpec) -> list[list[Callable[[Model, TreeDriver], object]]]:
    if runs:
        return [
            [lambda m, t: m.end(id, True), lambda m, t: t.failed(id)],
            [lambda m, t: m.end(id, False), lambda m, t: t.ended(id)],
            [lambda m, t: m.terminate(id), lambda m, t: t.terminate(id)],
        ]
    if runs is None:
        return [[lambda m, t: m.start_child(id), lambda m, t: t.start_child(child)]]
    return [
        [lambda m, t: m.restart(id), lambda m, t: t.restart(id)],
        [lambda m, t: m.delete(id), lambda m, t: t.delete(id)],
    ]


def compare(model: Model, tree: TreeDriver) -> None:
    assert tree.take_journal() == model.journal
    model.journal = []
    assert (tree.machine.state == "ended") == model.over
    if not model.over:
        assert tree.states() == {id: "running" if runs else "stopped" for id, runs in model.children.items()}
