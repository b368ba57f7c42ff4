"""The decisions of supervisors, as tables: every kind of child, of end and of strategy."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from support.trees import TreeDriver, nothing, spec

from claude_actors import Backoff, ChildSpec, InvalidOptions, Supervisor
from claude_actors.supervision.decisions import AfterEnd, affected, after_end, after_stop, in_group_restart
from claude_actors.supervision.specs import Restart, Strategy

# What OTP's manual says of each kind of child: how it ended, and what follows.
AFTER_END: dict[tuple[Restart, bool], AfterEnd] = {
    ("permanent", True): "restart",
    ("permanent", False): "restart",
    ("transient", True): "restart",
    ("transient", False): "keep",
    ("temporary", True): "forget",
    ("temporary", False): "forget",
}

# Who is started anew when one of four children fails.
AFFECTED: dict[tuple[Strategy, str], str] = {
    ("one_for_one", "a"): "a",
    ("one_for_one", "b"): "b",
    ("one_for_one", "c"): "c",
    ("one_for_one", "d"): "d",
    ("one_for_all", "a"): "abcd",
    ("one_for_all", "b"): "abcd",
    ("one_for_all", "c"): "abcd",
    ("one_for_all", "d"): "abcd",
    ("rest_for_one", "a"): "abcd",
    ("rest_for_one", "b"): "bcd",
    ("rest_for_one", "c"): "cd",
    ("rest_for_one", "d"): "d",
}


def test_the_tables_are_whole() -> None:
    assert set(AFTER_END) == {(restart, failed) for restart in get_args(Restart) for failed in (True, False)}
    assert set(AFFECTED) == {(strategy, failed) for strategy in get_args(Strategy) for failed in "abcd"}


@pytest.mark.parametrize(("restart", "failed"), AFTER_END)
def test_what_follows_an_end_depends_on_the_kind_of_child_and_of_end(restart: Restart, failed: bool) -> None:
    assert after_end(restart, failed=failed) == AFTER_END[restart, failed]


@pytest.mark.parametrize(("strategy", "failed"), AFFECTED)
def test_the_strategy_says_who_is_started_anew(strategy: Strategy, failed: str) -> None:
    assert "".join(affected(strategy, list("abcd"), failed)) == AFFECTED[strategy, failed]


def test_only_temporary_children_are_forgotten_when_they_are_stopped_or_their_group_is_restarted() -> None:
    assert {kind: after_stop(kind) for kind in get_args(Restart)} == {
        "permanent": "keep",
        "transient": "keep",
        "temporary": "forget",
    }
    assert {kind: in_group_restart(kind) for kind in get_args(Restart)} == {
        "permanent": "restart",
        "transient": "restart",
        "temporary": "forget",
    }


@pytest.mark.parametrize("strategy", get_args(Strategy))
@pytest.mark.parametrize(("restart", "failed"), AFTER_END)
@pytest.mark.parametrize("others", get_args(Restart))
@pytest.mark.parametrize("victim", "abc")
def test_every_end_in_every_tree_of_three_follows_the_tables(
    strategy: Strategy, restart: Restart, failed: bool, others: Restart, victim: str
) -> None:
    kinds = {id: restart if id == victim else others for id in "abc"}
    tree = TreeDriver([spec(id, restart=kinds[id]) for id in "abc"], strategy=strategy, instant=True).begin()
    tree.take_journal()
    tree.ended(victim, ValueError("x") if failed else None)
    verdict = AFTER_END[restart, failed]
    group = affected(strategy, list("abc"), victim) if verdict == "restart" else ()
    stops = [("stop", id) for id in reversed(group) if id != victim]
    starts = [("start", id) for id in group if id == victim or kinds[id] != "temporary"]
    assert tree.take_journal() == stops + starts
    expected = dict.fromkeys("abc", "running")
    if verdict == "keep":
        expected[victim] = "stopped"
    for id in "abc":
        if kinds[id] == "temporary" and (id in group or (id == victim and verdict == "forget")):
            del expected[id]
    assert tree.states() == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"id": ""},
        {"id": 3},
        {"start": "no function"},
        {"restart": "always"},
        {"kind": "boss"},
        {"shutdown": -1},
        {"shutdown": True},
        {"shutdown": "soon"},
    ],
)
def test_a_spec_that_means_nothing_is_refused_when_it_is_made(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidOptions, match="ChildSpec"):
        ChildSpec(**{"id": "a", "start": nothing} | fields)  # type: ignore[arg-type]


def test_a_worker_has_five_seconds_to_end_and_a_supervisor_as_long_as_it_takes() -> None:
    assert ChildSpec("a", nothing).shutdown == 5.0
    assert ChildSpec("a", nothing, kind="supervisor").shutdown is None
    assert ChildSpec("a", nothing, kind="supervisor", shutdown=1).shutdown == 1
    assert ChildSpec("a", nothing, shutdown=None).shutdown is None


@pytest.mark.parametrize(
    "settings",
    [{"strategy": "all"}, {"max_restarts": -1}, {"max_seconds": 0}, {"max_children": -1}, {"max_children": 1}],
)
def test_a_supervisor_refuses_settings_that_mean_nothing_before_anything_starts(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidOptions, match="Supervisor"):
        Supervisor([spec("a"), spec("b")], **settings)
    with pytest.raises(InvalidOptions, match="Supervisor"):
        Supervisor.spec("nested", [spec("a"), spec("b")], **settings)


def test_a_child_that_is_no_spec_is_refused_where_it_is_given() -> None:
    wrong: Any = "a worker"
    with pytest.raises(InvalidOptions, match="ChildSpec"):
        Supervisor([wrong])
    with Supervisor() as supervisor, pytest.raises(InvalidOptions, match="ChildSpec"):
        supervisor.start_child(wrong)


def test_two_children_cannot_share_an_id() -> None:
    with pytest.raises(InvalidOptions, match="'a'"):
        Supervisor([spec("a"), spec("b"), spec("a")])


def test_the_delay_doubles_while_a_child_keeps_failing_and_begins_anew_after_it_ran_well() -> None:
    tree = TreeDriver(
        [spec("a")], backoff=Backoff(first=1.0, most=4.0, jitter=0.5), chance=1.0, max_restarts=100, max_seconds=10.0
    ).begin()

    def delay_after_running(seconds: float) -> float:
        tree.started("a")
        tree.wait(seconds)
        tree.failed("a")
        due = tree.machine.next_deadline(tree.now)
        assert due is not None
        delay = due - tree.now
        tree.wait(delay)
        return delay

    assert [delay_after_running(0.1) for _ in range(4)] == pytest.approx([1.5, 3.0, 6.0, 6.0])
    assert delay_after_running(10.0) == pytest.approx(1.5)
    assert delay_after_running(0.1) == pytest.approx(3.0)
