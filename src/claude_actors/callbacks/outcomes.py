"""Which results each hook event can honour: as types for the checker, and as one table for the running program.

The two say the same (a test compares them). Deciding what a result looks like on the wire is `callbacks/translate.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from claude_actors.callbacks.results import (
    Accept,
    AddContext,
    Allow,
    Ask,
    Block,
    Cancel,
    Cancelled,
    Completed,
    Continue,
    Decline,
    Deferred,
    Deny,
    Display,
    ReplaceInput,
    ReplaceOutput,
    Retry,
    StopTurn,
    UseWorktree,
    WatchPaths,
)

OnFailure: TypeAlias = Literal["open", "block"]

AnyResult: TypeAlias = Continue | StopTurn | Deferred | Mapping[str, Any] | None
"""What every event takes; a mapping is sent as it is."""

PreToolUseResult: TypeAlias = AnyResult | Allow | Deny | Ask | Block | AddContext | ReplaceInput
PostToolUseResult: TypeAlias = AnyResult | Block | AddContext | ReplaceOutput
ContextResult: TypeAlias = AnyResult | AddContext
BlockResult: TypeAlias = AnyResult | Block
BlockOrContextResult: TypeAlias = AnyResult | Block | AddContext
PermissionRequestResult: TypeAlias = AnyResult | Allow | Deny
PermissionDeniedResult: TypeAlias = AnyResult | Retry
ModelSwitchResult: TypeAlias = AnyResult | Allow | Deny | Ask
SessionStartResult: TypeAlias = AnyResult | AddContext | WatchPaths
ElicitationHookResult: TypeAlias = AnyResult | Accept | Decline | Cancel
WatchResult: TypeAlias = AnyResult | WatchPaths
WorktreeResult: TypeAlias = AnyResult | UseWorktree
DisplayResult: TypeAlias = AnyResult | Display
HookResult: TypeAlias = (
    PreToolUseResult
    | PostToolUseResult
    | PermissionDeniedResult
    | ElicitationHookResult
    | WatchResult
    | WorktreeResult
    | DisplayResult
)

PermissionResult: TypeAlias = Allow | Deny | Mapping[str, Any]
ElicitationAnswer: TypeAlias = Accept | Decline | Cancel | Mapping[str, Any]
DialogAnswer: TypeAlias = Completed | Cancelled | Mapping[str, Any]

ACCEPTED: Final[Mapping[str, frozenset[type]]] = {
    "PreToolUse": frozenset({Allow, Deny, Ask, Block, AddContext, ReplaceInput}),
    "PostToolUse": frozenset({Block, AddContext, ReplaceOutput}),
    "PostToolUseFailure": frozenset({Block, AddContext}),
    "PostToolBatch": frozenset({Block, AddContext}),
    "PermissionRequest": frozenset({Allow, Deny}),
    "PermissionDenied": frozenset({Retry}),
    "UserPromptSubmit": frozenset({Block, AddContext}),
    "UserPromptExpansion": frozenset({Block, AddContext}),
    "Stop": frozenset({Block, AddContext}),
    "StopFailure": frozenset(),
    "SubagentStart": frozenset({AddContext}),
    "SubagentStop": frozenset({Block, AddContext}),
    "PreCompact": frozenset({Block}),
    "PostCompact": frozenset(),
    "Elicitation": frozenset({Accept, Decline, Cancel}),
    "ElicitationResult": frozenset({Accept, Decline, Cancel}),
    "SessionStart": frozenset({AddContext, WatchPaths}),
    "SessionEnd": frozenset(),
    "Setup": frozenset({AddContext}),
    "Notification": frozenset({AddContext}),
    "PreModelSwitch": frozenset({Allow, Deny, Ask}),
    "PostModelSwitch": frozenset({AddContext}),
    "TeammateIdle": frozenset({Block}),
    "TaskCreated": frozenset({Block}),
    "TaskCompleted": frozenset({Block}),
    "ConfigChange": frozenset({Block}),
    "InstructionsLoaded": frozenset(),
    "WorktreeCreate": frozenset({UseWorktree}),
    "WorktreeRemove": frozenset(),
    "CwdChanged": frozenset({WatchPaths}),
    "FileChanged": frozenset({WatchPaths}),
    "DirectoryAdded": frozenset(),
    "MessageDisplay": frozenset({Display}),
}

_UNKNOWN: Final[frozenset[type]] = frozenset({Block, AddContext})
_CLOSING: Final[frozenset[type]] = frozenset({Block, Deny, Decline})


def accepted_results(event: str) -> frozenset[type]:
    """Return the results that the event can honour beside those that all can; an unknown event gets the usual two."""
    return ACCEPTED.get(event, _UNKNOWN)


def can_block(event: str) -> bool:
    """Tell whether a hook on this event can prevent something."""
    return not accepted_results(event).isdisjoint(_CLOSING)
