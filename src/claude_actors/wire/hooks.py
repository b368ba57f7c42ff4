"""Hook inputs as they come off the wire, and hook outputs as they go onto it.

Reading never raises: an event without a type, or one whose essential fields do not fit, becomes `UnknownHookEvent` with
its raw input. A lesser field of a wrong type is left at its default, so that a CLI that changes the form of a detail
does not blind the callbacks that guard tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from claude_actors.wire import hook_inputs as turn
from claude_actors.wire import session_hook_inputs as session
from claude_actors.wire.hook_inputs import HookEvent, UnknownHookEvent
from claude_actors.wire.salvage import salvage

_EVENTS: Final[tuple[type[HookEvent], ...]] = (
    turn.PreToolUse,
    turn.PostToolUse,
    turn.PostToolUseFailure,
    turn.PostToolBatch,
    turn.PermissionRequest,
    turn.PermissionDenied,
    turn.UserPromptSubmit,
    turn.UserPromptExpansion,
    turn.Stop,
    turn.StopFailure,
    turn.SubagentStart,
    turn.SubagentStop,
    turn.PreCompact,
    turn.PostCompact,
    turn.Elicitation,
    turn.ElicitationResult,
    session.SessionStart,
    session.SessionEnd,
    session.Setup,
    session.Notification,
    session.PreModelSwitch,
    session.PostModelSwitch,
    session.TeammateIdle,
    session.TaskCreated,
    session.TaskCompleted,
    session.ConfigChange,
    session.InstructionsLoaded,
    session.WorktreeCreate,
    session.WorktreeRemove,
    session.CwdChanged,
    session.FileChanged,
    session.DirectoryAdded,
    session.MessageDisplay,
)
EVENT_TYPES: Final[Mapping[str, type[HookEvent]]] = {event.__name__: event for event in _EVENTS}


_UNREAD: Final = (msgspec.Raw, bytes)


def decode_hook_input(raw: bytes | msgspec.Raw | Mapping[str, Any]) -> HookEvent:
    """Read one hook input; never raises."""
    form = _parse(raw) if isinstance(raw, _UNREAD) else dict(raw)
    event_type = EVENT_TYPES.get(str(form.get("hook_event_name")), UnknownHookEvent)
    event = (
        _convert(form, event_type) or salvage(event_type, form) or salvage(UnknownHookEvent, form) or UnknownHookEvent()
    )
    event.__dict__["raw"] = form
    return event


def _parse(raw: bytes | msgspec.Raw) -> dict[str, Any]:
    try:
        form = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return form if isinstance(form, dict) else {}


def _convert(form: Mapping[str, Any], event_type: type[HookEvent]) -> HookEvent | None:
    try:
        return msgspec.convert(form, event_type)
    except (msgspec.ValidationError, RecursionError):
        return None


# --- outputs ---

HookDecision: TypeAlias = Literal["approve", "block"]


class HookOutput(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The answer to a hook, with the names of the wire."""

    continue_: bool | None = msgspec.field(default=None, name="continue")
    stop_reason: str | None = None
    suppress_output: bool | None = None
    decision: HookDecision | None = None
    reason: str | None = None
    system_message: str | None = None
    hook_specific_output: dict[str, Any] | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON object to send; what is not set is not in it."""
        return dict(msgspec.to_builtins(self))


class AsyncHookOutput(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The answer that lets the CLI go on at once; `async_timeout` is in milliseconds."""

    async_: Literal[True] = msgspec.field(default=True, name="async")
    async_timeout: int | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON object to send."""
        return {"async": True, **msgspec.to_builtins(self)}
