"""The registry of hook callbacks: a decorator for each event, and what initialize says about them.

It decides ids, checks arguments when they are given, and groups registrations for the wire. It runs no callback and
knows no session; one `Hooks` may serve many sessions, each with the registrations that were there when it started.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, Generic, TypeAlias, TypeVar, overload

import msgspec

from claude_actors.callbacks import outcomes as may
from claude_actors.callbacks.context import CallbackContext
from claude_actors.callbacks.outcomes import HookResult, OnFailure, can_block
from claude_actors.callbacks.signatures import signature_complaint
from claude_actors.errors import InvalidOptions
from claude_actors.wire import hook_inputs as turn
from claude_actors.wire import session_hook_inputs as life
from claude_actors.wire.hook_inputs import HookEvent

EventT = TypeVar("EventT", bound=HookEvent)
ResultT = TypeVar("ResultT")
Callback: TypeAlias = Callable[[EventT, CallbackContext], ResultT | Awaitable[ResultT]]
AnyCallback: TypeAlias = Callable[[Any, CallbackContext], HookResult | Awaitable[HookResult]]
AnyCallbackT = TypeVar("AnyCallbackT", bound=AnyCallback)

DEFAULT_TIMEOUT: Final = 60.0
DEFAULT_GRACE: Final = 5.0


class HookRegistration(msgspec.Struct, frozen=True):
    """One callback on one event; `id` is what the CLI calls it by, the same in every session and after a restart."""

    id: str
    event: str
    matcher: str | None
    timeout: float
    on_failure: OnFailure
    function: Callable[[Any, CallbackContext], Any]


class _Decorator(Generic[EventT, ResultT]):
    """Register callbacks for one event, as `@hooks.stop` or `@hooks.stop(timeout=5)`."""

    __slots__ = ("_event", "_hooks")

    def __init__(self, hooks: Hooks, event: str) -> None:
        self._hooks, self._event = hooks, event

    @overload
    def __call__(self, function: Callback[EventT, ResultT], /) -> Callback[EventT, ResultT]: ...

    @overload
    def __call__(
        self, *, matcher: str | None = None, timeout: float = DEFAULT_TIMEOUT, on_failure: OnFailure = "open"
    ) -> Callable[[Callback[EventT, ResultT]], Callback[EventT, ResultT]]: ...

    def __call__(
        self,
        function: Any = None,
        *,
        matcher: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        on_failure: OnFailure = "open",
    ) -> Any:
        register = self._hooks.on(self._event, matcher=matcher, timeout=timeout, on_failure=on_failure)
        return register if function is None else register(function)


class _Point(Generic[EventT, ResultT]):
    """The place of an event's decorator on `Hooks`."""

    def __init__(self, event: str) -> None:
        self._event = event

    def __get__(self, hooks: Hooks, owner: type[Hooks]) -> _Decorator[EventT, ResultT]:
        return _Decorator(hooks, self._event)


