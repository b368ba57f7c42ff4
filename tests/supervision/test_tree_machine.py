"""TreeMachine: orders of starts and stops, deadlines, groups, intensity and commands, with time as an argument."""

from __future__ import annotations

from typing import Any

import pytest
from support.trees import TreeDriver, spec

from claude_actors import (
    Backoff,
    ChildExists,
    ChildNotFound,
    ChildNotStopped,
    ChildStartFailed,
    SupervisorStopped,
    TooManyChildren,
    TooManyRestarts,
)
from claude_actors.supervision import steps

ABC = [spec("a"), spec("b"), spec("c")]
GROUPS = ["one_for_all", "rest_for_one"]
STRATEGIES = ["one_for_one", *GROUPS]


def running(*children: str, **config: Any) -> TreeDriver:
    """A tree whose children all run, with nothing in its journal."""
    tree = TreeDriver([spec(id) for id in children], **config).begin()
    for id in children:
        tree.started(id)
    tree.take_journal()
    return tree


# --- starting and stopping ---


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_children_start_one_after_another_each_when_the_one_before_has_started(strategy: str) -> None:
    tree = TreeDriver(ABC, strategy=strategy).begin()
    assert tree.take_journal() == [("start", "a")]
    assert tree.states() == {"a": "starting", "b": "starting", "c": "starting"}
    tree.started("a")
    assert tree.take_journal() == [("start", "b")]
    tree.started("b")
    assert tree.take_journal() == [("start", "c")]
    tree.started("c")
    assert tree.take_journal() == [("started", "")]
    assert set(tree.states().values()) == {"running"}


def test_a_tree_without_children_runs_at_once_and_ends_at_once() -> None:
    tree = TreeDriver([]).begin()
    assert tree.take_journal() == [("started", "")]
    tree.stop()
    assert tree.take_journal() == [("ended", "")]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_children_stop_in_reverse_order_each_when_the_one_after_is_down(strategy: str) -> None:
    tree = running("a", "b", "c", strategy=strategy)
    tree.stop()
    assert tree.take_journal() == [("stop", "c")]
    tree.ended("c")
    assert tree.take_journal() == [("stop", "b")]
    tree.failed("b")
    assert tree.take_journal() == [("stop", "a")]
    tree.ended("a")
    assert tree.take_journal() == [("ended", "")]
    assert tree.machine.reason is None


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_failed_first_start_stops_the_earlier_ones_in_reverse_and_ends_the_tree(strategy: str) -> None:
    tree = TreeDriver(ABC, strategy=strategy).begin()
    tree.started("a")
    tree.started("b")
    tree.take_journal()
    tree.start_failed("c")
    tree.ended("b")
    tree.ended("a")
    assert tree.take_journal() == [("stop", "b"), ("stop", "a"), ("ended", "")]
    assert isinstance(tree.machine.reason, ChildStartFailed)
    assert tree.machine.reason.id == "c"
    assert isinstance(tree.machine.reason.__cause__, OSError)


def test_a_child_with_nothing_to_run_is_kept_as_stopped_and_a_temporary_one_is_forgotten() -> None:
    tree = TreeDriver([spec("a"), spec("b", restart="temporary"), spec("c")], instant=True)
    tree.ignored = {"a", "b"}
    tree.begin()
    assert tree.states() == {"a": "stopped", "c": "running"}
    tree.ignored.clear()
    assert tree.restart("a").only == "a"


def test_a_child_that_does_not_stop_in_time_is_killed_and_the_rest_goes_on() -> None:
    tree = TreeDriver([spec("a", shutdown=1.0), spec("b", shutdown=2.0)]).begin()
    tree.started("a")
    tree.started("b")
    tree.take_journal()
    tree.stop()
    tree.wait(1.9)
    assert tree.take_journal() == [("stop", "b")]
    tree.wait(0.1)
    assert tree.take_journal() == [("kill", "b"), ("stop", "a")]
    tree.wait(1.0)
    assert tree.take_journal() == [("kill", "a"), ("ended", "")]


