"""A task from its submission to its result, over the fake CLI."""

from __future__ import annotations

import threading
from itertools import count, islice

import pytest
from support.fleets import WITHIN, MakeFake, MakeFleet, becomes, prompts
from support.leaks import wait_until

from claude_actors.actors import task_pool
from claude_actors.errors import InvalidOptions, MailboxClosed, MailboxOverflow
from claude_actors.fleet import DuplicateTask, FleetClosed, JobTimeout, Task, TaskCancelled, TaskTimeout, as_completed
from claude_actors.options import Options
from claude_actors.testing.faults import Echo, Flood
from claude_actors.testing.script import UseTool, WaitFor, reply, script

ECHO = script(reply(Echo(), times=None))
GATED = script(reply(WaitFor("gate"), Echo(), times=None))


def test_a_task_gives_the_result_of_its_turn(fakes: MakeFake, fleets: MakeFleet) -> None:
    job = fleets(fakes(ECHO)).submit(Task("hello", id="greeting"))
    assert job.result(WITHIN).result == "hello"
    assert (job.id, job.state, job.attempt, job.error) == ("greeting", "done", 1, None)


def test_a_string_is_a_task_with_that_prompt(fakes: MakeFake, fleets: MakeFleet) -> None:
    assert fleets(fakes(ECHO)).submit("hello").result(WITHIN).result == "hello"


def test_a_job_gives_every_message_of_its_conversation_and_then_ends(fakes: MakeFake, fleets: MakeFleet) -> None:
    job = fleets(fakes(ECHO)).submit(Task("hello", messages="all"))
    kinds = [message.type for message in job.messages()]
    assert kinds.index("assistant") < kinds.index("result")
    assert job.done


def test_a_task_that_nobody_reads_keeps_only_its_recent_messages(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(script(reply(Flood(5000), Echo(), times=None))))
    job, quiet = fleet.submit("flood"), fleet.submit(Task("flood", messages="none"))
    job.result(WITHIN)
    quiet.result(WITHIN)
    assert len(job.messages()) <= 1000
    assert job.messages().counts().dropped > 0
    with pytest.raises(MailboxClosed):
        quiet.messages().get(0)


def test_a_mailbox_that_must_not_lose_anything_fails_its_task_when_it_is_full(
    fakes: MakeFake, fleets: MakeFleet
) -> None:
    options = {"messages_overflow": "fail", "mailbox_max_items": 100}
    fleet = fleets(fakes(script(reply(Flood(5000), WaitFor("gate"), times=None))), options=options)
    job = fleet.submit(Task("flood", messages="all"))
    with pytest.raises(MailboxOverflow):
        job.result(WITHIN)
    assert (job.state, job.attempt) == ("failed", 1)


def test_a_job_knows_what_it_has_spent(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(script(reply("hi", input_tokens=100, output_tokens=20, times=None))))
    job = fleet.submit("hello")
    job.result(WITHIN)
    assert (job.spent.turns, job.spent.tokens) == (1, 120)
    assert job.spent.usd > 0
    assert fleet.snapshot().spent == job.spent


