"""Messages beside the conversation: progress, limits, suggestions, and what became of a prompt."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import field

from claude_actors.wire.message import Message


class ToolProgressMessage(Message, frozen=True, kw_only=True, tag="tool_progress"):
    """A tool is still running."""

    tool_use_id: str
    tool_name: str = ""
    parent_tool_use_id: str | None = None
    elapsed_time_seconds: float = 0.0
    task_id: str | None = None
    heartbeat: bool | None = None


class ToolUseSummaryMessage(Message, frozen=True, kw_only=True, tag="tool_use_summary"):
    """What a row of tool calls came to, in words."""

    summary: str
    preceding_tool_use_ids: list[str] = []


class AuthStatusMessage(Message, frozen=True, kw_only=True, tag="auth_status"):
    """How signing in goes."""

    is_authenticating: bool = field(name="isAuthenticating", default=False)
    output: list[str] = []
    error: str | None = None


class RateLimitInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", repr_omit_defaults=True):
    """A rate limit: `allowed`, `allowed_warning` or `rejected`; times are Unix seconds."""

    status: str
    resets_at: float | None = None
    rate_limit_type: str | None = None
    utilization: float | None = None
    overage_status: str | None = None
    overage_resets_at: float | None = None
    overage_disabled_reason: str | None = None
    is_using_overage: bool | None = None


class RateLimitEvent(Message, frozen=True, kw_only=True, tag="rate_limit_event"):
    """The state of a rate limit has changed."""

    rate_limit_info: RateLimitInfo


class PromptSuggestionMessage(Message, frozen=True, kw_only=True, tag="prompt_suggestion"):
    """A prompt that the user may want to send next."""

    suggestion: str


class ConversationResetMessage(Message, frozen=True, kw_only=True, tag="conversation_reset"):
    """The conversation was thrown away and a new one begun (as by /clear); running totals start again from zero.

    `session_id` is the old session's; later messages carry the new one.
    """

    new_conversation_id: str
    trigger: str | None = None
    user_message_uuid: str | None = None


class ActiveGoalMessage(Message, frozen=True, kw_only=True, tag="active_goal"):
    """The session's goal has changed; None if it has none."""

    value: dict[str, Any] | None = None


class CommandLifecycleMessage(Message, frozen=True, kw_only=True, tag="command_lifecycle"):
    """A prompt of ours, named by its uuid, was `queued`, `started` or `completed`."""

    command_uuid: str
    state: str


class TranscriptMirrorMessage(Message, frozen=True, kw_only=True, tag="transcript_mirror"):
    """Entries that the CLI has written to a transcript file."""

    file_path: str = field(name="filePath")
    entries: list[Any] = []


NOTICES: Final[tuple[type[Message], ...]] = (
    ToolProgressMessage,
    ToolUseSummaryMessage,
    AuthStatusMessage,
    RateLimitEvent,
    PromptSuggestionMessage,
    ConversationResetMessage,
    ActiveGoalMessage,
    CommandLifecycleMessage,
    TranscriptMirrorMessage,
)
