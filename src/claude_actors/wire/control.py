"""The control requests of both directions, and what the CLI says of itself in answer to `initialize`.

Only shapes: who may send what when, and how long an answer may take, is decided in the protocol layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType, field

from claude_actors.wire.lazy import lazy
from claude_actors.wire.repair import read_object
from claude_actors.wire.salvage import salvage

# --- requests that we send ---


class TypedRequest(msgspec.Struct, frozen=True, tag_field="subtype"):
    """Base of the requests that we have types for; an UNSET field does not travel, None travels as null."""

    @property
    def subtype(self) -> str:
        """The request's name on the wire."""
        return str(self.__struct_config__.tag)


class Initialize(TypedRequest, frozen=True, kw_only=True, tag="initialize", rename="camel"):
    """Open the session: hooks, in-process MCP servers and what else does not travel in argv."""

    hooks: Mapping[str, Any] | None = None
    sdk_mcp_servers: list[str] | UnsetType = UNSET
    agents: Mapping[str, Any] | UnsetType = UNSET
    system_prompt: Any | UnsetType = UNSET
    append_system_prompt: str | UnsetType = UNSET
    exclude_dynamic_sections: bool | UnsetType = UNSET
    system_prompt_snapshot: bool | UnsetType = UNSET
    skills: Any | UnsetType = UNSET
    forward_subagent_text: bool | UnsetType = UNSET
    json_schema: Mapping[str, Any] | UnsetType = UNSET
    plan_mode_instructions: str | UnsetType = UNSET
    tool_aliases: Mapping[str, str] | UnsetType = UNSET
    title: str | UnsetType = UNSET
    prompt_suggestions: bool | UnsetType = UNSET
    supported_dialog_kinds: list[str] | UnsetType = UNSET
    plugins: list[Any] | UnsetType = UNSET
    mcp_servers: Mapping[str, Any] | UnsetType = UNSET


class Interrupt(TypedRequest, frozen=True, tag="interrupt"):
    """End the running turn; the session goes on."""


class SetPermissionMode(TypedRequest, frozen=True, tag="set_permission_mode"):
    """Change the permission mode."""

    mode: str


class SetModel(TypedRequest, frozen=True, tag="set_model"):
    """Change the model; None goes back to the default."""

    model: str | None = None


class SetMaxThinkingTokens(TypedRequest, frozen=True, tag="set_max_thinking_tokens"):
    """Change the thinking budget; None removes it."""

    max_thinking_tokens: int | None = None


class RewindFiles(TypedRequest, frozen=True, tag="rewind_files"):
    """Put files back to where they were at a user message; a dry run only tells what would change."""

    user_message_id: str
    dry_run: bool | UnsetType = UNSET


class McpStatus(TypedRequest, frozen=True, tag="mcp_status"):
    """Ask for the state of the MCP servers."""


class McpReconnect(TypedRequest, frozen=True, tag="mcp_reconnect"):
    """Connect an MCP server again."""

    server_name: str = field(name="serverName")


class McpToggle(TypedRequest, frozen=True, tag="mcp_toggle"):
    """Switch an MCP server on or off."""

    server_name: str = field(name="serverName")
    enabled: bool


class McpSetServers(TypedRequest, frozen=True, tag="mcp_set_servers"):
    """Replace the MCP servers of the session."""

    servers: Mapping[str, Any]


class McpReadResource(TypedRequest, frozen=True, tag="mcp_read_resource"):
    """Read a resource of an MCP server."""

    server_name: str = field(name="serverName")
    uri: str


class GetContextUsage(TypedRequest, frozen=True, tag="get_context_usage"):
    """Ask how the context window is used."""


class StopTask(TypedRequest, frozen=True, tag="stop_task"):
    """Stop a background task."""

    task_id: str


class BackgroundTasks(TypedRequest, frozen=True, tag="background_tasks"):
    """Send running foreground tasks to the background, or the one that a tool use started."""

    tool_use_id: str | UnsetType = UNSET


class ApplyFlagSettings(TypedRequest, frozen=True, tag="apply_flag_settings"):
    """Lay settings over those of the session."""

    settings: Mapping[str, Any]


class GetSettings(TypedRequest, frozen=True, tag="get_settings"):
    """Ask for the settings in force."""


class ListModels(TypedRequest, frozen=True, tag="list_models"):
    """Ask for the models on offer."""


class ReloadPlugins(TypedRequest, frozen=True, tag="reload_plugins"):
    """Load the plugins again."""


class ReloadSkills(TypedRequest, frozen=True, tag="reload_skills"):
    """Load the skills again."""


