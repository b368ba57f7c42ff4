"""Listening to a session: takes messages and events up to the one that is waited for, and puts them into words."""

from __future__ import annotations

from typing import Final

import msgspec

from claude_actors import (
    AssistantMessage,
    Mailbox,
    Message,
    ResultMessage,
    Session,
    SessionRestarted,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

#: Far above what anything here takes, so that only a fault is ever late.
PATIENCE: Final = 60.0
_WIDTH: Final = 85


def rest_of_turn(messages: Mailbox[Message]) -> list[Message]:
    """Take messages up to the result."""
    said: list[Message] = []
    while not (said and isinstance(said[-1], ResultMessage)):
        said.append(messages.get(PATIENCE))
    return said


def until_tool_use(messages: Mailbox[Message]) -> list[Message]:
    """Take messages up to a tool call."""
    said: list[Message] = []
    while not (said and _uses_tool(said[-1])):
        said.append(messages.get(PATIENCE))
    return said


def _uses_tool(message: Message) -> bool:
    blocks = message.content if isinstance(message, AssistantMessage) else ()
    return any(isinstance(block, ToolUseBlock) for block in blocks)


def tool_results(said: list[Message]) -> list[tuple[str, bool]]:
    """Return the text of each tool result, and whether it is an error."""
    contents = [message.content for message in said if isinstance(message, UserMessage)]
    blocks = [block for content in contents if not isinstance(content, str) for block in content]
    return [(_text(block), bool(block.is_error)) for block in blocks if isinstance(block, ToolResultBlock)]


def _text(block: ToolResultBlock) -> str:
    if isinstance(block.content, list):
        return "".join(str(part.get("text", "")) for part in block.content)
    return block.content or ""


def wait_for_restart(session: Session) -> SessionRestarted:
    """Take events up to a restart."""
    while True:
        event = session.events().get(PATIENCE)
        if isinstance(event, SessionRestarted):
            return event


def json_text(value: object) -> str:
    """Write a value as JSON."""
    return msgspec.json.encode(value).decode()


def short(text: str) -> str:
    """Return the first line, cut to a readable width."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"
