"""What the CLI sent: recorded requests, which of them belong to the conversation, and what the user said last.

The CLI makes calls of its own beside the conversation (checking a model's name, naming a session). They must not use up
the replies of a script, so they are recognised here by their shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Kind = Literal["scripted", "unscripted", "side"]


class RecordedRequest(msgspec.Struct, frozen=True):
    """One request to `/v1/messages`.

    Its kind: `scripted` got a reply of the script, `unscripted` found none left, `side` is the CLI's own business.
    """

    kind: Kind
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Give the conversation as the model would see it."""
        return list(self.body.get("messages", []))

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Give the names of the tools that the model may use."""
        return tuple(tool.get("name", "") for tool in self.body.get("tools", []))

    @property
    def last_user_text(self) -> str:
        """Give what the user said last."""
        return last_user_text(self.body)

    def tool_result(self, tool_use_id: str) -> dict[str, Any] | None:
        """Give the result that the CLI reports for a tool call, or `None` if it reports none."""
        blocks = (block for message in self.messages for block in _blocks(message))
        found = (b for b in blocks if b.get("type") == "tool_result" and b.get("tool_use_id") == tool_use_id)
        return next(found, None)


def is_side_call(body: Mapping[str, Any]) -> bool:
    """Tell whether the CLI asks for itself: a one-token probe, or a form to fill in without any tool."""
    asks_for_form = "format" in (body.get("output_config") or {})
    return body.get("max_tokens") == 1 or (asks_for_form and not body.get("tools"))


def last_user_text(body: Mapping[str, Any]) -> str:
    """Give the text of the last user message, without the reminders that the CLI puts beside it."""
    users = [message for message in body.get("messages", []) if message.get("role") == "user"]
    return "\n".join(_texts(users[-1])) if users else ""


def _texts(message: Mapping[str, Any]) -> list[str]:
    texts = [_block_text(block) for block in _blocks(message)]
    return [text for text in texts if text and not text.startswith("<system-reminder>")]


def _block_text(block: Mapping[str, Any]) -> str:
    if block.get("type") == "tool_result":
        return "\n".join(inner.get("text", "") for inner in _blocks(block))
    return str(block.get("text", ""))


def _blocks(holder: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = holder.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or [] if isinstance(block, dict)]
