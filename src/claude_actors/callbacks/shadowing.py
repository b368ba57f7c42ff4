"""What keeps a callback from being asked or heeded; a warning for each, as the callback looks active.

Of permissions only what the options say is seen here: allow rules of settings files shadow a callback too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from claude_actors.callbacks.hooks import HookRegistration
from claude_actors.wire.control import ServerInfo

_MODES: Final[Mapping[str, str]] = {
    "bypassPermissions": "allows every tool",
    "dontAsk": "refuses every tool that no rule allows",
}


class CanUseToolShadowedWarning(UserWarning):
    """`can_use_tool` is set, and the permission mode keeps it from ever being asked."""


def shadow_warnings(permission_mode: str | None, allowed_tools: Iterable[str], has_callback: bool) -> list[str]:
    """Return one sentence for each way in which these options bypass the permission callback."""
    if not has_callback:
        return []
    whole = never_asked(permission_mode, has_callback)
    if whole is not None:
        return [whole]
    tools = list(dict.fromkeys(tool for entry in allowed_tools if (tool := _whole_tool(entry))))
    return [
        f"can_use_tool is never asked about {tool}: allowed_tools allows all of it. "
        f"Narrow the entry, such as {tool}(...), or use a pre_tool_use hook."
        for tool in tools
    ]


def never_asked(permission_mode: str | None, has_callback: bool) -> str | None:
    """Return the sentence for a mode in which the permission callback is idle, None if it is not."""
    effect = _MODES.get(permission_mode or "") if has_callback else None
    if effect is None:
        return None
    return f"can_use_tool is never asked: permission_mode {permission_mode!r} {effect}. Use a pre_tool_use hook."


def hook_warnings(hooks: Iterable[HookRegistration], info: ServerInfo) -> list[str]:
    """Return one sentence for each way in which the CLI that gave this answer heeds the hooks less than they say."""
    hooks = list(hooks)
    if hooks and info.hooks_applied is False:
        return ["the CLI has not registered the hooks: none of them will be called"]
    if any(hook.on_failure == "block" for hook in hooks) and not info.hook_on_failure_supported:
        return ['the CLI does not know on_failure="block": it lets pass what a gate answers in a form that it rejects']
    return []


def _whole_tool(entry: str) -> str | None:
    """Return the tool that a rule allows as a whole: `Read`, `Read()` and `Read(*)` do, `Bash(ls:*)` does not."""
    name, parenthesis, rest = entry.strip().partition("(")
    return name if name and (not parenthesis or rest in (")", "*)")) else None
