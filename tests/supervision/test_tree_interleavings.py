"""TreeMachine with starts and stops that take their time: whatever happens in between, some things always hold."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.trees import Replies, spec

from claude_actors import Backoff
from claude_actors.supervision import steps
from claude_actors.supervision.machine import TreeMachine
from claude_actors.supervision.specs import TreeConfig

IDS = "abcde"
WEIGHTS = {
    "start returns": 8,
    "start fails": 1,
    "child ends": 2,
    "child fails": 3,
    "stop is done": 6,
    "time": 2,
    "start": 1,
    "terminate": 2,
    "restart": 1,
    "delete": 1,
}
STEPS = st.sampled_from([step for step, weight in WEIGHTS.items() for _ in range(weight)])


class World:
    """Slow children: what was begun is answered in any order, late, or never."""

    def __init__(self, machine: TreeMachine, specs: dict[str, Any]) -> None:
        self.machine, self.specs = machine, specs
        self.now = 0.0
        #: By run: the ids of starts under way, of children that live, and which of those were asked to stop.
        self.starting: dict[int, str] = {}
        self.living: dict[int, str] = {}
        self.asked: set[int] = set()
        self.given_up: set[int] = set()
        self.requests: list[Replies] = []
        self.stopping = False
        self.ended = 0

    def feed(self, event: steps.Input) -> None:
        for effect in self.machine.handle(event, self.now):
            self.carry_out(effect)
        self.check()

    def carry_out(self, effect: steps.Effect) -> None:
        match effect:
            case steps.BeginStart(run, child):
                assert not self.stopping, "a start after the stop"
                coming = [id for run, id in self.starting.items() if run not in self.given_up]
                assert child.id not in (*coming, *self.living.values()), "two incarnations at a time"
                self.starting[run] = child.id
            case steps.BeginStop(run):
                assert run in self.living
                assert run not in self.asked
                self.asked.add(run)
            case steps.Kill(run):
                del self.living[run]
            case steps.Discard(run):
                assert run in self.given_up
                del self.living[run]
            case steps.AbortStart(run):
                assert run in self.starting
                self.given_up.add(run)
            case steps.Reply(request, value, error):
                request.answers.append(value if error is None else error)
            case steps.ReportEnded():
                self.ended += 1
                assert not self.living
                assert set(self.starting) <= self.given_up
            case steps.ReportStarted() | steps.ReportRestart():
                pass

    def check(self) -> None:
        self.stopping = self.machine.state in ("stopping", "ended")
        alive = {entry.id for entry in self.machine.entries.values() if entry.state in ("running", "stopping")}
        assert {*self.living.values()} <= alive
        assert self.ended == (self.machine.state == "ended")
        assert all(len(request.answers) <= 1 for request in self.requests)
        if self.machine.config.strategy != "one_for_one" or self.stopping:
            assert len(self.asked & set(self.living)) <= 1, "two stops at a time in a group"

    # --- what can happen ---

    def happen(self, step: str, which: int) -> None:
        match step:
            case "start returns" | "start fails":
                self.end_start(picked(self.starting, which), fails=step == "start fails")
            case "child ends" | "child fails":
                self.end_child(picked(self.living, which), fails=step == "child fails")
            case "stop is done":
                self.end_child(picked(self.asked & set(self.living), which), fails=False)
            case "time":
                self.now += (0.1, 1.0, 10.0)[which % 3]
                self.feed(steps.TimePassed())
            case _:
                self.command(step, IDS[which % len(IDS)])

    def end_start(self, run: int | None, *, fails: bool) -> None:
        if run is None:
            return
        id = self.starting.pop(run)
        if fails:
            self.feed(steps.ChildStartFailed(run, OSError()))
        else:
            self.living[run] = id
            self.feed(steps.ChildStarted(run, id))

    def end_child(self, run: int | None, *, fails: bool) -> None:
        if run is not None:
            del self.living[run]
            self.feed(steps.ChildEnded(run, ValueError() if fails else None))

    def command(self, what: str, id: str) -> None:
        request = Replies()
        self.requests.append(request)
        commands: dict[str, steps.Command] = {
            "start": steps.StartChild(self.specs[id], request),
            "terminate": steps.TerminateChild(id, request),
            "restart": steps.RestartChild(id, request),
            "delete": steps.DeleteChild(id, request),
        }
        self.feed(commands[what])

    def come_to_rest(self) -> None:
        """Let everything that was begun come to its end."""
        for _ in range(1000):
            asked = self.asked & set(self.living)
            if self.starting:
                self.end_start(min(self.starting), fails=False)
            elif asked:
                self.end_child(min(asked), fails=False)
            elif (when := self.machine.next_deadline(self.now)) is not None:
                self.now = when
                self.feed(steps.TimePassed())
            else:
                return
        raise AssertionError("it never comes to rest")


def picked(runs: Any, which: int) -> int | None:
    known = sorted(runs)
    return known[which % len(known)] if known else None


@given(
    strategy=st.sampled_from(["one_for_one", "one_for_all", "rest_for_one"]),
    kinds=st.lists(st.sampled_from(["permanent", "permanent", "transient", "temporary"]), min_size=5, max_size=5),
    graces=st.lists(st.sampled_from([1.0, None, None, "kill"]), min_size=5, max_size=5),
    first=st.integers(1, 5),
    max_restarts=st.sampled_from([1, 1000, 1000]),
    backoff=st.sampled_from([None, Backoff(first=1.0)]),
    before=st.lists(st.tuples(STEPS, st.integers(0, 5)), min_size=5, max_size=60),
    after=st.lists(st.tuples(STEPS, st.integers(0, 5)), max_size=20),
)
def test_no_order_of_things_brings_two_incarnations_a_start_after_the_stop_or_somebody_who_waits_for_ever(
    strategy: Any, kinds: Any, graces: Any, first: int, max_restarts: int, backoff: Any, before: Any, after: Any
) -> None:
    config = TreeConfig(strategy=strategy, max_restarts=max_restarts, backoff=backoff)
    fields = zip(IDS, kinds, graces, strict=True)
    specs = {id: spec(id, restart=restart, shutdown=grace) for id, restart, grace in fields}
    machine = TreeMachine(config, [specs[id] for id in IDS[:first]], lambda: 0.5)
    world = World(machine, specs)
    world.feed(steps.Begun())
    for step, which in before:
        world.happen(step, which)
    rest_first = len(after) < 10
    if rest_first:
        world.come_to_rest()
        states = {entry.id: entry.state for entry in machine.entries.values()}
        assert {*states.values()} <= {"running", "stopped"}
        assert {*world.living.values()} == {id for id, state in states.items() if state == "running"}
    world.feed(steps.StopTree())
    for step, which in after:
        world.happen(step, which)
    world.come_to_rest()
    assert machine.state == "ended"
    assert world.ended == 1
    assert all(len(request.answers) == 1 for request in world.requests)
