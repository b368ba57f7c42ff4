"""The shapes that option values may take: literals and typed dicts, spelled as the official SDK spells them.

Only types live here, so that callers can annotate their own configuration. What a value becomes for the CLI is decided
in `claude_actors.cli`, whether it is sound in `claude_actors.options.rules`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypeAlias, TypedDict

if TYPE_CHECKING:
    from claude_actors.callbacks.context import CallbackContext
    from claude_actors.callbacks.outcomes import DialogAnswer, ElicitationAnswer
    from claude_actors.wire.control import DialogRequest, ElicitationRequest

PermissionMode: TypeAlias = Literal["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto", "manual"]
SettingSource: TypeAlias = Literal["user", "project", "local"]
EffortLevel: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
OverflowPolicy: TypeAlias = Literal["spill", "drop_oldest", "fail"]


class SystemPromptPreset(TypedDict):
    """Claude Code's own system prompt, optionally with more text at its end."""

    type: Literal["preset"]
    preset: Literal["claude_code"]
    append: NotRequired[str]
    exclude_dynamic_sections: NotRequired[bool]
    snapshot: NotRequired[bool]


class SystemPromptCustom(TypedDict):
    """A prompt of your own, in the form that can also set `snapshot`."""

    type: Literal["custom"]
    prompt: str
    snapshot: NotRequired[bool]


class SystemPromptFile(TypedDict):
    """A prompt of your own, read by the CLI from a file."""

    type: Literal["file"]
    path: str


class ToolsPreset(TypedDict):
    """Every built-in tool that Claude Code has by default."""

    type: Literal["preset"]
    preset: Literal["claude_code"]


class TaskBudget(TypedDict):
    """The tokens that the model is told it may spend on the task."""

    total: int


class ThinkingAdaptive(TypedDict):
    """The model decides when and how much to think."""

    type: Literal["adaptive"]
    display: NotRequired[Literal["summarized", "omitted"]]


class ThinkingEnabled(TypedDict):
    """A fixed budget of thinking tokens."""

    type: Literal["enabled"]
    budget_tokens: int
    display: NotRequired[Literal["summarized", "omitted"]]


class ThinkingDisabled(TypedDict):
    """No thinking."""

    type: Literal["disabled"]


class PluginConfig(TypedDict):
    """A plugin in a local directory."""

    type: Literal["local"]
    path: str


class OutputFormat(TypedDict):
    """The JSON schema that the turn's structured output must match."""

    type: Literal["json_schema"]
    schema: Mapping[str, Any]


class AgentDefinition(TypedDict):
    """A subagent; the keys are the CLI's own. Keys that are not listed here are passed on as they are."""

    description: str
    prompt: str
    tools: NotRequired[Sequence[str]]
    disallowedTools: NotRequired[Sequence[str]]
    model: NotRequired[str]
    skills: NotRequired[Sequence[str]]
    memory: NotRequired[SettingSource]
    mcpServers: NotRequired[Sequence[str | Mapping[str, Any]]]
    initialPrompt: NotRequired[str]
    maxTurns: NotRequired[int]
    background: NotRequired[bool]
    effort: NotRequired[EffortLevel | int]
    permissionMode: NotRequired[PermissionMode]


SystemPrompt: TypeAlias = str | SystemPromptPreset | SystemPromptCustom | SystemPromptFile
Thinking: TypeAlias = ThinkingAdaptive | ThinkingEnabled | ThinkingDisabled

McpServerConfig: TypeAlias = Mapping[str, Any]
"""An external server, as the CLI's `--mcp-config` spells it: `{"command": …}` or `{"type": "http", "url": …}`."""

StderrCallback: TypeAlias = Callable[[str], object]
ElicitationCallback: TypeAlias = (
    "Callable[[ElicitationRequest, CallbackContext], ElicitationAnswer | Awaitable[ElicitationAnswer]]"
)
DialogCallback: TypeAlias = "Callable[[DialogRequest, CallbackContext], DialogAnswer | Awaitable[DialogAnswer]]"
