"""Test your own agent without a key: your code as it is, a scripted stand-in for Claude Code behind it.

`FakeCLI` is a real process that speaks the CLI's protocol; its script says what the model does. What the agent was told
and what it answered is recorded. The same script drives the real CLI through `RealCLI`, where that is installed.
"""

from __future__ import annotations

from claude_actors import CallbackContext, Deny, Hooks, Options, ResultMessage, run
from claude_actors.hook_events import PreToolUse
from claude_actors.testing import FakeCLI, UseTool, reply, script

# --- your agent ---

hooks = Hooks()


@hooks.pre_tool_use(matcher="Bash", on_failure="block")
def no_deploys_on_fridays(event: PreToolUse, ctx: CallbackContext) -> Deny | None:
    return Deny("it is Friday") if "deploy" in event.tool_input["command"] else None


def release(options: Options) -> ResultMessage:
    return run("Release the new version.", options.replace(hooks=hooks), timeout=60)


# --- your tests ---


def test_the_agent_cannot_deploy_on_fridays() -> None:
    tries = script(reply(UseTool("Bash", {"command": "make deploy"})), "I will wait until Monday.")
    with FakeCLI(tries) as cli:
        result = release(Options(cli_path=cli.cli_path))
        [record] = cli.runs()
    assert result.result == "I will wait until Monday."
    [answer] = [note["response"] for note in record.of("answer") if "hookSpecificOutput" in str(note)]
    assert "it is Friday" in str(answer)


if __name__ == "__main__":
    test_the_agent_cannot_deploy_on_fridays()
    print("passed: the agent cannot deploy on Fridays")
