"""Requests that the CLI sends: who is still owed an answer, and what is answered when the user's code gives none.

The pending entry is the arbiter: whoever takes it out decides the request, once; everybody later is late.
It runs nothing and knows no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from claude_actors.events import CallbackKind
from claude_actors.wire.answers import DialogCancelled, ElicitationReply, PermissionDeny
from claude_actors.wire.control import (
    CanUseTool,
    DialogRequest,
    ElicitationRequest,
    HookCallback,
    InboundRequest,
    McpMessage,
)

OPEN: Final[Mapping[str, Any]] = MappingProxyType({"continue": True})
_CLOSED: Final[Mapping[str, Any]] = MappingProxyType(PermissionDeny("the permission callback gave no answer").to_wire())


class HookRule(msgspec.Struct, frozen=True):
    """What the protocol must know of one registered hook: a gate's `fallback` is its event's way of saying no."""

    event: str
    timeout: float | None
    fallback: Mapping[str, Any] = OPEN


class CallbackRules(msgspec.Struct, frozen=True):
    """How long each kind of callback may take, and which hooks there are."""

    hooks: Mapping[str, HookRule] = {}
    permission_timeout: float | None = 60.0
    mcp_timeout: float | None = 60.0
    elicitation_timeout: float | None = 60.0


class PendingCallback(msgspec.Struct, frozen=True):
    """A request of the CLI that has no answer yet."""

    request_id: str
    kind: CallbackKind
    name: str
    request: InboundRequest
    timeout: float | None
    fallback: Mapping[str, Any]


class CallbackTable:
    """The pending callbacks, at most `limit`; taking an entry out is what decides it."""

    def __init__(self, *, rules: CallbackRules, limit: int) -> None:
        self._rules = rules
        self._limit = limit
        self._pending: dict[str, PendingCallback] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._pending

    @property
    def is_full(self) -> bool:
        """Say whether the next request must get its fallback at once."""
        return len(self._pending) >= self._limit

    def describe(self, request_id: str, request: InboundRequest) -> PendingCallback | None:
        """Make the entry of a request without adding it; None for what nobody is registered for."""
        match request:
            case HookCallback():
                rule = self._rules.hooks.get(request.callback_id)
                if rule is None:
                    return None
                return PendingCallback(request_id, "hook", request.callback_id, request, rule.timeout, rule.fallback)
            case CanUseTool():
                timeout = self._rules.permission_timeout
                return PendingCallback(request_id, "permission", request.tool_name, request, timeout, _CLOSED)
            case McpMessage():
                timeout, fallback = self._rules.mcp_timeout, mcp_fallback(request.message)
                return PendingCallback(request_id, "mcp", request.server_name, request, timeout, fallback)
            case ElicitationRequest():
                timeout, fallback = self._rules.elicitation_timeout, ElicitationReply("decline").to_wire()
                name = request.mcp_server_name
                return PendingCallback(request_id, "elicitation", name, request, timeout, fallback)
            case DialogRequest():
                timeout, fallback = self._rules.elicitation_timeout, DialogCancelled().to_wire()
                return PendingCallback(request_id, "dialog", request.dialog_kind, request, timeout, fallback)
            case _:
                return None

    def add(self, pending: PendingCallback) -> None:
        """Make the request pending."""
        self._pending[pending.request_id] = pending

    def take(self, request_id: str) -> PendingCallback | None:
        """Decide the request: remove and return its entry; None if it was decided before."""
        return self._pending.pop(request_id, None)

    def take_all(self) -> list[PendingCallback]:
        """Decide everything that is pending, oldest first."""
        taken = list(self._pending.values())
        self._pending.clear()
        return taken


def mcp_fallback(message: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for an MCP server that did not: a JSON-RPC internal error with the id as it came."""
    error = {"code": -32603, "message": "the in-process MCP server gave no answer"}
    return {"mcp_response": {"jsonrpc": "2.0", "id": message.get("id"), "error": error}}
