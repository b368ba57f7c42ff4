"""The messages that make up a conversation: what the model and the user said, and how a turn ended.

Assistant and user frames nest the API's message in theirs; the classes that users meet are flat.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import field

from claude_actors.wire.blocks import ContentBlock, KnownBlock, TextBlock
from claude_actors.wire.message import Message


class AssistantMessage(Message, frozen=True, kw_only=True, tag="assistant"):
    """What the model said, block by block; one API message may come as several of these with one `message_id`."""

    content: list[ContentBlock]
    model: str = ""
    parent_tool_use_id: str | None = None
    error: str | None = None
    usage: dict[str, Any] | None = None
    message_id: str | None = None
    stop_reason: str | None = None
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join([block.text for block in self.content if isinstance(block, TextBlock)])


class UserMessage(Message, frozen=True, kw_only=True, tag="user"):
    """What was said to the model: prompts, tool results, and what the CLI puts in by itself."""

    content: str | list[ContentBlock]
    parent_tool_use_id: str | None = None
    tool_use_result: Any = None
    origin: dict[str, Any] | None = None
    is_replay: bool | None = None
    is_synthetic: bool | None = None
    timestamp: str | None = None


class DeferredToolUse(msgspec.Struct, frozen=True):
    """A tool call that a hook deferred and on which the run stopped."""

    id: str
    name: str
    input: dict[str, Any]


class ResultMessage(Message, frozen=True, kw_only=True, tag="result"):
    """How a turn ended, and what it cost.

    `subtype` is `success` or names the error; `success` with `is_error` is a turn that ended on an API error.
    `user_message_uuids` names the prompts that the turn took in.
    """

    subtype: str = ""
    duration_ms: int = 0
    duration_api_ms: int = 0
    is_error: bool = False
    num_turns: int = 0
    stop_reason: str | None = None
    total_cost_usd: float | None = None
    usage: dict[str, Any] | None = None
    result: str | None = None
    structured_output: Any = None
    model_usage: dict[str, Any] | None = field(name="modelUsage", default=None)
    permission_denials: list[Any] | None = None
    deferred_tool_use: DeferredToolUse | None = None
    errors: list[str] | None = None
    api_error_status: int | None = None
    terminal_reason: str | None = None
    origin: dict[str, Any] | None = None
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None


class StreamEvent(Message, frozen=True, kw_only=True, tag="stream_event"):
    """A piece of a message that is still being written; `event` is the API's stream event as plain JSON."""

    event: dict[str, Any]
    parent_tool_use_id: str | None = None
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None


class ApiMessage(msgspec.Struct):
    """What an assistant frame holds of the API's message."""

    content: list[KnownBlock]
    model: str = ""
    id: str | None = None
    usage: dict[str, Any] | None = None
    stop_reason: str | None = None


class AssistantFrame(msgspec.Struct, tag_field="type", tag="assistant"):
    """An assistant frame as it travels."""

    message: ApiMessage
    uuid: str | None = None
    session_id: str | None = None
    parent_tool_use_id: str | None = None
    error: str | None = None
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None

    def flat(self) -> AssistantMessage:
        """Make the message that users meet."""
        message = self.message
        return AssistantMessage(
            uuid=self.uuid,
            session_id=self.session_id,
            content=message.content,  # type: ignore[arg-type]
            model=message.model,
            parent_tool_use_id=self.parent_tool_use_id,
            error=self.error,
            usage=message.usage,
            message_id=message.id,
            stop_reason=message.stop_reason,
            user_message_uuid=self.user_message_uuid,
            user_message_uuids=self.user_message_uuids,
        )


class UserContent(msgspec.Struct):
    """What a user frame holds of the API's message."""

    content: str | list[KnownBlock]


class UserFrame(msgspec.Struct, tag_field="type", tag="user"):
    """A user frame as it travels."""

    message: UserContent
    uuid: str | None = None
    session_id: str | None = None
    parent_tool_use_id: str | None = None
    tool_use_result: Any = None
    origin: dict[str, Any] | None = None
    is_replay: bool | None = field(name="isReplay", default=None)
    is_synthetic: bool | None = field(name="isSynthetic", default=None)
    timestamp: str | None = None

    def flat(self) -> UserMessage:
        """Make the message that users meet."""
        return UserMessage(
            uuid=self.uuid,
            session_id=self.session_id,
            content=self.message.content,  # type: ignore[arg-type]
            parent_tool_use_id=self.parent_tool_use_id,
            tool_use_result=self.tool_use_result,
            origin=self.origin,
            is_replay=self.is_replay,
            is_synthetic=self.is_synthetic,
            timestamp=self.timestamp,
        )
