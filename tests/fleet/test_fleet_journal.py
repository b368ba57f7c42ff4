"""A fleet with a journal, stopped and started again in one process."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from support.fleets import WITHIN, MakeFake, MakeFleet, becomes, conversations, prompts
from support.leaks import wait_until

from claude_actors import errors
from claude_actors.fleet import (
    DuplicateTask,
    Fleet,
    FleetBudgetExhausted,
    Journal,
    JournalFailed,
    JournalLocked,
    RecordedFailure,
    SubmitTimeout,
    Task,
    TaskCancelled,
)
from claude_actors.options import Options
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Die, Echo, Emit
from claude_actors.testing.script import ApiError, UseTool, WaitFor, reply, script

ECHO = script(reply(Echo(), times=None))
GATED = script(reply(WaitFor("gate"), Echo(), times=None))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "fleet.journal"


def stopped_in_a_turn(fleet: Fleet, fake: FakeCLI, task: Task) -> str | None:
    """Run a task until its turn is open, stop the fleet, and return the task's conversation."""
    job = fleet.submit(task)
    fake.gates.wait_reached("gate")
    fleet.stop(WITHIN)
    assert job.state == "stopped"
    return job.session_id


# --- what has ended ---


def test_a_task_that_has_ended_is_never_run_again(fakes: MakeFake, fleets: MakeFleet, journal: Path) -> None:
    fake = fakes(ECHO)
    with fleets(fake, journal=journal) as fleet:
        first = fleet.submit(Task("hello", id="a")).result(WITHIN)
    with fleets(fake, journal=journal) as fleet:
        job = fleet.submit(Task("hello", id="a"))
        assert (job.recorded, job.done, job.state) == (True, True, "done")
        assert job.result(0) == first
        assert fleet.recovered == ()
        assert list(job.messages()) == []
    assert len(conversations(fake)) == 1


def test_within_one_run_too_a_task_that_has_ended_answers_from_the_journal(
    fakes: MakeFake, fleets: MakeFleet, journal: Path
) -> None:
    fake = fakes(ECHO)
    fleet = fleets(fake, journal=journal)
    fleet.submit(Task("hello", id="a")).result(WITHIN)
    again = fleet.submit(Task("hello", id="a"))
    assert (again.recorded, again.result(0).result) == (True, "hello")


def test_failures_come_back_as_the_errors_that_they_were(fakes: MakeFake, fleets: MakeFleet, journal: Path) -> None:
    crash = reply(Die(signal=9), when="crash", times=None)
    fake = fakes(script(crash, reply(ApiError(401), when="auth", times=None), reply(WaitFor("gate"), times=None)))
    with fleets(fake, journal=journal) as fleet:
        auth = fleet.submit(Task("auth", id="auth"))
        crashed = fleet.submit(Task("crash", id="crash", retries=0))
        cancelled = fleet.submit(Task("wait", id="cancelled"))
        fake.gates.wait_reached("gate")
        cancelled.cancel()
        assert [job.wait(WITHIN) for job in (auth, crashed, cancelled)] == [True] * 3
    with fleets(fake, journal=journal) as fleet:
        jobs = {name: fleet.submit(Task("again", id=name)) for name in ("auth", "crash", "cancelled")}
    assert [job.state for job in jobs.values()] == ["failed", "failed", "cancelled"]
    with pytest.raises(errors.AuthenticationFailed):
        jobs["auth"].result(0)
    with pytest.raises(RecordedFailure, match="SessionCrashed"):
        jobs["crash"].result(0)
    with pytest.raises(TaskCancelled):
        jobs["cancelled"].result(0)


def test_a_job_is_reported_only_when_its_end_is_safe(
    fakes: MakeFake, fleets: MakeFleet, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, journal=journal)
    job = fleet.submit(Task("hello", id="a"))
    fake.gates.wait_reached("gate")
    assert becomes(job, "running")
    may_sync, syncing, fsync = threading.Event(), threading.Event(), os.fsync

    def slow_disk(fd: int) -> None:
        syncing.set()
        assert may_sync.wait(WITHIN)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", slow_disk)
    fake.gates.open("gate")
    assert syncing.wait(WITHIN)
    assert (job.done, job.state) == (False, "running")
    may_sync.set()
    assert job.result(WITHIN).result == "hello"


# --- what has not ended ---


def test_an_unfinished_task_goes_on_in_its_conversation(fakes: MakeFake, fleets: MakeFleet, journal: Path) -> None:
    fake = fakes(GATED)
    conversation = stopped_in_a_turn(fleets(fake, journal=journal), fake, Task("hello", id="a", data={"row": 7}))
    fake.play(ECHO)
    with fleets(fake, journal=journal) as fleet:
        (job,) = fleet.recovered
        assert job.result(WITHIN).result == "hello"
    assert (job.id, job.recovered, job.session_id, job.task.data) == ("a", True, conversation, {"row": 7})
    assert f"--resume={conversation}" in conversations(fake)[-1].argv


