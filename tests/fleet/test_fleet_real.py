"""A fleet over the real CLI against a scripted Messages API: what it really does on crashes, limits and budgets."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from support.fleets import WITHIN
from support.leaks import wait_until

from claude_actors import errors
from claude_actors.fleet import Fleet, RetryPolicy, Task, WarmPolicy
from claude_actors.protocol.restarts import Backoff
from claude_actors.testing.real_cli import RealCLI, bundled_cli
from claude_actors.testing.script import ApiError, UseTool, WaitFor, reply, script

pytestmark = [
    pytest.mark.real_cli,
    pytest.mark.skipif(bundled_cli() is None, reason="no claude-agent-sdk with a bundled CLI is installed"),
]

QUICK = RetryPolicy(retries=2, backoff=Backoff(first=0.01, most=0.05))
NO_RETRIES = {"CLAUDE_CODE_MAX_RETRIES": "0"}
#: The real CLI takes its time on a busy machine.
LONG = 2 * WITHIN


def fleet_over(cli: RealCLI, **settings: Any) -> Fleet:
    options = settings.pop("options", {})
    return Fleet(options=cli.options(**options), **{"retry": QUICK, **settings})


def texts_of(request: Any) -> str:
    return str(request.body["messages"])


def transcripts(home: Path) -> str:
    return "".join(file.read_text() for file in home.rglob("*.jsonl"))


def test_tasks_run_side_by_side_and_each_sees_only_its_own_prompt() -> None:
    with RealCLI(script(reply("fine", times=None))) as cli:
        with fleet_over(cli, max_sessions=3, warm=WarmPolicy(ready=1)) as fleet:
            jobs = fleet.submit_many([f"secret number {number}" for number in range(5)])
            assert [job.result(LONG).result for job in jobs] == ["fine"] * 5
            assert all(job.spent.usd > 0 for job in jobs)
        seen = [texts_of(request) for request in cli.api.requests]
        assert [text.count("secret number") for text in seen] == [1] * 5


def test_a_killed_cli_is_resumed_with_what_it_had_done() -> None:
    tool = UseTool("Bash", {"command": "echo first step"})
    with RealCLI(script(tool, reply(WaitFor("gate"), "never seen"), "done after all")) as cli:
        with fleet_over(cli, options={"allowed_tools": ["Bash"]}) as fleet:
            job = fleet.submit(Task("two steps", continue_prompt="you were cut off; go on"))
            cli.api.wait_for_request(2, LONG)
            # The CLI writes its transcript a little later than it goes on.
            assert wait_until(lambda: "tool_result" in transcripts(cli.home), LONG)
            assert job.session is not None
            pid = job.session.pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            cli.api.open("gate")
            assert job.result(LONG).result == "done after all"
            assert job.attempt == 2
        last = texts_of(cli.api.requests[-1])
        assert "first step" in last
        assert "you were cut off" in last


def test_a_cli_that_is_killed_before_it_has_written_anything_begins_anew() -> None:
    with RealCLI(script(reply(WaitFor("gate"), "never seen"), "done")) as cli, fleet_over(cli) as fleet:
        job = fleet.submit("work")
        cli.api.wait_for_request(1, LONG)
        assert job.session is not None
        pid = job.session.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        cli.api.open("gate")
        assert job.result(LONG).result == "done"


def test_an_overload_is_tried_again_and_bad_credentials_are_not() -> None:
    answers = script(ApiError(529), "recovered", ApiError(401), ApiError(401))
    with RealCLI(answers, env=NO_RETRIES) as cli, fleet_over(cli, max_sessions=1) as fleet:
        first = fleet.submit("work")
        assert (first.result(LONG).result, first.attempt) == ("recovered", 2)
        second = fleet.submit("work")
        with pytest.raises(errors.AuthenticationFailed):
            second.result(LONG)
        assert second.attempt == 1


def test_a_tasks_budgets_are_kept_by_the_cli() -> None:
    endless = script(reply(UseTool("Bash", {"command": "true"}), times=None))
    with RealCLI(endless) as cli, fleet_over(cli, options={"allowed_tools": ["Bash"]}) as fleet:
        turns, money = fleet.submit(Task("p", max_turns=2)), fleet.submit(Task("p", max_budget_usd=0.0005))
        with pytest.raises(errors.MaxTurnsReached):
            turns.result(LONG)
        with pytest.raises(errors.BudgetExhausted):
            money.result(LONG)


def test_a_conversation_goes_on_over_tasks_and_runs_of_the_fleet_and_is_charged_once(tmp_path: Path) -> None:
    with RealCLI(script("one", "two", "three")) as cli:
        spent = []
        with fleet_over(cli, journal=tmp_path / "j") as fleet:
            for number in (1, 2):
                job = fleet.submit(Task(f"turn {number}", id=str(number), conversation="k"))
                job.result(LONG)
                spent.append(job.spent.usd)
        with fleet_over(cli, journal=tmp_path / "j") as fleet:
            job = fleet.submit(Task("turn 3", id="3", conversation="k"))
            assert job.result(LONG).result == "three"
            spent.append(job.spent.usd)
        last = texts_of(cli.api.requests[-1])
        assert all(f"turn {number}" in last for number in (1, 2, 3))
        assert spent == pytest.approx([spent[0]] * 3)


def test_a_permission_shows_that_the_task_needs_input() -> None:
    from claude_actors.callbacks.approvals import Approvals

    approvals = Approvals()
    with RealCLI(script(UseTool("Bash", {"command": "touch made"}), "built")) as cli:
        with fleet_over(cli, options={"can_use_tool": approvals}) as fleet:
            job = fleet.submit("build")
            pending = approvals.mailbox.get(LONG)
            assert wait_until(lambda: job.state == "needs_input", LONG)
            pending.allow()
            assert job.result(LONG).result == "built"
        assert (cli.cwd / "made").exists()
    approvals.close()