def test_who_waits_too_shortly_can_wait_again(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    job = fleets(fake).submit("hello")
    with pytest.raises(JobTimeout):
        job.result(0.01)
    fake.gates.open("gate")
    assert job.result(WITHIN).result == "hello"


def test_tasks_with_a_higher_priority_run_first(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, max_sessions=1)
    jobs = [fleet.submit(Task(name, priority=priority)) for name, priority in (("a", 0), ("b", -1), ("c", 5), ("d", 0))]
    fake.gates.open("gate")
    for job in jobs:
        job.result(WITHIN)
    assert prompts(fake) == ["a", "c", "d", "b"]


def test_a_task_can_have_options_of_its_own(fakes: MakeFake, fleets: MakeFleet) -> None:
    first, second = fakes(ECHO), fakes(script("from the second"))
    fleet = fleets(first)
    assert fleet.submit(Task("p", Options(cli_path=second.cli_path))).result(WITHIN).result == "from the second"
    assert fleet.submit(Task("p", {"model": "haiku"})).result(WITHIN).result == "p"
    assert "haiku" in " ".join(first.runs()[-1].argv)


def test_an_id_can_be_used_by_one_task_at_a_time(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake)
    job = fleet.submit(Task("p", id="x"))
    with pytest.raises(DuplicateTask):
        fleet.submit(Task("q", id="x"))
    fake.gates.open("gate")
    job.result(WITHIN)
    assert fleet.submit(Task("q", id="x")).result(WITHIN).result == "q"


def test_a_callback_hears_of_the_end_once_also_if_it_comes_late(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    job = fleets(fake).submit("hello")
    heard: list[str] = []
    over = threading.Event()
    job.add_done_callback(lambda done: 1 / 0)
    job.add_done_callback(lambda done: heard.append(done.state))
    job.add_done_callback(lambda done: over.set())
    fake.gates.open("gate")
    assert over.wait(WITHIN)
    job.add_done_callback(lambda done: heard.append("late"))
    assert heard == ["done", "late"]


# --- many ---


def test_a_callback_is_called_also_while_other_callbacks_keep_every_thread_busy(
    fakes: MakeFake, fleets: MakeFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = fakes(GATED)
    job = fleets(fake).submit("hello")
    over = threading.Event()
    job.add_done_callback(lambda done: over.set())
    fake.gates.wait_reached("gate")
    monkeypatch.setattr(task_pool, "_MOST_THREADS", 0)
    fake.gates.open("gate")
    assert over.wait(WITHIN)


def test_map_gives_the_results_in_order(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(ECHO), max_sessions=3)
    wanted = [f"prompt {number}" for number in range(10)]
    assert [result.result for result in fleet.map(wanted)] == wanted


def test_map_takes_no_more_tasks_than_it_needs_and_cancels_the_rest(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(ECHO), max_sessions=2)
    taken = count()
    results = fleet.map((f"prompt {next(taken)}" for _ in iter(int, 1)), ahead=3)
    assert [result.result for result in islice(results, 4)] == [f"prompt {number}" for number in range(4)]
    results.close()
    assert next(taken) <= 8
    fleet.drain(WITHIN)
    assert fleet.snapshot().counters.failed == 0


def test_jobs_come_as_they_end(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(script(reply(WaitFor("gate"), Echo(), when="slow", times=None), reply(Echo(), times=None)))
    fleet = fleets(fake)
    slow, quick = fleet.submit("slow"), fleet.submit("quick")
    over = as_completed([slow, quick], WITHIN)
    assert next(over) is quick
    fake.gates.open("gate")
    assert list(over) == [slow]


def test_jobs_of_two_fleets_with_one_id_both_come(fakes: MakeFake, fleets: MakeFleet) -> None:
    jobs = [fleets(fakes(ECHO)).submit(Task("hello", id="same")) for _ in range(2)]
    assert set(as_completed(jobs, WITHIN)) == set(jobs)


def test_jobs_that_do_not_end_in_time_are_not_waited_for(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    with pytest.raises(JobTimeout):
        list(as_completed([fleets(fake).submit("slow")], 0.01))


def test_if_one_of_many_cannot_be_taken_none_is(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(ECHO))
    with pytest.raises(InvalidOptions):
        fleet.submit_many([Task("a"), Task("b", {"no_such_option": 1})])
    with pytest.raises(DuplicateTask):
        fleet.submit_many([Task("a", id="x"), Task("b", id="x")])
    fleet.drain(WITHIN)
    assert fleet.snapshot().counters.done == 0


# --- endings on request ---


def test_a_task_that_is_cut_short_shows_what_it_has_used(fakes: MakeFake, fleets: MakeFleet) -> None:
    tool = UseTool("Bash", {"command": "true"}, result="ok")
    fake = fakes(script(reply(tool, input_tokens=70), reply(WaitFor("gate"), "done")))
    fleet = fleets(fake, options={"allowed_tools": ["Bash"]})
    job = fleet.submit("work")
    assert wait_until(lambda: job.spent.tokens >= 70, WITHIN)
    job.cancel()
    assert job.wait(WITHIN)
    fleet.drain(WITHIN)
    assert job.spent.tokens >= 70
    assert fleet.snapshot().spent == job.spent


def test_a_cancelled_job_ends_wherever_it_is(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, max_sessions=1)
    running, queued = fleet.submit("a"), fleet.submit("b")
    fake.gates.wait_reached("gate")
    assert queued.cancel()
    assert running.cancel()
    for job in (queued, running):
        with pytest.raises(TaskCancelled):
            job.result(WITHIN)
        assert job.state == "cancelled"
        assert not job.cancel()
    assert prompts(fake) == ["a"]


def test_a_task_that_works_too_long_is_stopped_and_its_process_with_it(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(GATED))
    job = fleet.submit(Task("p", timeout=0.5))
    with pytest.raises(TaskTimeout):
        job.result(WITHIN)
    fleet.drain(WITHIN)
    assert fleet.snapshot().sessions == ()


def test_a_fleet_that_ends_takes_no_more_tasks(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(ECHO))
    fleet.drain(WITHIN)
    for task in ("p", Task("p", id="x")):
        with pytest.raises(FleetClosed):
            fleet.submit(task)
    assert fleet.closed


def test_a_job_that_waits_shows_that_it_is_queued(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, max_sessions=1)
    running, queued = fleet.submit("a"), fleet.submit("b")
    fake.gates.wait_reached("gate")
    assert becomes(running, "running")
    assert queued.state == "queued"
    assert running.session is not None
    assert queued.session is None
