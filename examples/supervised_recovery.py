"""A session that outlives its CLI: killed in the middle of a turn, it goes on with its conversation and its hooks.

The prompt that was being answered is asked again here (`unanswered="resend"`); by default it is reported as failed,
because a turn may have had effects already.
"""

from __future__ import annotations

import os
import signal

from claude_actors import (
    AssistantMessage,
    CallbackContext,
    Hooks,
    Options,
    RestartPolicy,
    SessionRestarted,
    TurnUnanswered,
    start_session,
)
from claude_actors.hook_events import PreToolUse
from claude_actors.testing import FakeCLI, UseTool, WaitFor, reply, script

hooks = Hooks()


@hooks.pre_tool_use
def watch(event: PreToolUse, ctx: CallbackContext) -> None:
    print("hook: the agent wants", event.tool_name)


def main(cli: FakeCLI) -> None:
    options = Options(cli_path=cli.cli_path, hooks=hooks)
    with start_session("Hello.", options, restart=RestartPolicy(unanswered="resend")) as session:
        assert session.last_turn is not None
        session.last_turn.result(timeout=30)
        before = session.session_id

        turn = session.send("Look into the file.")
        cli.gates.wait_reached("thinking")
        assert session.pid is not None
        os.kill(session.pid, signal.SIGKILL)
        print("killed the CLI in the middle of a turn")

        for message in turn.messages():
            if isinstance(message, AssistantMessage) and message.text:
                print("claude:", message.text)
        print("the same conversation:", session.session_id == before)
    for event in session.events():
        if isinstance(event, SessionRestarted):
            print(f"restart {event.attempt}: {event.reason}; resumed: {event.resumed}")
        if isinstance(event, TurnUnanswered):
            print("the prompt was asked again:", event.resent_as is not None)


BEFORE = script("Hello to you.", reply(WaitFor("thinking")))
AFTER = script(reply(UseTool("Read", {"file_path": "notes.txt"}), when="file"), "It says: buy milk.")

if __name__ == "__main__":
    with FakeCLI(BEFORE, AFTER) as stand_in:
        main(stand_in)