def test_a_child_with_shutdown_kill_is_never_asked_and_one_without_limit_is_waited_for() -> None:
    tree = TreeDriver([spec("a", shutdown=None), spec("b", shutdown="kill")]).begin()
    tree.started("a")
    tree.started("b")
    tree.take_journal()
    tree.stop()
    assert tree.take_journal() == [("kill", "b"), ("stop", "a")]
    tree.wait(1e9)
    assert tree.take_journal() == []
    tree.ended("a")
    assert tree.take_journal() == [("ended", "")]


def test_a_start_that_returns_after_the_stop_was_asked_for_is_stopped_before_the_earlier_ones() -> None:
    tree = TreeDriver(ABC).begin()
    tree.started("a")
    tree.take_journal()
    tree.stop()
    assert tree.take_journal() == [("abortstart", "b")]
    assert tree.states()["b"] == "stopping"
    tree.started("b")
    assert tree.take_journal() == [("stop", "b")]
    tree.ended("b")
    assert tree.take_journal() == [("stop", "a")]


def test_a_start_that_never_returns_is_abandoned_and_what_it_brings_later_is_discarded() -> None:
    tree = TreeDriver([spec("a"), spec("b", shutdown=3.0)]).begin()
    tree.started("a")
    tree.take_journal()
    tree.stop()
    tree.wait(3.0)
    assert tree.take_journal() == [("abortstart", "b"), ("stop", "a")]
    tree.started("b")
    assert tree.take_journal() == [("discard", "b")]
    tree.ended("a")
    assert tree.take_journal() == [("ended", "")]


def test_the_time_of_a_late_start_counts_for_its_stop() -> None:
    tree = TreeDriver([spec("a", shutdown=3.0)]).begin()
    tree.stop()
    tree.wait(2.0)
    stops = [effect for effect in tree.started("a") if isinstance(effect, steps.BeginStop)]
    assert [stop.timeout for stop in stops] == [1.0]
    tree.wait(1.0)
    assert ("kill", "a") in tree.journal


def test_a_start_that_fails_while_the_tree_stops_is_only_the_end_of_that_child() -> None:
    tree = TreeDriver([spec("a")]).begin()
    tree.stop()
    tree.start_failed("a")
    assert tree.machine.state == "ended"
    assert tree.machine.reason is None


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_child_that_dies_or_cannot_start_while_the_tree_stops_brings_nobody_back(strategy: str) -> None:
    tree = running("a", "b", "c", strategy=strategy)
    tree.failed("c")
    if strategy == "one_for_all":
        tree.ended("b")
        tree.ended("a")
        tree.started("a")
        tree.started("b")
    tree.take_journal()
    tree.stop()
    tree.failed("a")
    tree.start_failed("c")
    tree.ended("b")
    assert tree.take_journal() == [("abortstart", "c"), ("stop", "b"), ("ended", "")]
    assert tree.machine.reason is None


def test_nothing_that_comes_after_the_end_changes_anything() -> None:
    tree = running("a")
    run = tree.run_of("a")
    tree.stop()
    tree.ended("a")
    tree.take_journal()
    assert tree.stop() == []
    assert tree.feed(steps.ChildEnded(run, ValueError())) == []
    assert tree.feed(steps.ChildStartFailed(run, ValueError())) == []
    assert tree.wait(100.0) == []
    assert isinstance(tree.start_child(spec("b")).only, SupervisorStopped)
    assert isinstance(tree.terminate("a").only, SupervisorStopped)


# --- restarting ---


def test_one_for_one_children_come_back_without_waiting_for_each_other() -> None:
    tree = running("a", "b", "c")
    tree.failed("a")
    tree.failed("c")
    assert tree.take_journal() == [("start", "a"), ("start", "c")]
    tree.started("c")
    assert tree.states() == {"a": "starting", "b": "running", "c": "running"}


def test_a_child_that_dies_while_later_ones_have_not_started_comes_back_beside_their_starts() -> None:
    tree = TreeDriver(ABC).begin()
    tree.started("a")
    tree.failed("a")
    assert tree.take_journal() == [("start", "a"), ("start", "b"), ("start", "a")]
    tree.started("b")
    assert tree.take_journal() == [("start", "c")]
    tree.started("c")
    assert ("started", "") in tree.journal


