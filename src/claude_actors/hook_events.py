"""The typed inputs of every hook event, one class each, for annotating hook callbacks.

    from claude_actors.hook_events import PreToolUse

    @hooks.pre_tool_use
    def guard(event: PreToolUse, ctx: CallbackContext) -> Deny | None: ...

They stand apart from the package's other names because some of them (`Stop`, `Elicitation`, …) are also common words.
"""

from __future__ import annotations

from claude_actors.wire.hook_inputs import (
    Elicitation,
    ElicitationResult,
    HookEvent,
    PermissionDenied,
    PermissionRequest,
    PostCompact,
    PostToolBatch,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    Stop,
    StopFailure,
    SubagentStart,
    SubagentStop,
    UnknownHookEvent,
    UserPromptExpansion,
    UserPromptSubmit,
)
from claude_actors.wire.session_hook_inputs import (
    ConfigChange,
    CwdChanged,
    DirectoryAdded,
    FileChanged,
    InstructionsLoaded,
    MessageDisplay,
    Notification,
    PostModelSwitch,
    PreModelSwitch,
    SessionEnd,
    SessionStart,
    Setup,
    TaskCompleted,
    TaskCreated,
    TeammateIdle,
    WorktreeCreate,
    WorktreeRemove,
)

__all__ = [
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "HookEvent",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PermissionDenied",
    "PermissionRequest",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreModelSwitch",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UnknownHookEvent",
    "UserPromptExpansion",
    "UserPromptSubmit",
    "WorktreeCreate",
    "WorktreeRemove",
]