class ReadFile(TypedRequest, frozen=True, tag="read_file"):
    """Read a file as the CLI sees it."""

    path: str


class CancelAsyncMessage(TypedRequest, frozen=True, tag="cancel_async_message"):
    """Take back a queued prompt that has not started."""

    message_uuid: str


class GetTaskOutput(TypedRequest, frozen=True, tag="get_task_output"):
    """Ask for what a background task has printed."""

    task_id: str


class RenameSession(TypedRequest, frozen=True, tag="rename_session"):
    """Give the session a title."""

    title: str


class GetUsage(TypedRequest, frozen=True, tag="get_usage"):
    """Ask for the account's usage."""


class GetSessionCost(TypedRequest, frozen=True, tag="get_session_cost"):
    """Ask what the session has cost."""


class OpenRequest(msgspec.Struct, frozen=True):
    """Any other request: its subtype and its fields, sent as they are."""

    subtype: str
    fields: Mapping[str, Any] = {}


OutboundRequest: TypeAlias = TypedRequest | OpenRequest

# --- requests that the CLI sends ---


class HookCallback(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="subtype", tag="hook_callback"):
    """The CLI calls a registered hook; `input` stays undecoded, since only the hook's own task has to read it."""

    callback_id: str
    input: Raw
    tool_use_id: str | None = None


class WholeRequest(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="subtype", dict=True):
    """Base of the requests that users get to see, with every field that they came with."""

    @lazy
    def raw(self) -> dict[str, Any]:
        """The request as the CLI sent it, fields that have no name here included."""
        line = self.__dict__.get("line")
        fields: dict[str, Any] = msgspec.to_builtins(self) if line is None else read_object(line)["request"]
        return fields

    def keep_line(self, line: bytes) -> None:
        """Remember the line that the request came in; for the codec."""
        self.__dict__["line"] = line


class CanUseTool(WholeRequest, frozen=True, tag="can_use_tool"):
    """The CLI asks whether a tool may run; `permission_suggestions` are plain objects."""

    tool_name: str
    input: dict[str, Any]
    permission_suggestions: list[dict[str, Any]] | None = None
    tool_use_id: str | None = None
    display_name: str | None = None
    title: str | None = None
    description: str | None = None
    blocked_path: str | None = None
    decision_reason: str | None = None
    decision_reason_type: str | None = None
    agent_id: str | None = None


class McpMessage(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="subtype", tag="mcp_message"):
    """A JSON-RPC message to an in-process MCP server."""

    server_name: str
    message: dict[str, Any]


class ElicitationRequest(WholeRequest, frozen=True, tag="elicitation"):
    """An MCP server asks the user for something; `requested_schema` describes the values that `Accept` takes."""

    mcp_server_name: str
    message: str = ""
    mode: str | None = None
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: dict[str, Any] | None = None
    title: str | None = None
    display_name: str | None = None
    description: str | None = None


class DialogRequest(WholeRequest, frozen=True, tag="request_user_dialog"):
    """The CLI asks for a dialog with the user; `payload` is what that kind of dialog shows."""

    dialog_kind: str
    payload: dict[str, Any] | None = None
    tool_use_id: str | None = None


class UnknownRequest(msgspec.Struct, frozen=True):
    """A request of a subtype that this library does not know; it is answered with an error."""

    subtype: str
    raw: dict[str, Any]


KnownRequest: TypeAlias = HookCallback | CanUseTool | McpMessage | ElicitationRequest | DialogRequest
InboundRequest: TypeAlias = KnownRequest | UnknownRequest

# --- the answer to initialize ---


class ServerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What the CLI says of itself in answer to `initialize`; every field may be missing, `raw` has all of it."""

    commands: list[Any] | None = None
    agents: list[Any] | None = None
    output_style: str | None = None
    available_output_styles: list[str] | None = None
    models: list[Any] | None = None
    account: dict[str, Any] | None = None
    pid: int | None = None
    claude_code_version: str | None = None
    current_permission_mode: str | None = None
    hooks_applied: Any = None
    hook_on_failure_supported: bool | None = None
    session_state: str | None = None
    capabilities: tuple[str, ...] = ()
    raw: dict[str, Any] = field(default_factory=dict, name="<raw>")

    @classmethod
    def read(cls, payload: Mapping[str, Any] | None) -> ServerInfo:
        """Read what is there; a field that is missing or odd keeps its default."""
        plain = dict(payload or {})
        try:
            info = msgspec.convert(plain, cls)
        except (msgspec.ValidationError, RecursionError):
            info = salvage(cls, plain) or cls()
        return msgspec.structs.replace(info, raw=plain)
