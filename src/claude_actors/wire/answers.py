"""What we answer to the CLI's questions: permissions, elicitations, dialogs. Hook outputs are in `hooks`.

Exact names and no more: which answer is given, and what stands in for a missing one, is decided elsewhere.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

ElicitationAction: TypeAlias = Literal["accept", "decline", "cancel"]


class Answer(msgspec.Struct, frozen=True, rename="camel", tag_field="behavior"):
    """Base of the answers; an UNSET field does not travel."""

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON object to send."""
        return dict(msgspec.to_builtins(self))


class PermissionAllow(Answer, frozen=True, tag="allow"):
    """The tool may run, with this input: the CLI refuses a null one, so an unchanged input is sent back."""

    updated_input: dict[str, Any]
    updated_permissions: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class PermissionDeny(Answer, frozen=True, tag="deny"):
    """The tool may not run; the model is told `message`, and `interrupt` ends the turn."""

    message: str
    interrupt: bool = False


class DialogCompleted(Answer, frozen=True, tag="completed"):
    """The dialog's result."""

    result: Any = None


class DialogCancelled(Answer, frozen=True, tag="cancelled"):
    """Nobody has answered the dialog."""


class ElicitationReply(msgspec.Struct, frozen=True):
    """The answer to an MCP server's question; `content` goes with `accept` only."""

    action: ElicitationAction
    content: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON object to send."""
        return dict(msgspec.to_builtins(self))


PermissionAnswer: TypeAlias = PermissionAllow | PermissionDeny
DialogAnswer: TypeAlias = DialogCompleted | DialogCancelled
