"""What the CLI answers to requests of ours, as far as the answers have a shape worth a type.

Read leniently: a field that is missing or odd keeps its default, and `raw` has the whole answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec
from msgspec import field

from claude_actors.wire.salvage import salvage


class ControlResult(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the typed answers; `raw` is the payload as it came."""

    raw: dict[str, Any] = field(default_factory=dict, name="<raw>")

    @classmethod
    def read(cls, payload: Mapping[str, Any] | None) -> Self:
        """Read what is there. Never raises."""
        found = salvage(cls, payload or {}) or cls()
        return msgspec.structs.replace(found, raw=dict(payload or {}))


class Interrupted(ControlResult, frozen=True, kw_only=True):
    """The running turn was ended; `still_queued` names the prompts that wait for their turn."""

    still_queued: list[Any] = []


class RewindResult(ControlResult, frozen=True, kw_only=True, rename="camel"):
    """What a rewind changed, or would change in a dry run; `error` says why it cannot."""

    can_rewind: bool = False
    error: str | None = None
    files_changed: list[str] = []
    insertions: int = 0
    deletions: int = 0


class McpServerState(ControlResult, frozen=True, kw_only=True, rename="camel"):
    """One MCP server as the CLI sees it: `connected`, `failed`, `needs-auth`, `pending` or `disabled`."""

    name: str = ""
    status: str = ""
    error: str | None = None
    scope: str | None = None
    server_info: dict[str, Any] | None = None
    tools: list[Any] = []


class McpServersSet(ControlResult, frozen=True, kw_only=True):
    """Which servers came and went, and which could not be had."""

    added: list[str] = []
    removed: list[str] = []
    errors: dict[str, Any] = {}


def join_servers_set(steps: Sequence[McpServersSet]) -> McpServersSet:
    """Tell several steps as one; `raw` is the last one's."""
    if len(steps) == 1:
        return steps[0]
    return McpServersSet(
        raw=steps[-1].raw,
        added=[name for step in steps for name in step.added],
        removed=[name for step in steps for name in step.removed],
        errors={name: error for step in steps for name, error in step.errors.items()},
    )


def read_mcp_status(payload: Mapping[str, Any] | None) -> tuple[McpServerState, ...]:
    """Read the answer to `mcp_status`."""
    servers = (payload or {}).get("mcpServers")
    found = servers if isinstance(servers, list) else []
    return tuple(McpServerState.read(server) for server in found if isinstance(server, Mapping))
