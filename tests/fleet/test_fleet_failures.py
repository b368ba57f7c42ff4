"""What fails and may pass is tried again, what cannot is not; budgets and rate limits hold. Over the fake CLI."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from support.fleets import WITHIN, MakeFake, MakeFleet, becomes, conversations, prompts
from support.leaks import wait_until

from claude_actors import errors
from claude_actors.fleet import FleetBudgetExhausted, Task, TaskBudgetExhausted
from claude_actors.testing.faults import Die, Echo, Emit
from claude_actors.testing.script import ApiError, Script, UseTool, WaitFor, reply, script

FINE = script(reply(Echo(), times=None))
DEADLY = script(reply("half an answer", Die(signal=signal.SIGKILL)))


def resumed(argv: list[str]) -> str | None:
    return next((word.removeprefix("--resume=") for word in argv if word.startswith("--resume=")), None)


# --- crashes ---


def test_a_crash_in_a_turn_is_tried_again_in_the_same_conversation(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(DEADLY, FINE)
    job = fleets(fake).submit(Task("hello", messages="all"))
    assert job.result(WITHIN).result == "hello"
    first, second = conversations(fake)
    assert resumed(second.argv) == job.session_id
    assert f"--session-id={job.session_id}" in first.argv or job.session_id in first.argv
    assert prompts(fake) == ["hello", "hello"]
    texts = [getattr(message, "text", "") for message in job.messages() if message.type == "assistant"]
    assert texts == ["half an answer", "hello"]


def test_a_task_can_say_what_is_sent_instead_of_its_prompt_when_it_goes_on(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(DEADLY, FINE)
    job = fleets(fake).submit(Task("hello", continue_prompt="you were interrupted; go on"))
    assert job.result(WITHIN).result == "you were interrupted; go on"


def test_a_task_that_must_not_resume_begins_anew(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(DEADLY, FINE)
    fleets(fake).submit(Task("hello", resume=False)).result(WITHIN)
    assert [resumed(run.argv) for run in conversations(fake)] == [None, None]


def test_a_conversation_that_is_gone_is_begun_anew(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(script(reply(WaitFor("gate"), "never")), FINE)
    job = fleets(fake).submit("hello")
    pid = fake.gates.wait_reached("gate")
    for file in (fake.directory / "sessions").rglob("*.jsonl"):
        file.unlink()
    os.kill(pid, signal.SIGKILL)
    assert job.result(WITHIN).result == "hello"
    runs = conversations(fake)
    assert [resumed(run.argv) is not None for run in runs] == [False, True, False]
    assert job.attempt == 3


def test_a_session_that_does_not_start_is_tried_again(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(script(on_start=(Die(code=3),)), FINE)
    job = fleets(fake).submit("hello")
    assert job.result(WITHIN).result == "hello"
    assert job.attempt == 2


def test_a_task_that_crashes_every_time_fails_with_the_last_crash(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(script(reply(Die(signal=signal.SIGKILL), times=None)))
    job = fleets(fake).submit(Task("hello", retries=1))
    with pytest.raises(errors.SessionCrashed) as caught:
        job.result(WITHIN)
    assert caught.value.signal == signal.SIGKILL
    assert (job.attempt, job.state) == (2, "failed")


def test_a_program_that_is_not_there_is_told_at_once(fakes: MakeFake, fleets: MakeFleet, tmp_path: Path) -> None:
    job = fleets(fakes(FINE)).submit(Task("hello", {"cli_path": tmp_path / "nothing"}))
    with pytest.raises(errors.StartError):
        job.result(WITHIN)
    assert job.attempt == 1


# --- the API ---


@pytest.mark.parametrize("status", [500, 529])
def test_an_overload_is_tried_again(fakes: MakeFake, fleets: MakeFleet, status: int) -> None:
    fake = fakes(script(ApiError(status), reply(Echo(), times=None)))
    job = fleets(fake).submit("hello")
    assert job.result(WITHIN).result == "hello"
    assert job.attempt == 2


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.ApiFailed),
        (401, errors.AuthenticationFailed),
        (403, errors.AuthenticationFailed),
        (413, errors.ApiFailed),
    ],
)
def test_what_the_api_will_never_accept_is_not_tried_again(
    fakes: MakeFake, fleets: MakeFleet, status: int, kind: type[errors.ApiFailed]
) -> None:
    fake = fakes(script(ApiError(status), reply(Echo(), times=None)))
    job = fleets(fake).submit("hello")
    with pytest.raises(kind) as caught:
        job.result(WITHIN)
    assert (caught.value.status, job.attempt, len(conversations(fake))) == (status, 1, 1)


def rate_limit(resets_at: float) -> Script:
    """Refuse the prompt `a` once, and tell until when."""
    told = Emit({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": resets_at}})
    return script(reply(told, ApiError(429), when="a"), reply(Echo(), times=None))


def test_a_fleet_that_is_told_when_its_limit_resets_starts_nothing_until_then(
    fakes: MakeFake, fleets: MakeFleet
) -> None:
    resets_at = time.time() + 3600
    fake = fakes(rate_limit(resets_at))
    fleet = fleets(fake, max_sessions=1)
    limited, queued = fleet.submit_many(["a", "b"])
    for job in (limited, queued):
        assert becomes(job, "limited")
        assert job.limited_until == resets_at
    snapshot = fleet.snapshot()
    assert (snapshot.limited_until, snapshot.states["limited"]) == (resets_at, 2)
    assert prompts(fake) == ["a"]


def test_a_limit_that_has_reset_lets_everybody_go_on_and_has_cost_no_retry(fakes: MakeFake, fleets: MakeFleet) -> None:
    resets_at = time.time() + 1.0
    fleet = fleets(fakes(rate_limit(resets_at)), max_sessions=1)
    limited, queued = fleet.submit_many([Task("a", retries=0), Task("b", retries=0)])
    assert limited.result(WITHIN).result == "a"
    assert time.time() >= resets_at
    assert queued.result(WITHIN).result == "b"
    assert [job.attempt for job in (limited, queued)] == [2, 1]
    assert limited.limited_until is None


def test_a_limit_without_a_time_is_tried_again_like_an_overload(fakes: MakeFake, fleets: MakeFleet) -> None:
    fake = fakes(script(ApiError(429), reply(Echo(), times=None)))
    job = fleets(fake).submit("hello")
    assert job.result(WITHIN).result == "hello"
    fake.play(script(reply(ApiError(429), times=None)))
    with pytest.raises(errors.RateLimited):
        fleets(fake).submit(Task("hello", retries=1)).result(WITHIN)


# --- budgets ---

BUSY = script(reply(UseTool("Bash", {"command": "true"}, result="ok"), input_tokens=100, times=None))


@pytest.mark.parametrize(
    ("budget", "kind"),
    [
        ({"max_turns": 2}, errors.MaxTurnsReached),
        ({"max_budget_usd": 0.000001}, errors.BudgetExhausted),
        ({"max_tokens": 350}, TaskBudgetExhausted),
    ],
)
def test_a_task_ends_when_its_budget_does(
    fakes: MakeFake, fleets: MakeFleet, budget: dict[str, Any], kind: type[Exception]
) -> None:
    fleet = fleets(fakes(BUSY), options={"allowed_tools": ["Bash"]})
    job = fleet.submit(Task("work for ever", **budget))
    with pytest.raises(kind):
        job.result(WITHIN)
    assert (job.state, job.attempt) == ("failed", 1)
    fleet.drain(WITHIN)
    assert fleet.snapshot().sessions == ()


def test_the_tokens_of_an_open_turn_are_shown_as_they_are_used(fakes: MakeFake, fleets: MakeFleet) -> None:
    tool = UseTool("Bash", {"command": "true"}, result="ok")
    fake = fakes(script(reply(tool, input_tokens=70), reply(WaitFor("gate"), "done")))
    job = fleets(fake, options={"allowed_tools": ["Bash"]}).submit("work")
    assert wait_until(lambda: job.spent.tokens >= 70, WITHIN)
    assert not job.done
    fake.gates.open("gate")
    job.result(WITHIN)


@pytest.mark.parametrize(
    ("budget", "kind"), [({"max_turns": 1}, "turns"), ({"max_tokens": 15}, "tokens"), ({"max_budget_usd": 1e-6}, "usd")]
)
def test_when_the_fleets_budget_is_used_up_nothing_more_starts(
    fakes: MakeFake, fleets: MakeFleet, budget: dict[str, Any], kind: str
) -> None:
    fake = fakes(FINE)
    fleet = fleets(fake, max_sessions=1, **budget)
    first, second = fleet.submit_many(["a", "b"])
    assert first.result(WITHIN).result == "a"
    with pytest.raises(FleetBudgetExhausted) as caught:
        second.result(WITHIN)
    assert caught.value.budget == kind
    assert (second.state, prompts(fake)) == ("stopped", ["a"])


def test_one_broken_task_does_not_disturb_the_others(fakes: MakeFake, fleets: MakeFleet) -> None:
    bad = reply(Die(signal=signal.SIGKILL), when="bad", times=None)
    whole: Script = script(bad, reply(Echo(), times=None))
    fleet = fleets(fakes(whole), max_sessions=3)
    jobs = fleet.submit_many([f"{'bad' if number % 3 == 0 else 'good'} {number}" for number in range(9)])
    outcomes = [job.wait(WITHIN) and job.state for job in jobs]
    assert outcomes == ["failed", "done", "done"] * 3
