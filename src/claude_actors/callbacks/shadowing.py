"""Which options keep a permission callback from being asked; a warning for each, as the callback looks active.

Only what the options say is seen here: allow rules of settings files shadow a callback too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

_MODES: Final[Mapping[str, str]] = {
    "bypassPermissions": "allows every tool",
    "dontAsk": "refuses every tool that no rule allows",
}


def shadow_warnings(permission_mode: str | None, allowed_tools: Iterable[str], has_callback: bool) -> list[str]:
    """Return one sentence for each way in which these options bypass the permission callback."""
    if not has_callback:
        return []
    effect = _MODES.get(permission_mode or "")
    if effect is not None:
        return [f"can_use_tool is never asked: permission_mode {permission_mode!r} {effect}. Use a pre_tool_use hook."]
    tools = list(dict.fromkeys(tool for entry in allowed_tools if (tool := _whole_tool(entry))))
    return [
        f"can_use_tool is never asked about {tool}: allowed_tools allows all of it. "
        f"Narrow the entry, such as {tool}(...), or use a pre_tool_use hook."
        for tool in tools
    ]


def _whole_tool(entry: str) -> str | None:
    """Return the tool that a rule allows as a whole: `Read`, `Read()` and `Read(*)` do, `Bash(ls:*)` does not."""
    name, parenthesis, rest = entry.strip().partition("(")
    return name if name and (not parenthesis or rest in (")", "*)")) else None
