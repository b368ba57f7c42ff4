"""Words for what a tool is about to do and for what a permission rule would change: what a person decides on.

Nothing that decides may be left out of sight: texts are cleaned, long ones are cut only with a note of how much.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from claude_actors import AddDirectories, AddRules, PermissionUpdate, ToolPermissionRequest
from claude_actors.console.clean import clean, one_line
from claude_actors.wire.permissions import RemoveDirectories, RemoveRules, ReplaceRules, SetMode, UnknownUpdate

#: The input that says most about a tool, for the one line that shows a call.
_TELLING = ("command", "file_path", "path", "pattern", "url", "query", "description", "prompt")


def describe_call(name: str, tool_input: Mapping[str, Any]) -> str:
    """Describe a tool call on one line."""
    telling = next((tool_input[key] for key in _TELLING if isinstance(tool_input.get(key), str)), None)
    shown = telling if telling is not None else (_json(tool_input) if tool_input else "")
    return one_line(f"{name} {shown}", 120)


def describe_input(request: ToolPermissionRequest) -> list[str]:
    """Describe all that a tool would run with, field by field."""
    lines: list[str] = []
    for key, value in request.input.items():
        text = clean(value if isinstance(value, str) else _json(value))
        first, *rest = text.splitlines() or [""]
        lines += [f"{clean(str(key))}: {first}", *(f"    {line}" for line in rest)]
    return lines


def describe_update(update: PermissionUpdate) -> str:
    """Describe what accepting a suggestion would change."""
    match update:
        case AddRules(rules, behavior, destination):
            return _kept(f"always {behavior} {_rules(rules)}", destination)
        case ReplaceRules(rules, behavior, destination):
            return _kept(f"make {_rules(rules)} the only '{behavior}' rules", destination)
        case RemoveRules(rules, behavior, destination):
            return _kept(f"remove the '{behavior}' rules {_rules(rules)}", destination)
        case SetMode(mode, destination):
            return _kept(f"switch to the permission mode {mode}", destination)
        case AddDirectories(directories, destination):
            return _kept(f"let it work in {', '.join(map(one_line, directories))}", destination)
        case RemoveDirectories(directories, destination):
            return _kept(f"keep it out of {', '.join(map(one_line, directories))}", destination)
        case UnknownUpdate(raw):
            return one_line(_json(raw))


def _rules(rules: tuple[Any, ...]) -> str:
    return ", ".join(
        one_line(f"{rule.tool_name}({rule.rule_content})" if rule.rule_content else rule.tool_name) for rule in rules
    )


def _kept(what: str, destination: str) -> str:
    where = "for this session" if destination == "session" else f"kept in {destination}"
    return f"{what} ({where})"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
