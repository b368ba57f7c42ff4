"""The Task tool: a subagent that talks to the model by itself, at once or in the background.

A background subagent really works beside its parent in the real CLI. Here it works when the parent's turn is over, so
that a script's order stays exact.
"""

from __future__ import annotations

import os

from claude_actors.testing.fake_cli import frames
from claude_actors.testing.fake_cli.channel import new_uuid
from claude_actors.testing.fake_cli.state import Agent, Prompt, Turn
from claude_actors.testing.fake_cli.turn import Conversation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli


class Subagent:
    """One call of the Task tool."""

    def __init__(self, cli: Cli, step: dict[str, Any]) -> None:
        self._cli, self._step = cli, step
        given = step["input"]
        self._prompt = str(given.get("prompt", ""))
        kind = str(given.get("subagent_type") or "general-purpose")
        background = given.get("run_in_background") is not False
        self.agent = Agent("a" + os.urandom(8).hex(), kind, str(given.get("description", "")), background=background)

    def start(self) -> None:
        """Tell that it starts."""
        self._cli.emit_system(
            "task_started",
            task_id=self.agent.id,
            tool_use_id=self._step["id"],
            description=self.agent.description,
            subagent_type=self.agent.kind,
            is_backgrounded=self.agent.background,
            task_type="local_agent",
            prompt=self._prompt,
        )

    def work(self) -> str:
        """Do the work and give its report."""
        cli, agent = self._cli, self.agent
        outer, cli.agent = cli.agent, agent
        try:
            fields = {"agent_id": agent.id, "agent_type": agent.kind}
            cli.hooks.run("SubagentStart", fields, subject=agent.kind, tool_use_id=new_uuid())
            turn = Turn([Prompt(self._prompt, None)], parent=self._step["id"], agent=agent)
            conversation = Conversation(cli, turn)
            if not agent.background:
                conversation.emit_user(frames.user_text(self._prompt))
            conversation.run(self._prompt)
            last = {"stop_hook_active": False, "last_assistant_message": conversation.model.text}
            path = {"agent_transcript_path": cli.store.path(f"agent-{agent.id}")}
            cli.hooks.run("SubagentStop", {**fields, **last, **path}, subject=agent.kind, tool_use_id=new_uuid())
        finally:
            cli.agent = outer
        self._tell_end(conversation.model.text)
        return conversation.model.text

    def _tell_end(self, report: str) -> None:
        task = {"task_id": self.agent.id}
        self._cli.emit_system("task_updated", **task, patch={"status": "completed"})
        ended = {"tool_use_id": self._step["id"], "status": "completed", "output_file": "", "summary": report}
        self._cli.emit_system("task_notification", **task, **ended)


def run_task(cli: Cli, step: dict[str, Any]) -> tuple[Any, Any]:
    """Run the Task tool: with `run_in_background: false` now, else after this turn, as the real CLI decides it."""
    subagent = Subagent(cli, step)
    if not subagent.agent.background:
        subagent.start()
        report = subagent.work()
        return [{"type": "text", "text": report}], {"status": "completed", "agentId": subagent.agent.id}
    cli.tasks.add_subagent(subagent)
    response = {"isAsync": True, "status": "async_launched", "agentId": subagent.agent.id}
    return [{"type": "text", "text": f"Async agent launched successfully.\nagentId: {subagent.agent.id}"}], response
