"""System messages: what the CLI tells of the session itself. Each known subtype has its class.

A frame of another subtype, or one that does not fit its class, is a plain `SystemMessage` with all of it in `data`.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import field

from claude_actors.wire.message import Message


class SystemMessage(Message, frozen=True, kw_only=True, tag="system"):
    """A frame of type `system`; `data` is the whole frame."""

    subtype: str

    @property
    def data(self) -> dict[str, Any]:
        """The whole frame as plain JSON; the same as `raw`."""
        return self.raw


class InitMessage(SystemMessage, frozen=True, kw_only=True):
    """How the session is set up; comes at the start of every turn."""

    cwd: str | None = None
    model: str | None = None
    permission_mode: str | None = field(name="permissionMode", default=None)
    tools: list[str] = []
    mcp_servers: list[dict[str, Any]] = []
    slash_commands: list[str] = []
    agents: list[str] = []
    skills: list[str] = []
    plugins: list[Any] = []
    output_style: str | None = None
    api_key_source: str | None = field(name="apiKeySource", default=None)
    claude_code_version: str | None = None
    capabilities: list[str] = []
    user_message_uuids: list[str] | None = None


class StatusMessage(SystemMessage, frozen=True, kw_only=True):
    """What the session is busy with (`requesting`, `compacting`, None), or its new permission mode."""

    status: str | None = None
    permission_mode: str | None = field(name="permissionMode", default=None)


class CompactBoundaryMessage(SystemMessage, frozen=True, kw_only=True):
    """All before this was compacted to a summary."""

    compact_metadata: dict[str, Any] = {}


class InformationalMessage(SystemMessage, frozen=True, kw_only=True):
    """Something that the user should read; `tag` says what kind it is."""

    content: str = ""
    level: str | None = None
    tag: str | None = None
    tool_use_id: str | None = None


class TaskStartedMessage(SystemMessage, frozen=True, kw_only=True):
    """A task has started: a subagent, or a command in the background."""

    task_id: str
    description: str = ""
    tool_use_id: str | None = None
    task_type: str | None = None
    subagent_type: str | None = None
    is_backgrounded: bool | None = None


class TaskProgressMessage(SystemMessage, frozen=True, kw_only=True):
    """How far a task has come."""

    task_id: str
    description: str = ""
    usage: dict[str, Any] = {}
    tool_use_id: str | None = None
    last_tool_name: str | None = None
    summary: str | None = None


class TaskUpdatedMessage(SystemMessage, frozen=True, kw_only=True):
    """A task has changed; `patch` holds what did. Its end may be told here only, without a notification."""

    task_id: str
    patch: dict[str, Any] = {}

    @property
    def status(self) -> str | None:
        """The task's new status, if that is what changed."""
        status = self.patch.get("status")
        return status if isinstance(status, str) else None


class TaskNotificationMessage(SystemMessage, frozen=True, kw_only=True):
    """A task has ended: `completed`, `failed` or `stopped`."""

    task_id: str
    status: str
    output_file: str = ""
    summary: str = ""
    tool_use_id: str | None = None
    usage: dict[str, Any] | None = None


TERMINAL_TASK_STATUSES: Final = frozenset({"completed", "failed", "stopped", "killed"})
"""The statuses of `TaskUpdatedMessage` and `TaskNotificationMessage` that mean that a task has ended."""


class BackgroundTasksChangedMessage(SystemMessage, frozen=True, kw_only=True):
    """The tasks that now run in the background."""

    tasks: list[dict[str, Any]] = []


class SessionStateChangedMessage(SystemMessage, frozen=True, kw_only=True):
    """The session is now `running`, `requires_action` or `idle`."""

    state: str


class ApiRetryMessage(SystemMessage, frozen=True, kw_only=True):
    """A call of the API failed and will be made again."""

    attempt: int = 0
    max_retries: int = 0
    retry_delay_ms: float = 0.0
    error_status: int | None = None
    error: Any = None


class HookEventMessage(SystemMessage, frozen=True, kw_only=True):
    """A hook was run by the CLI; each phase has its subclass."""

    hook_event_name: str = field(name="hook_event", default="")
    hook_id: str | None = None
    hook_name: str | None = None


class HookStartedMessage(HookEventMessage, frozen=True, kw_only=True):
    """A hook has started."""


class HookProgressMessage(HookEventMessage, frozen=True, kw_only=True):
    """What a running hook has printed so far."""

    stdout: str = ""
    stderr: str = ""
    output: str = ""


class HookResponseMessage(HookEventMessage, frozen=True, kw_only=True):
    """A hook has ended: `success`, `error` or `cancelled`."""

    outcome: str | None = None
    output: str = ""
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None


class PermissionDeniedMessage(SystemMessage, frozen=True, kw_only=True):
    """A tool was refused without asking."""

    tool_name: str
    tool_use_id: str | None = None
    agent_id: str | None = None
    decision_reason_type: str | None = None
    decision_reason: str | None = None
    message: str | None = None


class LocalCommandOutputMessage(SystemMessage, frozen=True, kw_only=True):
    """What a command of the CLI itself printed."""

    content: str = ""


class NotificationMessage(SystemMessage, frozen=True, kw_only=True):
    """A short notice for a display."""

    text: str = ""
    key: str | None = None
    priority: str | None = None
    color: str | None = None
    timeout_ms: float | None = None


class ThinkingTokensMessage(SystemMessage, frozen=True, kw_only=True):
    """About how much the model has thought so far."""

    estimated_tokens: int = 0
    estimated_tokens_delta: int = 0


class MirrorErrorMessage(SystemMessage, frozen=True, kw_only=True):
    """Transcript entries could not be mirrored; the session goes on."""

    error: str = ""
    key: dict[str, Any] | None = None


SYSTEM_MESSAGES: Final[dict[str, type[SystemMessage]]] = {
    "init": InitMessage,
    "status": StatusMessage,
    "compact_boundary": CompactBoundaryMessage,
    "informational": InformationalMessage,
    "task_started": TaskStartedMessage,
    "task_progress": TaskProgressMessage,
    "task_updated": TaskUpdatedMessage,
    "task_notification": TaskNotificationMessage,
    "background_tasks_changed": BackgroundTasksChangedMessage,
    "session_state_changed": SessionStateChangedMessage,
    "api_retry": ApiRetryMessage,
    "hook_started": HookStartedMessage,
    "hook_progress": HookProgressMessage,
    "hook_response": HookResponseMessage,
    "permission_denied": PermissionDeniedMessage,
    "local_command_output": LocalCommandOutputMessage,
    "notification": NotificationMessage,
    "thinking_tokens": ThinkingTokensMessage,
    "mirror_error": MirrorErrorMessage,
}

_DECODERS: Final = {subtype: msgspec.json.Decoder(kind) for subtype, kind in SYSTEM_MESSAGES.items()}


def refine(message: SystemMessage, line: bytes) -> SystemMessage:
    """Decode the line again as the class of its subtype, if there is one; raises msgspec.DecodeError if it is odd."""
    decoder = _DECODERS.get(message.subtype)
    return message if decoder is None else decoder.decode(line)
