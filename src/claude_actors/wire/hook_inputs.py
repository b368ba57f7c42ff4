"""The input of every hook event that the CLI is known to fire, one class each.

Only what an event cannot do without is required; the rest has a default, because CLIs differ in what they send. Reading
them from the wire is `wire/hooks.py`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from claude_actors.wire.lazy import lazy
from claude_actors.wire.permissions import PermissionUpdate, decode_updates

JSON = dict[str, Any]


class Effort(msgspec.Struct, frozen=True):
    """The reasoning effort of the running turn."""

    level: str


class McpProvenance(msgspec.Struct, frozen=True):
    """The MCP server behind a tool, and where its definition came from (`sdk` is this program)."""

    name: str
    source: str


class HookEvent(msgspec.Struct, frozen=True, kw_only=True, dict=True, omit_defaults=True):
    """What every event carries; `agent_id` is set only inside a subagent."""

    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    hook_event_name: str = ""
    permission_mode: str | None = None
    prompt_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    effort: Effort | None = None

    @lazy
    def raw(self) -> JSON:
        """The input as the CLI sent it, unknown fields included."""
        return {"hook_event_name": self.hook_event_name, **msgspec.to_builtins(self)}


class UnknownHookEvent(HookEvent, frozen=True):
    """An event that this library has no type for, or one whose fields did not fit its type: read `raw`."""


class _ToolEvent(HookEvent, frozen=True, kw_only=True):
    tool_name: str
    tool_input: JSON
    tool_use_id: str = ""
    mcp_server: McpProvenance | None = None


class PreToolUse(_ToolEvent, frozen=True):
    """A tool is about to run."""

    hook_event_name: str = "PreToolUse"


class PostToolUse(_ToolEvent, frozen=True, kw_only=True):
    """A tool has run."""

    hook_event_name: str = "PostToolUse"
    tool_response: Any = None
    duration_ms: float | None = None


class PostToolUseFailure(_ToolEvent, frozen=True, kw_only=True):
    """A tool has failed or was interrupted."""

    hook_event_name: str = "PostToolUseFailure"
    error: str = ""
    is_interrupt: bool = False
    duration_ms: float | None = None


class BatchToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One of the calls of a batch."""

    tool_name: str
    tool_input: Any = None
    tool_use_id: str = ""
    tool_response: Any = None


class PostToolBatch(HookEvent, frozen=True, kw_only=True):
    """Every tool call of one model response has ended; the model is asked next."""

    hook_event_name: str = "PostToolBatch"
    tool_calls: tuple[BatchToolCall, ...] = ()


class PermissionRequest(_ToolEvent, frozen=True, kw_only=True):
    """A permission is being asked for, beside the permission callback."""

    hook_event_name: str = "PermissionRequest"
    permission_suggestions: tuple[JSON, ...] = ()

    @lazy
    def suggestions(self) -> tuple[PermissionUpdate, ...]:
        """The rule changes that would answer this question for the future; allow them by passing them back."""
        return decode_updates(self.permission_suggestions)


class PermissionDenied(_ToolEvent, frozen=True, kw_only=True):
    """A tool call was refused without asking anybody."""

    hook_event_name: str = "PermissionDenied"
    reason: str = ""


class UserPromptSubmit(HookEvent, frozen=True, kw_only=True):
    """A prompt is about to reach the model."""

    hook_event_name: str = "UserPromptSubmit"
    prompt: str
    source: str | None = None
    session_title: str | None = None


class UserPromptExpansion(HookEvent, frozen=True, kw_only=True):
    """A slash command or MCP prompt is about to be expanded."""

    hook_event_name: str = "UserPromptExpansion"
    prompt: str
    expansion_type: str = ""
    command_name: str = ""
    command_args: str = ""
    command_source: str | None = None


class _Stopping(HookEvent, frozen=True, kw_only=True):
    stop_hook_active: bool = False
    last_assistant_message: str | None = None
    background_tasks: tuple[JSON, ...] = ()
    session_crons: tuple[JSON, ...] = ()


class Stop(_Stopping, frozen=True):
    """The model has finished its turn; `stop_hook_active` says that a hook has made it go on before."""

    hook_event_name: str = "Stop"


class StopFailure(HookEvent, frozen=True, kw_only=True):
    """The turn has ended on an API error."""

    hook_event_name: str = "StopFailure"
    error: str = ""
    error_details: str | None = None
    last_assistant_message: str | None = None


class SubagentStart(HookEvent, frozen=True):
    """A subagent starts; see `agent_id` and `agent_type`."""

    hook_event_name: str = "SubagentStart"


class SubagentStop(_Stopping, frozen=True, kw_only=True):
    """A subagent has finished."""

    hook_event_name: str = "SubagentStop"
    agent_transcript_path: str = ""


class PreCompact(HookEvent, frozen=True, kw_only=True):
    """The conversation is about to be compacted, `trigger` being `manual` or `auto`."""

    hook_event_name: str = "PreCompact"
    trigger: str = ""
    custom_instructions: str | None = None


class PostCompact(HookEvent, frozen=True, kw_only=True):
    """The conversation has been compacted to `compact_summary`."""

    hook_event_name: str = "PostCompact"
    trigger: str = ""
    compact_summary: str = ""


class Elicitation(HookEvent, frozen=True, kw_only=True):
    """An MCP server asks the user something."""

    hook_event_name: str = "Elicitation"
    mcp_server_name: str
    message: str = ""
    mode: str | None = None
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: JSON | None = None


class ElicitationResult(HookEvent, frozen=True, kw_only=True):
    """The answer to an MCP server's question is about to be sent."""

    hook_event_name: str = "ElicitationResult"
    mcp_server_name: str
    action: str = ""
    mode: str | None = None
    elicitation_id: str | None = None
    content: JSON | None = None
