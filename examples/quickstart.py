"""The first five minutes: one session, one hook that says no, one tool of your own, one permission answered.

Run it with `python examples/quickstart.py`. It needs no key: a scripted stand-in plays Claude Code. Leave `cli_path`
out of the options, and it runs on the `claude` that is installed.
"""

from __future__ import annotations

from claude_actors import (
    Allow,
    AssistantMessage,
    CallbackContext,
    Deny,
    Hooks,
    Options,
    ToolPermissionRequest,
    ToolServer,
    start_session,
)
from claude_actors.hook_events import PreToolUse
from claude_actors.testing import FakeCLI, UseTool, reply, script

hooks = Hooks()
tools = ToolServer("shop")


@hooks.pre_tool_use(matcher="Bash")
def no_rm(event: PreToolUse, ctx: CallbackContext) -> Deny | None:
    """Refuse what cannot be undone; no answer means no objection."""
    return Deny("not on my machine") if "rm -rf" in event.tool_input["command"] else None


@tools.tool
def price(article: str, amount: int = 1) -> str:
    """Tell what an article costs."""
    return f"{amount} x {article}: {amount * 7} EUR"


def decide(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow | Deny:
    """Answer what the CLI would ask a person."""
    return Allow() if request.tool_name.startswith("mcp__shop__") else Deny("only the shop's own tools")


def main(options: Options) -> None:
    with start_session(options=options) as session:
        for prompt in ("Tidy up, then tell me what three apples cost.", "And say goodbye."):
            print("you:", prompt)
            for message in session.send(prompt).messages():
                if isinstance(message, AssistantMessage) and message.text:
                    print("claude:", message.text)
    print("ended:", session.final_event)


STAND_IN = script(
    reply(UseTool("Bash", {"command": "rm -rf /tmp/orchard"})),
    reply("The hook refused that, so I leave it.", UseTool("mcp__shop__price", {"article": "apple", "amount": 3})),
    "Three apples cost 21 EUR.",
    "Goodbye!",
)

if __name__ == "__main__":
    with FakeCLI(STAND_IN) as cli:
        main(Options(hooks=hooks, can_use_tool=decide, mcp_servers={"shop": tools}, cli_path=cli.cli_path))