def test_a_failed_restart_during_the_first_starts_is_tried_again_and_not_fatal() -> None:
    tree = TreeDriver(ABC).begin()
    tree.started("a")
    tree.failed("a")
    tree.start_failed("a")
    assert tree.machine.state == "starting"
    assert tree.journal[-1] == ("start", "a")


@pytest.mark.parametrize("strategy", GROUPS)
def test_a_group_goes_down_in_reverse_and_comes_up_in_order_one_by_one(strategy: str) -> None:
    tree = running("a", "b", "c", strategy=strategy)
    tree.failed("a")
    assert tree.take_journal() == [("stop", "c")]
    tree.ended("c")
    assert tree.take_journal() == [("stop", "b")]
    tree.ended("b")
    for id in "abc":
        assert tree.take_journal() == [("start", id)]
        tree.started(id)
    assert tree.take_journal() == []
    assert set(tree.states().values()) == {"running"}


@pytest.mark.parametrize("strategy", GROUPS)
def test_a_group_goes_down_at_once_and_comes_up_when_the_delay_is_over(strategy: str) -> None:
    tree = running("a", "b", strategy=strategy, backoff=Backoff(first=1.0, jitter=0.0))
    tree.failed("a")
    tree.ended("b")
    assert tree.take_journal() == [("stop", "b")]
    assert tree.states() == {"a": "restarting", "b": "restarting"}
    assert tree.machine.next_deadline(tree.now) == tree.now + 1.0
    tree.wait(0.9)
    assert tree.take_journal() == []
    tree.wait(0.1)
    assert tree.take_journal() == [("start", "a")]


def test_what_waits_for_another_child_does_not_ask_for_a_timer_that_is_over() -> None:
    tree = running("a", "b", strategy="one_for_all", backoff=Backoff(first=1.0, jitter=0.0))
    tree.failed("a")
    tree.ended("b")
    tree.wait(1.0)
    assert tree.states() == {"a": "starting", "b": "restarting"}
    assert tree.machine.next_deadline(tree.now) is None


def test_a_death_in_a_group_that_comes_up_takes_it_down_again() -> None:
    tree = running("a", "b", "c", strategy="one_for_all")
    tree.failed("c")
    tree.ended("b")
    tree.ended("a")
    tree.started("a")
    tree.take_journal()
    tree.failed("a")
    assert tree.take_journal() == [("abortstart", "b")]
    tree.started("b")
    tree.ended("b")
    assert tree.take_journal() == [("stop", "b"), ("start", "a")]


def test_an_earlier_death_widens_a_rest_for_one_restart() -> None:
    tree = running("a", "b", "c", strategy="rest_for_one")
    tree.failed("b")
    assert tree.take_journal() == [("stop", "c")]
    tree.failed("a")
    tree.ended("c")
    assert tree.take_journal() == [("start", "a")]
    tree.started("a")
    tree.started("b")
    assert tree.take_journal() == [("start", "b"), ("start", "c")]


@pytest.mark.parametrize("strategy", GROUPS)
def test_a_group_restart_also_starts_what_was_stopped_before(strategy: str) -> None:
    tree = TreeDriver(ABC, strategy=strategy, instant=True).begin()
    tree.terminate("b")
    assert tree.states()["b"] == "stopped"
    tree.failed("a")
    assert tree.states()["b"] == "running"


def test_more_restarts_than_allowed_in_the_time_end_the_tree_with_the_reason() -> None:
    tree = TreeDriver(ABC, instant=True, max_restarts=3, max_seconds=5.0).begin()
    for _ in range(3):
        tree.failed("b")
        tree.wait(1.0)
    tree.take_journal()
    tree.failed("b")
    assert tree.take_journal() == [("stop", "c"), ("stop", "a"), ("ended", "")]
    reason = tree.machine.reason
    assert isinstance(reason, TooManyRestarts)
    assert (reason.id, reason.max_restarts, reason.max_seconds) == ("b", 3, 5.0)
    assert isinstance(reason.reason, ValueError)
    assert reason.__cause__ is reason.reason


