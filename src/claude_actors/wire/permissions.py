"""What travels about permissions: rules, the updates of them that the CLI suggests, and the request to use a tool.

Data only: who decides, and how, is no matter here. Nothing that the CLI sends can make these raise; a form that is not
known is kept as it came, and so is every field that is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from claude_actors.wire.control import CanUseTool
from claude_actors.wire.lazy import lazy
from claude_actors.wire.salvage import salvage

PermissionMode: TypeAlias = Literal["default", "manual", "acceptEdits", "plan", "bypassPermissions", "auto", "dontAsk"]
PermissionBehavior: TypeAlias = Literal["allow", "deny", "ask"]
PermissionDestination: TypeAlias = Literal["userSettings", "projectSettings", "localSettings", "session", "cliArg"]


class PermissionRule(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Name a tool, and with `rule_content` only some uses of it (`npm test:*`)."""

    tool_name: str
    rule_content: str | None = None


class _Update(msgspec.Struct, frozen=True, tag_field="type", dict=True):
    @lazy
    def raw(self) -> dict[str, Any]:
        """The update as it stands on the wire; one that the CLI sent goes back with every field that it came with."""
        return dict(msgspec.to_builtins(self))


class _RulesUpdate(_Update, frozen=True):
    rules: tuple[PermissionRule, ...]
    behavior: PermissionBehavior
    destination: PermissionDestination = "session"


class AddRules(_RulesUpdate, frozen=True, tag="addRules"):
    """Add rules to a destination's list of that behaviour."""


class ReplaceRules(_RulesUpdate, frozen=True, tag="replaceRules"):
    """Put these rules in place of a destination's list of that behaviour."""


class RemoveRules(_RulesUpdate, frozen=True, tag="removeRules"):
    """Take rules out of a destination's list of that behaviour."""


class SetMode(_Update, frozen=True, tag="setMode"):
    """Change the permission mode."""

    mode: PermissionMode
    destination: PermissionDestination = "session"


class AddDirectories(_Update, frozen=True, tag="addDirectories"):
    """Let the session work in more directories."""

    directories: tuple[str, ...]
    destination: PermissionDestination = "session"


class RemoveDirectories(_Update, frozen=True, tag="removeDirectories"):
    """Take directories away from the session."""

    directories: tuple[str, ...]
    destination: PermissionDestination = "session"


class UnknownUpdate(msgspec.Struct, frozen=True):
    """An update of a form that this library does not know, as it came; it can be passed back like any other."""

    raw: dict[str, Any]


KnownUpdate: TypeAlias = AddRules | ReplaceRules | RemoveRules | SetMode | AddDirectories | RemoveDirectories
PermissionUpdate: TypeAlias = KnownUpdate | UnknownUpdate


def decode_update(raw: Mapping[str, Any]) -> PermissionUpdate:
    """Read one update; never raises."""
    form = dict(raw)
    try:
        update: KnownUpdate = msgspec.convert(form, KnownUpdate)
    except msgspec.ValidationError:
        return UnknownUpdate(form)
    update.__dict__["raw"] = form
    return update


def decode_updates(raw: object) -> tuple[PermissionUpdate, ...]:
    """Read a list of updates; what is no list of objects is left out."""
    if not isinstance(raw, Sequence) or isinstance(raw, str):
        return ()
    return tuple(decode_update(item) for item in raw if isinstance(item, Mapping))


class ToolPermissionRequest(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The CLI's question whether a tool may run, as a permission callback gets it.

    Texts (`title`, `description`, `decision_reason`) may carry terminal escapes: clean them before showing them.
    `requires_user_interaction` asks for a person's own decision, not a rule's.
    """

    tool_name: str
    input: dict[str, Any]
    tool_use_id: str = ""
    title: str | None = None
    display_name: str | None = None
    description: str | None = None
    permission_suggestions: tuple[dict[str, Any], ...] = ()
    blocked_path: str | None = None
    decision_reason: str | None = None
    decision_reason_type: str | None = None
    agent_id: str | None = None
    requires_user_interaction: bool = False

    @lazy
    def suggestions(self) -> tuple[PermissionUpdate, ...]:
        """The rule changes that would answer this question for the future; allow them by passing them back."""
        return decode_updates(self.permission_suggestions)

    @lazy
    def raw(self) -> dict[str, Any]:
        """The request as the CLI sent it, fields that have no name here included."""
        return {"subtype": "can_use_tool", **msgspec.to_builtins(self)}

    @property
    def plan(self) -> str | None:
        """The text of the plan to approve; None if this is not `ExitPlanMode`, or no plan was written."""
        plan = self.input.get("plan") if self.tool_name == "ExitPlanMode" else None
        return plan if isinstance(plan, str) else None


def read_permission_request(request: Mapping[str, Any] | CanUseTool) -> ToolPermissionRequest:
    """Make the typed view of a `can_use_tool` request; never raises, a field of a wrong type counts as missing."""
    form = request.raw if isinstance(request, CanUseTool) else dict(request)
    view = _convert(form) or salvage(ToolPermissionRequest, form)
    if view is None:
        view = ToolPermissionRequest(tool_name=str(form.get("tool_name", "")), input={})
    view.__dict__["raw"] = form
    return view


def _convert(form: Mapping[str, Any]) -> ToolPermissionRequest | None:
    try:
        return msgspec.convert(form, ToolPermissionRequest)
    except (msgspec.ValidationError, RecursionError):
        return None
