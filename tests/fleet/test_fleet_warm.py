"""Warm sessions over the fake CLI: ready before the task, never shared by strangers, always giving way."""

from __future__ import annotations

import pytest
from support.fleets import WITHIN, MakeFake, MakeFleet, conversations, idle_sessions
from support.leaks import is_running, wait_until

from claude_actors.fleet import Fleet, Task, WarmPolicy
from claude_actors.options import Options
from claude_actors.testing.faults import Echo
from claude_actors.testing.script import WaitFor, reply, script

ECHO = script(reply(Echo(), times=None))
GATED = script(reply(WaitFor("gate"), Echo(), times=None))


def idle_pids(fleet: Fleet) -> list[int]:
    return [slot.pid for slot in fleet.snapshot().sessions if slot.state == "idle" and slot.pid is not None]


def test_a_task_takes_a_session_that_was_initialised_before_it_came(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, warm=WarmPolicy(ready=1))
    assert wait_until(lambda: idle_sessions(fleet) == 1, WITHIN)
    (pid,) = idle_pids(fleet)
    job = fleet.submit("hello")
    assert fake.gates.wait_reached("gate") == pid
    assert job.session is not None
    assert job.session.pid == pid
    fake.gates.open("gate")
    assert job.result(WITHIN).result == "hello"


def test_every_task_has_a_process_of_its_own_however_many_are_ready(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(ECHO)
    fleet = fleets(fake, max_sessions=2, warm=WarmPolicy(ready=2))
    for number in range(6):
        fleet.submit(f"secret {number}").result(WITHIN)
    fleet.drain(WITHIN)
    heard = [
        [note["frame"]["message"] for note in run.of("stdin") if note["frame"]["type"] == "user"]
        for run in conversations(fake)
    ]
    assert sorted(len(prompts) for prompts in heard if prompts) == [1] * 6


def test_a_task_with_other_options_takes_an_idle_place_at_once(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(ECHO), max_sessions=1, warm=WarmPolicy(ready=1))
    assert wait_until(lambda: idle_sessions(fleet) == 1, WITHIN)
    (pid,) = idle_pids(fleet)
    assert fleet.submit(Task("hello", {"model": "haiku"})).result(WITHIN).result == "hello"
    assert wait_until(lambda: not is_running(pid), WITHIN)


def test_idle_sessions_end_after_their_time(fakes: MakeFake, fleets: MakeFleet) -> None:
    fleet = fleets(fakes(ECHO), warm=WarmPolicy(ready=2, idle_ttl=0.2))
    assert wait_until(lambda: len(fleet.snapshot().sessions) == 2, WITHIN)
    assert wait_until(lambda: fleet.snapshot().sessions == (), WITHIN)
    assert fleet.submit("hello").result(WITHIN).result == "hello"


def test_a_fleet_with_idle_sessions_ends_like_any_other(fakes: MakeFake) -> None:
    options = Options(cli_path=fakes(ECHO).cli_path)
    with Fleet(options=options, warm=WarmPolicy(ready=3)) as fleet:
        assert wait_until(lambda: idle_sessions(fleet) == 3, WITHIN)
    assert fleet.snapshot().sessions == ()


# --- conversations ---


def test_tasks_of_one_conversation_go_on_in_one_process_in_order(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(script("one", "two", "three"))
    fleet = fleets(fake)
    jobs = fleet.submit_many([Task(f"turn {number}", conversation="k") for number in range(3)])
    assert [job.result(WITHIN).result for job in jobs] == ["one", "two", "three"]
    assert len(conversations(fake)) == 1
    assert len({job.session_id for job in jobs}) == 1


def test_a_conversation_whose_session_was_evicted_is_resumed(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(script("one", "two"), ECHO, script("one", "two"))
    fleet = fleets(fake, max_sessions=1)
    first = fleet.submit(Task("turn 1", conversation="k"))
    first.result(WITHIN)
    assert fleet.submit("somebody else").result(WITHIN).result == "somebody else"
    second = fleet.submit(Task("turn 2", conversation="k"))
    second.result(WITHIN)
    assert second.session_id == first.session_id
    assert any(f"--resume={first.session_id}" in run.argv for run in conversations(fake))


def test_a_busy_session_is_never_evicted(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(GATED)
    fleet = fleets(fake, max_sessions=1)
    first = fleet.submit(Task("a", conversation="k"))
    pid = fake.gates.wait_reached("gate")
    urgent = fleet.submit(Task("b", priority=100))
    assert wait_until(lambda: fleet.snapshot().queued == 1, WITHIN)
    assert (is_running(pid), urgent.state) == (True, "queued")
    fake.gates.open("gate")
    assert first.result(WITHIN).result == "a"
    assert urgent.result(WITHIN).result == "b"


@pytest.mark.parametrize("policy", [WarmPolicy(max_idle=0), WarmPolicy(max_age=0.000001)])
def test_a_session_that_may_not_be_kept_ends_with_its_turn(
    fakes: MakeFake, fleets: MakeFleet, policy: WarmPolicy
) -> None:
    fleet = fleets(fakes(ECHO), warm=policy)
    fleet.submit(Task("hello", conversation="k")).result(WITHIN)
    assert wait_until(lambda: fleet.snapshot().sessions == (), WITHIN)
