"""The bounds of a fleet, its life and its end, over the fake CLI."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pykka
import pytest
from support.fleets import WITHIN, MakeFake, MakeFleet, becomes, prompts
from support.leaks import wait_until

from claude_actors.callbacks.approvals import Approvals
from claude_actors.errors import ClaudeActorsError, InvalidOptions
from claude_actors.fleet import (
    Budget,
    Fleet,
    FleetClosed,
    FleetStopped,
    FleetTimeout,
    Job,
    QueueFull,
    SubmitTimeout,
    Task,
    TaskBudgetExhausted,
)
from claude_actors.options import Options
from claude_actors.testing.faults import Echo, IgnoreEof, IgnoreTerm
from claude_actors.testing.script import UseTool, WaitFor, reply, script

ECHO = script(reply(Echo(), times=None))
GATED = script(reply(WaitFor("gate"), Echo(), times=None))


# --- the queue ---


def test_a_full_queue_refuses_with_a_typed_error_where_nobody_wants_to_wait(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, max_sessions=1, queue=2, when_full="refuse")
    fleet.submit("a")
    fake.gates.wait_reached("gate", WITHIN)
    fleet.submit_many(["b", "c"])
    with pytest.raises(QueueFull) as caught:
        fleet.submit("d")
    assert caught.value.limit == 2
    fake.gates.open("gate")
    fleet.drain(WITHIN)
    assert sorted(prompts(fake)) == ["a", "b", "c"]


def test_a_full_queue_makes_submitters_wait_in_order(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, max_sessions=1, queue=1)
    first = fleet.submit("a")
    assert wait_until(lambda: first.state != "queued", WITHIN)
    fleet.submit("b")
    with ThreadPoolExecutor(1) as thread:
        late = thread.submit(fleet.submit, "c")
        assert wait_until(lambda: fleet.snapshot().submitters_waiting == 1, WITHIN)
        assert not late.done()
        fake.gates.open("gate")
        assert late.result(WITHIN).result(WITHIN).result == "c"


def test_who_will_not_wait_for_ever_is_told_that_nothing_was_submitted(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, max_sessions=1, queue=1)
    first = fleet.submit("a")
    assert wait_until(lambda: first.state != "queued", WITHIN)
    fleet.submit("b")
    with pytest.raises(SubmitTimeout):
        fleet.submit("c", timeout=0.01)
    fake.gates.open("gate")
    fleet.drain(WITHIN)
    assert sorted(prompts(fake)) == ["a", "b"]


def test_many_tasks_pass_through_a_small_queue(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(ECHO), max_sessions=2, queue=1)
    jobs = fleet.submit_many([f"p{number}" for number in range(8)], timeout=WITHIN)
    assert [job.result(WITHIN).result for job in jobs] == [f"p{number}" for number in range(8)]


def test_who_waits_for_a_place_is_told_when_the_fleet_ends(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(GATED), max_sessions=1, queue=1)
    first = fleet.submit("a")
    assert wait_until(lambda: first.state != "queued", WITHIN)
    fleet.submit("b")
    with ThreadPoolExecutor(1) as thread:
        late = thread.submit(fleet.submit, "c")
        assert wait_until(lambda: fleet.snapshot().submitters_waiting == 1, WITHIN)
        fleet.stop(WITHIN)
        with pytest.raises(FleetClosed):
            late.result(WITHIN)


def test_a_larger_queue_lets_a_waiting_submitter_in(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(GATED), max_sessions=1, queue=1)
    first = fleet.submit("a")
    assert wait_until(lambda: first.state != "queued", WITHIN)
    fleet.submit("b")
    with ThreadPoolExecutor(1) as thread:
        late = thread.submit(fleet.submit, "c")
        assert wait_until(lambda: fleet.snapshot().submitters_waiting == 1, WITHIN)
        fleet.change(queue=2)
        assert late.result(WITHIN).state == "queued"


# --- changes while it runs ---


def test_the_number_of_sessions_can_be_changed_while_it_runs(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, max_sessions=1)
    fleet.submit_many(["a", "b", "c"])
    fake.gates.wait_reached("gate")
    assert fleet.change(max_sessions=3).max_sessions == 3
    for _ in range(2):
        fake.gates.wait_reached("gate")
    fake.gates.open("gate")
    fleet.drain(WITHIN)


def test_a_budget_can_be_raised_while_it_runs(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(ECHO), max_tokens=15)
    fleet.submit("a").result(WITHIN)
    fleet.change(budget=Budget(tokens=10_000))
    assert fleet.submit("b").result(WITHIN).result == "b"


@pytest.mark.parametrize(
    "changes", [{"max_sessions": 0}, {"queue": 0}, {"no_such_bound": 1}, {"budget": Budget(usd=-1.0)}]
)
def test_an_unsound_bound_is_refused_and_the_old_one_stays(
    fakes: MakeFake, fleets: MakeFleet, changes: dict[str, Any]
) -> None:
    fleet = fleets(fakes(ECHO), max_sessions=3)
    with pytest.raises(InvalidOptions):
        fleet.change(**changes)
    assert fleet.limits.max_sessions == 3
    assert fleet.submit("a").result(WITHIN).result == "a"


UNSOUND = [
    {"max_sessions": 0},
    {"queue": 0},
    {"when_full": "cry"},
    {"messages": "some"},
    {"max_turns": -1},
    {"max_tokens": -1},
    {"max_budget_usd": float("nan")},
]


@pytest.mark.parametrize("settings", UNSOUND)
def test_a_fleet_with_unsound_bounds_is_not_made(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidOptions):
        Fleet(**settings)


def test_a_paused_fleet_starts_nothing_until_it_is_resumed(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(ECHO))
    fleet.pause()
    job = fleet.submit("a")
    assert wait_until(lambda: fleet.snapshot().queued == 1, WITHIN)
    assert fleet.snapshot().paused
    assert job.state == "queued"
    fleet.resume()
    assert job.result(WITHIN).result == "a"


# --- what it shows ---


def test_a_task_that_waits_for_a_persons_word_needs_input_and_goes_on_when_it_has_it(
    fakes: MakeFake, fleets: MakeFleet
) -> None:
    fake = fakes(script(UseTool("Bash", {"command": "make"}, result="made"), "built"))
    approvals = Approvals()
    fleet = fleets(fake, options={"can_use_tool": approvals})
    job = fleet.submit("build")
    pending = approvals.mailbox.get(WITHIN)
    assert becomes(job, "needs_input")
    snapshot = fleet.snapshot()
    assert snapshot.states["needs_input"] == 1
    assert snapshot.sessions[0].state == "needs_input"
    assert job.session is pending.session
    pending.allow()
    assert job.result(WITHIN).result == "built"
    approvals.close()


def test_a_snapshot_shows_every_job_and_session_apart(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, max_sessions=1)
    running, queued = fleet.submit_many([Task("a", id="a"), Task("b", id="b", priority=-1)])
    pid = fake.gates.wait_reached("gate")
    assert becomes(running, "running")
    snapshot = fleet.snapshot()
    assert [(job.id, job.state, job.attempt) for job in snapshot.jobs] == [("a", "running", 1), ("b", "queued", 0)]
    (session,) = snapshot.sessions
    assert (session.pid, session.job, session.state, session.session_id) == (pid, "a", "running", running.session_id)
    assert (snapshot.queued, snapshot.counters.submitted, snapshot.closing) == (1, 2, False)
    fake.gates.open("gate")
    queued.result(WITHIN)
    fleet.drain(WITHIN)
    assert fleet.snapshot().counters.done == 2
    assert (fleet.snapshot().jobs, fleet.snapshot().sessions) == ((), ())


# --- its end ---


def test_a_fleet_that_is_left_in_peace_finishes_everything(fakes: MakeFake) -> None:
    with Fleet(max_sessions=2, options=Options(cli_path=fakes(ECHO).cli_path)) as fleet:
        jobs = fleet.submit_many(["a", "b", "c", "d"])
    assert [job.result(0).result for job in jobs] == ["a", "b", "c", "d"]


def test_a_fleet_that_is_left_by_an_exception_stops_at_once(fakes: MakeFake) -> None:
    jobs: list[Job] = []

    def work() -> None:
        with Fleet(options=Options(cli_path=fakes(GATED).cli_path)) as fleet:
            jobs.extend(fleet.submit_many(["a", "b"]))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    for job in jobs:
        with pytest.raises(FleetStopped):
            job.result(0)
        assert job.state == "stopped"


def test_who_will_not_wait_for_the_end_of_the_block_stops_the_fleet(
    fakes: MakeFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = Fleet(options=Options(cli_path=fakes(GATED).cli_path))
    job = fleet.submit("a")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fleet, "drain", interrupted)
    with pytest.raises(KeyboardInterrupt), fleet:
        pass
    assert (job.state, fleet.snapshot().sessions) == ("stopped", ())
    assert "0 unfinished jobs" in repr(fleet)


def test_a_fleet_can_leave_its_queue_and_finish_only_what_runs(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, max_sessions=1)
    running, queued = fleet.submit_many(["a", "b"])
    fake.gates.wait_reached("gate")
    with pytest.raises(FleetTimeout):
        fleet.drain(0.01, leave_queued=True)
    with pytest.raises(FleetStopped):
        queued.result(WITHIN)
    fake.gates.open("gate")
    fleet.drain(WITHIN)
    assert running.result(0).result == "a"


def test_stopping_ends_even_processes_that_do_not_want_to(fakes: MakeFake, fleets: MakeFleet) -> None:
    stubborn = script(reply(WaitFor("gate"), "never", times=None), on_start=(IgnoreTerm(), IgnoreEof()))
    fake = fakes(stubborn)
    fleet = fleets(fake, options={"eof_grace": 0.05, "term_grace": 0.05})
    job = fleet.submit("a")
    fake.gates.wait_reached("gate")
    fleet.stop(WITHIN)
    assert fleet.snapshot().sessions == ()
    with pytest.raises(FleetStopped):
        job.result(0)


def test_stopping_is_idempotent_and_safe_from_many_threads(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(GATED))
    fleet.submit_many(["a", "b"])
    threads = [threading.Thread(target=fleet.stop, args=(WITHIN,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WITHIN)
    fleet.stop(WITHIN)
    fleet.drain(WITHIN)
    assert fleet.snapshot().counters.stopped == 2


def test_the_stop_of_all_pykka_actors_leaves_no_job_waiting(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, max_sessions=1)
    jobs = fleet.submit_many(["a", "b"])
    fake.gates.wait_reached("gate")
    pykka.ActorRegistry.stop_all(timeout=WITHIN)
    for job in jobs:
        with pytest.raises(ClaudeActorsError):
            job.result(WITHIN)
        assert job.state == "stopped"
    with pytest.raises(FleetClosed):
        fleet.submit("c")


def test_a_failure_of_the_fleets_own_actor_ends_everything_loudly(
    fakes: MakeFake, fleets: MakeFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake)
    job = fleet.submit("a")
    fake.gates.wait_reached("gate")

    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("claude_actors.fleet.machine.FleetMachine.step", broken)
    fleet.pause()
    with pytest.raises(ClaudeActorsError, match="a bug"):
        job.result(WITHIN)
    with pytest.raises(ClaudeActorsError, match="a bug"):
        fleet.drain(WITHIN)
    with pytest.raises(FleetClosed):
        fleet.submit("b")


def test_an_error_says_what_to_do() -> None:
    assert "submit again later" in str(QueueFull(limit=3))
    assert "300 tokens" in str(TaskBudgetExhausted(task_id="a", budget="tokens", limit=300, used=310))