def test_restarts_that_are_far_enough_apart_never_end_the_tree() -> None:
    tree = TreeDriver(ABC, instant=True, max_restarts=3, max_seconds=5.0).begin()
    for _ in range(100):
        tree.failed("b")
        tree.wait(1.7)
    assert set(tree.states().values()) == {"running"}


def test_max_restarts_zero_ends_the_tree_with_the_first_failure_but_not_with_a_normal_end_of_a_transient() -> None:
    tree = TreeDriver([spec("a", restart="transient"), spec("b")], instant=True, max_restarts=0).begin()
    tree.ended("a")
    assert tree.machine.state == "running"
    tree.ended("b")
    assert isinstance(tree.machine.reason, TooManyRestarts)
    assert tree.machine.reason.reason is None


def test_starts_that_fail_count_as_restarts() -> None:
    tree = TreeDriver([spec("a")], instant=True, max_restarts=3).begin()
    tree.failures["a"] = 2
    tree.failed("a")
    assert tree.states() == {"a": "running"}
    tree.failures["a"] = 1
    tree.failed("a")
    assert isinstance(tree.machine.reason, TooManyRestarts)


def test_a_stop_during_a_delay_ends_the_tree_at_once() -> None:
    tree = running("a", backoff=Backoff(first=10.0))
    tree.failed("a")
    tree.stop()
    assert tree.take_journal() == [("ended", "")]


# --- commands ---


def test_a_child_that_is_added_comes_last_and_its_start_is_answered() -> None:
    tree = running("a")
    replies = tree.start_child(spec("b"))
    assert replies.answers == []
    tree.started("b", "the new one")
    assert replies.only == "the new one"
    assert list(tree.states()) == ["a", "b"]


def test_an_added_child_that_cannot_start_is_answered_and_forgotten_and_counts_as_no_restart() -> None:
    tree = running("a", max_restarts=0)
    replies = tree.start_child(spec("b"))
    tree.start_failed("b")
    assert isinstance(replies.only, ChildStartFailed)
    assert tree.states() == {"a": "running"}
    assert tree.machine.state == "running"


def test_an_id_is_taken_whatever_its_child_does_and_the_refusal_says_what_that_is() -> None:
    tree = running("a")
    for state in ("running", "stopped"):
        refusal = tree.start_child(spec("a")).only
        assert isinstance(refusal, ChildExists)
        assert refusal.state == state
        tree.terminate("a")
        tree.ended("a")


def test_more_children_than_allowed_are_refused_until_one_is_deleted() -> None:
    tree = TreeDriver([spec("a"), spec("b")], instant=True, max_children=2).begin()
    refusal = tree.start_child(spec("c")).only
    assert isinstance(refusal, TooManyChildren)
    assert refusal.limit == 2
    tree.terminate("a")
    assert isinstance(tree.start_child(spec("c")).only, TooManyChildren)
    tree.delete("a")
    assert tree.start_child(spec("c")).only == "c"


def test_a_temporary_child_makes_room_when_it_ends() -> None:
    tree = TreeDriver([spec("a", restart="temporary")], instant=True, max_children=1).begin()
    tree.failed("a")
    assert tree.start_child(spec("b")).only == "b"


def test_a_terminated_child_stays_down_until_it_is_restarted_and_can_be_deleted() -> None:
    tree = running("a", "b")
    ending = tree.terminate("a")
    assert ending.answers == []
    tree.failed("a")
    assert ending.only is None
    assert tree.states() == {"a": "stopped", "b": "running"}
    coming = tree.restart("a")
    tree.started("a", "again")
    assert coming.only == "again"
    tree.terminate("a")
    tree.ended("a")
    assert tree.delete("a").only is None
    assert tree.states() == {"b": "running"}


