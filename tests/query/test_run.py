"""run(): one bidirectional turn with hooks and permissions; typed errors for error results; nothing left behind."""

from __future__ import annotations

import asyncio

import pytest

from claude_actors import (
    Allow,
    ApiFailed,
    AuthenticationFailed,
    CLINotFound,
    Deny,
    Hooks,
    MaxTurnsReached,
    Options,
    SessionCrashed,
    TurnTimeout,
    arun,
    run,
)
from claude_actors.callbacks.context import CallbackContext
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import BackgroundTask, Die
from claude_actors.testing.real_cli import RealCLI
from claude_actors.testing.script import ApiError, UseTool, WaitFor, reply, script
from claude_actors.wire.hook_inputs import PreToolUse


def guarded() -> tuple[Hooks, list[str]]:
    hooks, seen = Hooks(), list[str]()

    @hooks.pre_tool_use
    def guard(event: PreToolUse, ctx: CallbackContext) -> Deny | None:
        seen.append(event.tool_name)
        return None

    return hooks, seen


def test_a_turn_runs_with_hooks_and_permissions_and_gives_its_result() -> None:
    hooks, seen = guarded()
    asked: list[str] = []

    def decide(request: object, ctx: CallbackContext) -> Allow:
        asked.append(ctx.request_id)
        return Allow()

    with FakeCLI(script(reply(UseTool("Bash", {"command": "touch a b"}, result="")), "two files")) as cli:
        result = run("count", Options(cli_path=cli.cli_path, hooks=hooks, can_use_tool=decide))
    assert result.result == "two files"
    assert seen == ["Bash"]
    assert len(asked) == 1


def test_the_input_stays_open_until_background_tasks_are_over() -> None:
    with FakeCLI(script(reply("started", BackgroundTask(until="done")))) as cli:

        async def main() -> str | None:
            running = asyncio.create_task(arun("go", Options(cli_path=cli.cli_path)))
            await asyncio.to_thread(cli.gates.wait_reached, "done")
            assert not running.done()
            cli.gates.open("done")
            return (await running).result

        assert asyncio.run(main()) == "started"


def test_error_results_are_typed_errors_that_carry_the_result() -> None:
    with FakeCLI(script(reply(ApiError(400, message="bad")))) as cli:
        with pytest.raises(ApiFailed) as caught:
            run("go", Options(cli_path=cli.cli_path))
        assert caught.value.status == 400
    with FakeCLI(script(reply(UseTool("Read", {"file_path": "x"}), times=None))) as cli, pytest.raises(MaxTurnsReached):
        run("go", Options(cli_path=cli.cli_path, max_turns=1))


def test_a_crash_is_raised_with_its_signal() -> None:
    with FakeCLI(script(reply(Die(signal=9)))) as cli, pytest.raises(SessionCrashed) as caught:
        run("go", Options(cli_path=cli.cli_path))
    assert caught.value.signal == 9


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_timeout_ends_the_session_too(asynchronous: bool) -> None:
    with FakeCLI(script(reply(WaitFor("never")))) as cli:
        options = Options(cli_path=cli.cli_path)
        with pytest.raises(TurnTimeout):
            asyncio.run(arun("go", options, timeout=0.05)) if asynchronous else run("go", options, timeout=0.05)


def test_a_start_error_is_raised_as_it_is() -> None:
    with pytest.raises(CLINotFound):
        run("go", Options(cli_path="/nowhere/claude"))
    with pytest.raises(CLINotFound):
        asyncio.run(arun("go", Options(cli_path="/nowhere/claude")))


@pytest.mark.real_cli
def test_the_real_cli_runs_a_turn_with_hooks_to_its_end() -> None:
    hooks, seen = guarded()
    with RealCLI(script(reply(UseTool("Bash", {"command": "true"})), "done")) as real:
        result = run("go", real.options(hooks=hooks, can_use_tool=lambda request, ctx: Allow()))
    assert (result.result, seen) == ("done", ["Bash"])


@pytest.mark.real_cli
def test_who_is_not_signed_in_learns_it_from_a_typed_error() -> None:
    with RealCLI("unheard") as real, pytest.raises(AuthenticationFailed, match="sign in"):
        run("go", real.options(env={"ANTHROPIC_API_KEY": None}))
