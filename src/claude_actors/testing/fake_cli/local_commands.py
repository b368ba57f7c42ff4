"""The slash commands that the CLI carries out itself: /compact and /clear."""

from __future__ import annotations

from claude_actors.testing.fake_cli import results
from claude_actors.testing.fake_cli.channel import new_uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli
    from claude_actors.testing.fake_cli.model import Model
    from claude_actors.testing.fake_cli.state import Turn


def compact(cli: Cli, turn: Turn, model: Model, emit_init: Callable[[], None]) -> dict[str, Any]:
    """Compact the conversation and give the result frame."""
    cli.emit_system("status", status="compacting")
    instructions = turn.prompt_text.removeprefix("/compact").strip() or None
    _hook(cli, "PreCompact", trigger="manual", custom_instructions=instructions)
    summary = model.request_quietly(turn.prompt_text)
    _hook(cli, "SessionStart", source="compact", model=cli.model)
    _hook(cli, "PostCompact", trigger="manual", compact_summary=summary)
    cli.emit_system("status", status=None, compact_result="success")
    emit_init()
    cli.emit_system("compact_boundary", compact_metadata={"trigger": "manual", "pre_tokens": cli.input_tokens})
    words = f"This session is being continued from a previous conversation.\nSummary:\n{summary}"
    _user(cli, words, isReplay=False, isSynthetic=True)
    _user(cli, "<local-command-stdout>Compacted</local-command-stdout>", isReplay=True)
    return {**results.refused(cli, turn, ""), "local_command": "compact"}


def clear(cli: Cli, turn: Turn, emit_init: Callable[[], None]) -> dict[str, Any]:
    """Begin another conversation, under another id, and give the result frame."""
    conversation = new_uuid()
    cli.hooks.run("SessionEnd", {"reason": "clear"}, subject="clear")
    cli.emit(
        {"type": "conversation_reset", "new_conversation_id": conversation, "uuid": conversation, "trigger": "clear"}
    )
    cli.emit_system("background_tasks_changed", tasks=[])
    cli.session_id = new_uuid()
    cli.messages = 0
    cli.hooks.run("SessionStart", {"source": "clear"}, subject="clear")
    emit_init()
    return {**results.refused(cli, turn, ""), "local_command": "clear"}


def _hook(cli: Cli, event: str, **fields: Any) -> None:
    cli.hooks.run(event, fields, subject=str(fields.get("trigger") or fields.get("source")), tool_use_id=new_uuid())


def _user(cli: Cli, text: str, **extra: Any) -> None:
    message = {"role": "user", "content": text}
    cli.emit({"type": "user", "message": message, "parent_tool_use_id": None, **extra})
