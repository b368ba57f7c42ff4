"""A queue of permission requests that a person answers, in a thread of their own, while the agent waits.

Rules decide what they can; the rest waits in `session.permissions()`, a plan to approve included. Every decision is
recorded before it takes effect. Here a function plays the person; in a service it would be a web page or a chat.
"""

from __future__ import annotations

import threading

from claude_actors import (
    Approvals,
    Decision,
    Options,
    Session,
    allow_tools,
    audit,
    deny_tools,
    first_decision,
    start_session,
)
from claude_actors.testing import FakeCLI, UseTool, reply, script


def person(session: Session) -> None:
    """Answer what waits; the mailbox ends with the session. Any number of threads or actors may share the work."""
    for request in session.permissions():
        if request.plan is not None:
            print(f"person: the plan is {request.plan!r}: go on")
            request.allow()
        elif request.tool_name == "Bash" and request.input["command"].startswith("pytest"):
            print(f"person: {request.input['command']}: yes, and do not ask again")
            request.allow(updated_permissions=request.suggestions[:1])
        else:
            print(f"person: {request.tool_name} {request.input}: no")
            request.deny("not without a ticket")


def record(decision: Decision) -> None:
    """Keep it somewhere; if this raises, the tool is denied."""
    print(f"audit:  {decision.tool_name} -> {decision.outcome}")


# The first policy with an opinion decides. Approvals() always has one: it asks.
policy = audit(
    first_decision(
        deny_tools("WebFetch", message="this agent stays offline"),
        allow_tools("Bash", where={"command": r"git (status|diff|log)"}),
        Approvals(),
    ),
    record,
)


def main(options: Options) -> None:
    with start_session(options=options) as session:
        threading.Thread(target=person, args=(session,), daemon=True).start()
        print("claude:", session.send("Fix the bug.").result(timeout=60).result)
        print("still waiting:", session.snapshot().pending_permissions)


STAND_IN = script(
    reply(UseTool("ExitPlanMode", {"plan": "1. test 2. fix 3. publish"})),
    reply(UseTool("Bash", {"command": "git status"}, result="clean")),
    reply(UseTool("Bash", {"command": "pytest -q"}, result="1 failed")),
    reply(UseTool("Bash", {"command": "pytest -q"}, result="1 passed")),
    reply(UseTool("WebFetch", {"url": "https://example.org", "prompt": "docs"})),
    reply(UseTool("Bash", {"command": "make publish"})),
    "The bug is fixed; somebody must publish it.",
)

if __name__ == "__main__":
    with FakeCLI(STAND_IN) as cli:
        # A person may take as long as they like.
        main(cli.options(can_use_tool=policy, permission_timeout=None, permission_mode="plan"))