def test_whoever_submits_an_unfinished_task_again_gets_its_job_and_only_one_runs(
    fakes: MakeFake, fleets: MakeFleet, journal: Path
) -> None:
    fake = fakes(GATED)
    stopped_in_a_turn(fleets(fake, journal=journal), fake, Task("hello", id="a"))
    with fleets(fake, journal=journal) as fleet:
        job = fleet.submit(Task("hello", id="a"))
        assert job is fleet.recovered[0]
        with pytest.raises(DuplicateTask):
            fleet.submit(Task("hello", id="a"))
        fake.gates.open("gate")
        assert job.result(WITHIN).result == "hello"
    assert len(prompts(fake)) == 2


def test_tasks_that_were_only_queued_run_with_all_that_they_asked_for(
    fakes: MakeFake, fleets: MakeFleet, journal: Path, tmp_path: Path
) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, journal=journal)
    fleet.pause()
    fleet.submit_many([Task("low", id="a", priority=-5), Task("high", {"cwd": str(tmp_path)}, id="b", priority=5)])
    fleet.stop(WITHIN)
    fake.gates.open("gate")
    with fleets(fake, journal=journal, max_sessions=1) as fleet:
        assert [job.result(WITHIN).result for job in fleet.recovered] == ["low", "high"]
    assert prompts(fake) == ["high", "low"]
    assert conversations(fake)[0].cwd == str(tmp_path)


def test_a_conversation_goes_on_in_the_next_run(fakes: MakeFake, fleets: MakeFleet, journal: Path) -> None:
    fake = fakes(ECHO)
    with fleets(fake, journal=journal) as fleet:
        first = fleet.submit(Task("turn 1", id="a", conversation="k"))
        first.result(WITHIN)
    with fleets(fake, journal=journal) as fleet:
        second = fleet.submit(Task("turn 2", id="b", conversation="k"))
        second.result(WITHIN)
    assert second.session_id == first.session_id


def test_what_was_spent_and_which_limit_holds_is_remembered(fakes: MakeFake, fleets: MakeFleet, journal: Path) -> None:
    resets_at = time.time() + 3600
    told = Emit({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": resets_at}})
    fake = fakes(script(reply(told, Echo(), times=None)))
    with fleets(fake, journal=journal) as fleet:
        fleet.submit(Task("hello", id="a")).result(WITHIN)
        spent = fleet.snapshot().spent
    fleet = fleets(fake, journal=journal)
    assert (fleet.snapshot().spent, fleet.snapshot().limited_until) == (spent, resets_at)
    assert becomes(fleet.submit(Task("hello", id="b")), "limited")


def test_tasks_that_a_budget_kept_from_running_wait_in_the_journal_for_a_larger_one(
    fakes: MakeFake, fleets: MakeFleet, journal: Path
) -> None:
    fake = fakes(ECHO)
    with fleets(fake, journal=journal, max_tokens=15, max_sessions=1) as fleet:
        first, second = fleet.submit_many([Task("a", id="a"), Task("b", id="b")])
        first.result(WITHIN)
        with pytest.raises(FleetBudgetExhausted):
            second.result(WITHIN)
    with fleets(fake, journal=journal, max_tokens=1000) as fleet:
        (job,) = fleet.recovered
        assert job.result(WITHIN).result == "b"


# --- what goes wrong ---


def test_options_that_cannot_be_kept_are_refused(fakes: MakeFake, fleets: MakeFleet, journal: Path) -> None:
    fleet = fleets(fakes(ECHO), journal=journal)
    with pytest.raises(errors.InvalidOptions, match="journal"):
        fleet.submit(Task("hello", Options()))
    with pytest.raises(errors.EncodingFailed):
        fleet.submit(Task("hello", data=object()))
    assert fleet.submit("hello").result(WITHIN).result == "hello"


def test_tasks_that_were_taken_back_are_not_run_by_the_next_fleet(
    fakes: MakeFake, fleets: MakeFleet, journal: Path
) -> None:
    fake = fakes(ECHO)
    with fleets(fake, journal=journal) as fleet:
        with pytest.raises(DuplicateTask):
            fleet.submit_many([Task("a", id="a"), Task("b", id="b"), Task("again", id="a")])
        assert fleet.submit("c").result(WITHIN).result == "c"
    with fleets(fake, journal=journal) as fleet:
        assert fleet.recovered == ()
    assert prompts(fake) == ["c"]


def test_tasks_that_were_taken_back_can_be_submitted_again(fakes: MakeFake, fleets: MakeFleet, journal: Path) -> None:
    fake = fakes(ECHO)
    a, b = Task("a", id="a"), Task("b", id="b")
    with fleets(fake, journal=journal) as fleet:
        with pytest.raises(DuplicateTask):
            fleet.submit_many([a, b, Task("again", id="a")])
        assert fleet.submit(a).result(WITHIN).result == "a"
    with fleets(fake, journal=journal) as fleet:
        assert fleet.submit(b).result(WITHIN).result == "b"
        assert fleet.submit(a).recorded


def test_tasks_that_ran_already_when_the_rest_was_refused_can_be_submitted_again(
    fakes: MakeFake, fleets: MakeFleet, journal: Path
) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, journal=journal, max_sessions=1, queue=1)
    # The first runs, the second has the only place, and nobody lets the third in.
    with pytest.raises(SubmitTimeout):
        fleet.submit_many([Task(name, id=name) for name in "abc"], timeout=0.5)
    assert wait_until(lambda: not fleet.snapshot().jobs, WITHIN)
    fleet.stop(WITHIN)
    fake.play(ECHO)
    with fleets(fake, journal=journal) as fleet:
        assert fleet.recovered == ()
        assert [result.result for result in fleet.map([Task(name, id=name) for name in "abc"])] == ["a", "b", "c"]


def test_a_task_that_goes_on_is_not_harmed_by_somebody_who_cannot_submit_it_with_others(
    fakes: MakeFake, fleets: MakeFleet, journal: Path
) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, journal=journal)
    fleet.submit(Task("a", id="a"))
    fake.gates.wait_reached("gate")
    fleet.stop(WITHIN)
    with fleets(fake, journal=journal) as fleet:
        (job,) = fleet.recovered
        with pytest.raises(DuplicateTask):
            fleet.submit_many([Task("a", id="a"), Task("b", id="b"), Task("b", id="b")])
        assert fleet.submit(Task("a", id="a")) is job
        fake.gates.open("gate")
        assert job.result(WITHIN).result == "a"