def test_terminating_a_stopped_child_is_answered_at_once_and_everyone_who_asks_is_answered() -> None:
    tree = running("a")
    first, second = tree.terminate("a"), tree.terminate("a")
    tree.ended("a")
    third = tree.terminate("a")
    assert first.only is second.only is third.only is None


def test_terminating_a_child_that_waits_for_its_restart_cancels_it() -> None:
    tree = running("a", backoff=Backoff(first=1.0))
    tree.failed("a")
    assert tree.terminate("a").only is None
    tree.wait(10.0)
    assert tree.take_journal() == []
    assert tree.states() == {"a": "stopped"}


def test_terminating_a_child_that_starts_answers_both_who_started_and_who_ended_it() -> None:
    tree = running("a")
    opening = tree.start_child(spec("b"))
    closing = tree.terminate("b")
    tree.started("b")
    tree.ended("b")
    assert isinstance(opening.only, ChildStartFailed)
    assert closing.only is None
    assert tree.states() == {"a": "running"}


def test_a_temporary_child_that_is_terminated_is_forgotten() -> None:
    tree = TreeDriver([spec("a", restart="temporary")], instant=True).begin()
    tree.terminate("a")
    assert tree.states() == {}


def test_a_failed_restart_on_request_leaves_the_child_stopped() -> None:
    tree = TreeDriver([spec("a")], instant=True, max_restarts=0).begin()
    tree.terminate("a")
    tree.failures["a"] = 1
    assert isinstance(tree.restart("a").only, ChildStartFailed)
    assert tree.states() == {"a": "stopped"}
    assert tree.restart("a").only == "a"


@pytest.mark.parametrize("command", ["terminate", "restart", "delete"])
def test_a_command_for_an_unknown_child_is_refused(command: str) -> None:
    tree = running("a")
    refusal = getattr(tree, command)("x").only
    assert isinstance(refusal, ChildNotFound)
    assert refusal.id == "x"


def test_only_a_stopped_child_can_be_restarted_or_deleted() -> None:
    tree = running("a", backoff=Backoff(first=1.0))

    def refusals() -> list[str]:
        answers = [tree.restart("a").only, tree.delete("a").only]
        assert all(isinstance(answer, ChildNotStopped) for answer in answers)
        return [answer.state for answer in answers]

    assert refusals() == ["running", "running"]
    tree.failed("a")
    assert refusals() == ["restarting", "restarting"]
    tree.wait(10.0)
    assert refusals() == ["starting", "starting"]
    tree.terminate("a")
    assert refusals() == ["stopping", "stopping"]


def test_one_for_one_children_are_terminated_beside_each_other() -> None:
    tree = running("a", "b")
    tree.terminate("a")
    tree.terminate("b")
    assert tree.take_journal() == [("stop", "a"), ("stop", "b")]


def test_whoever_waits_for_a_start_when_the_tree_stops_is_told_so() -> None:
    tree = running("a")
    opening = tree.start_child(spec("b"))
    closing = tree.terminate("a")
    tree.stop()
    assert isinstance(opening.only, SupervisorStopped)
    tree.ended("a")
    assert closing.only is None


def test_a_temporary_child_that_starts_in_a_group_restart_is_stopped_with_it() -> None:
    tree = running("a", strategy="one_for_all")
    opening = tree.start_child(spec("b", restart="temporary"))
    tree.failed("a")
    tree.started("b")
    tree.ended("b")
    assert isinstance(opening.only, ChildStartFailed)
    assert list(tree.states()) == ["a"]
    assert tree.take_journal() == [("start", "b"), ("abortstart", "b"), ("stop", "b"), ("start", "a")]


def test_a_child_that_is_added_to_a_group_in_its_delay_waits_with_it_and_starts_last() -> None:
    tree = running("a", strategy="one_for_all", backoff=Backoff(first=1.0, jitter=0.0))
    tree.failed("a")
    opening = tree.start_child(spec("b"))
    assert tree.take_journal() == []
    tree.wait(1.0)
    tree.started("a")
    assert tree.take_journal() == [("start", "a"), ("start", "b")]
    tree.started("b", "new")
    assert opening.only == "new"