class Hooks:
    """Collect hook callbacks `(event, ctx)`, sync or async; registering is safe in every thread.

    Each decorator takes `matcher` (a pattern that the CLI evaluates), `timeout` in seconds, and `on_failure`: `"open"`
    lets things go on when the callback fails, `"block"` makes it a gate that fails closed. The function is returned
    as it was given.
    """

    pre_tool_use = _Point[turn.PreToolUse, may.PreToolUseResult]("PreToolUse")
    post_tool_use = _Point[turn.PostToolUse, may.PostToolUseResult]("PostToolUse")
    post_tool_use_failure = _Point[turn.PostToolUseFailure, may.BlockOrContextResult]("PostToolUseFailure")
    post_tool_batch = _Point[turn.PostToolBatch, may.BlockOrContextResult]("PostToolBatch")
    permission_request = _Point[turn.PermissionRequest, may.PermissionRequestResult]("PermissionRequest")
    permission_denied = _Point[turn.PermissionDenied, may.PermissionDeniedResult]("PermissionDenied")
    user_prompt_submit = _Point[turn.UserPromptSubmit, may.BlockOrContextResult]("UserPromptSubmit")
    user_prompt_expansion = _Point[turn.UserPromptExpansion, may.BlockOrContextResult]("UserPromptExpansion")
    stop = _Point[turn.Stop, may.BlockOrContextResult]("Stop")
    stop_failure = _Point[turn.StopFailure, may.AnyResult]("StopFailure")
    subagent_start = _Point[turn.SubagentStart, may.ContextResult]("SubagentStart")
    subagent_stop = _Point[turn.SubagentStop, may.BlockOrContextResult]("SubagentStop")
    pre_compact = _Point[turn.PreCompact, may.BlockResult]("PreCompact")
    post_compact = _Point[turn.PostCompact, may.AnyResult]("PostCompact")
    elicitation = _Point[turn.Elicitation, may.ElicitationHookResult]("Elicitation")
    elicitation_result = _Point[turn.ElicitationResult, may.ElicitationHookResult]("ElicitationResult")
    session_start = _Point[life.SessionStart, may.SessionStartResult]("SessionStart")
    session_end = _Point[life.SessionEnd, may.AnyResult]("SessionEnd")
    setup = _Point[life.Setup, may.ContextResult]("Setup")
    notification = _Point[life.Notification, may.ContextResult]("Notification")
    pre_model_switch = _Point[life.PreModelSwitch, may.ModelSwitchResult]("PreModelSwitch")
    post_model_switch = _Point[life.PostModelSwitch, may.ContextResult]("PostModelSwitch")
    teammate_idle = _Point[life.TeammateIdle, may.BlockResult]("TeammateIdle")
    task_created = _Point[life.TaskCreated, may.BlockResult]("TaskCreated")
    task_completed = _Point[life.TaskCompleted, may.BlockResult]("TaskCompleted")
    config_change = _Point[life.ConfigChange, may.BlockResult]("ConfigChange")
    instructions_loaded = _Point[life.InstructionsLoaded, may.AnyResult]("InstructionsLoaded")
    worktree_create = _Point[life.WorktreeCreate, may.WorktreeResult]("WorktreeCreate")
    worktree_remove = _Point[life.WorktreeRemove, may.AnyResult]("WorktreeRemove")
    cwd_changed = _Point[life.CwdChanged, may.WatchResult]("CwdChanged")
    file_changed = _Point[life.FileChanged, may.WatchResult]("FileChanged")
    directory_added = _Point[life.DirectoryAdded, may.AnyResult]("DirectoryAdded")
    message_display = _Point[life.MessageDisplay, may.DisplayResult]("MessageDisplay")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._registrations: list[HookRegistration] = []

    def on(
        self,
        event: str,
        *,
        matcher: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        on_failure: OnFailure = "open",
    ) -> Callable[[AnyCallbackT], AnyCallbackT]:
        """Register for any event by the CLI's name of it, known here or not. Raises `InvalidOptions`."""
        _check(event, matcher, timeout, on_failure)

        def register(function: AnyCallbackT) -> AnyCallbackT:
            self._add(event, matcher, float(timeout), on_failure, function)
            return function

        return register

    def registrations(self) -> tuple[HookRegistration, ...]:
        """Return what is registered now, in order; later registrations do not change it."""
        return tuple(self._registrations)

    def copy(self) -> Hooks:
        """Return a registry of what is registered now, under the same ids; what is registered later is not in it."""
        other = Hooks()
        other._registrations = list(self.registrations())
        return other

    def wire_config(self, grace: float = DEFAULT_GRACE) -> dict[str, list[dict[str, Any]]]:
        """Return initialize's `hooks` for what is registered now; see the function `wire_config`."""
        return wire_config(self.registrations(), grace)

    def __len__(self) -> int:
        return len(self._registrations)

    def __bool__(self) -> bool:
        return True

    def _add(self, event: str, matcher: str | None, timeout: float, on_failure: OnFailure, function: Any) -> None:
        if not callable(function):
            raise InvalidOptions(f"a hook on {event} must be callable, not {type(function).__name__}")
        if complaint := signature_complaint(function, "event"):
            raise InvalidOptions(f"a hook on {event} {complaint}")
        with self._lock:
            hook_id = f"hook_{len(self._registrations)}"
            self._registrations.append(HookRegistration(hook_id, event, matcher, timeout, on_failure, function))


def wire_config(registrations: Iterable[HookRegistration], grace: float) -> dict[str, list[dict[str, Any]]]:
    """Return initialize's `hooks`: callbacks with equal settings share an entry.

    The CLI's own timeout is `grace` seconds above ours, so that our fallback comes before the CLI gives up on the tool.
    """
    config: dict[str, dict[tuple[str | None, float, OnFailure], dict[str, Any]]] = {}
    for hook in registrations:
        entries = config.setdefault(hook.event, {})
        key = (hook.matcher, hook.timeout, hook.on_failure)
        entries.setdefault(key, _entry(hook, grace))["hookCallbackIds"].append(hook.id)
    return {event: list(entries.values()) for event, entries in config.items()}


def _entry(hook: HookRegistration, grace: float) -> dict[str, Any]:
    entry: dict[str, Any] = {"matcher": hook.matcher, "hookCallbackIds": [], "timeout": hook.timeout + grace}
    return entry | {"onFailure": "block"} if hook.on_failure == "block" else entry


def _check(event: object, matcher: object, timeout: object, on_failure: object) -> None:
    if not isinstance(event, str) or not event:
        raise InvalidOptions("a hook needs the name of its event")
    if not (matcher is None or isinstance(matcher, str)):
        raise InvalidOptions(f"matcher of a hook on {event} must be a string or None, not {type(matcher).__name__}")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise InvalidOptions(f"timeout of a hook on {event} must be a positive number of seconds, not {timeout!r}")
    if on_failure not in ("open", "block"):
        raise InvalidOptions(f'on_failure of a hook on {event} must be "open" or "block", not {on_failure!r}')
    if on_failure == "block" and not can_block(event):
        raise InvalidOptions(f'{event} cannot be blocked, so a hook on it cannot have on_failure="block"')