def test_the_journal_is_free_as_soon_as_the_end_was_awaited(fakes: MakeFake, journal: Path) -> None:
    options = Options(cli_path=fakes(ECHO).cli_path)

    async def main() -> None:
        for number in range(10):
            async with Fleet(options=options, journal=journal) as fleet:
                if number == 0:
                    assert (await (await fleet.aio.submit(Task("hello", id="a")))).result == "hello"

    asyncio.run(main())


def test_two_fleets_cannot_share_a_journal(fakes: MakeFake, fleets: MakeFleet, journal: Path) -> None:
    fake = fakes(ECHO)
    fleets(fake, journal=journal)
    with pytest.raises(JournalLocked):
        fleets(fake, journal=Journal(journal, sync="never"))


def test_a_fleet_whose_journal_fails_stops_and_reports_nothing_that_would_be_reported_again(
    fakes: MakeFake, fleets: MakeFleet, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, journal=journal)
    jobs = fleet.submit_many([Task("a", id="a"), Task("b", id="b")])
    for _ in jobs:
        fake.gates.wait_reached("gate")

    assert all(becomes(job, "running") for job in jobs)
    write = os.write

    def full_disk(fd: int, data: Any) -> int:
        if b'"record":' in bytes(data):
            raise OSError(28, "No space left on device")
        return write(fd, data)

    monkeypatch.setattr(os, "write", full_disk)
    fake.gates.open("gate")
    for job in jobs:
        with pytest.raises(JournalFailed):
            job.result(WITHIN)
        assert job.state == "stopped"
    with pytest.raises(errors.ClaudeActorsError):
        fleet.submit("c")
    fleet.stop(WITHIN)
    monkeypatch.undo()
    with fleets(fake, journal=journal) as fleet:
        assert sorted(job.result(WITHIN).result or "" for job in fleet.recovered) == ["a", "b"]


def test_a_tool_call_in_the_journal_is_read_back_whole(fakes: MakeFake, fleets: MakeFleet, journal: Path) -> None:
    fake = fakes(script(UseTool("Read", {"file_path": "/nowhere"}), 'done: "quoted"\n\u00fc\U0001f600'))
    with fleets(fake, journal=journal) as fleet:
        fleet.submit(Task("hello", id="a")).result(WITHIN)
    with fleets(fake, journal=journal) as fleet:
        assert fleet.submit(Task("", id="a")).result(0).result == 'done: "quoted"\n\u00fc\U0001f600'
