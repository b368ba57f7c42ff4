"""What can be asked of a running session: each operation as a request, its deadline, and how its answer is read.

`Session` carries these out and blocks; `session.aio` carries them out and awaits. Nothing here sends anything.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from claude_actors.cli.servers import named_servers, split_servers
from claude_actors.errors import CheckpointingNotEnabled, InvalidOptions
from claude_actors.mailbox.promise import Promise
from claude_actors.mcp.host import check_server, is_replaced
from claude_actors.options import Options
from claude_actors.wire import control
from claude_actors.wire.control_results import (
    Interrupted,
    McpServersSet,
    McpServerState,
    RewindResult,
    read_mcp_status,
)

T = TypeVar("T")
Payload = Mapping[str, Any] | None


class Wanted(msgspec.Struct, Generic[T], frozen=True):
    """One operation before it is sent: the MCP `servers` that it brings, and the options that it `changes`."""

    request: control.OutboundRequest
    timeout: float
    read: Callable[[Payload], T]
    servers: Mapping[str, Any] | None = None
    changes: Mapping[str, Any] | None = None


class Operation(Generic[T]):
    """One operation that was sent; wait with `result()`, or `await` it. Any thread."""

    def __init__(self, answer: Promise[dict[str, Any] | None], read: Callable[[Payload], T]) -> None:
        self._answer = answer
        self._read = read

    def result(self) -> T:
        """Block until the CLI has answered. Raises a ControlError; its deadline is the operation's own."""
        self._answer.wait()
        return self._read(self._answer.value())

    def __await__(self) -> Generator[Any, None, T]:
        return self._wait().__await__()

    async def _wait(self) -> T:
        await self._answer.wait_async()
        return self._read(self._answer.value())


class Operations:
    """Makes the operations of a session with these options."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._timeout = options.control_timeout

    def interrupt(self) -> Wanted[Interrupted]:
        """End the running turn."""
        return Wanted(control.Interrupt(), self._timeout, Interrupted.read)

    def set_model(self, model: str | None) -> Wanted[str | None]:
        """Change the model."""
        changes = {"model": self._options.model if model is None else model}

        def read(payload: Payload) -> str | None:
            chosen: str | None = (payload or {}).get("model", model)
            return chosen

        return Wanted(control.SetModel(model), self._timeout, read, changes=changes)

    def set_permission_mode(self, mode: str) -> Wanted[str]:
        """Change the permission mode."""

        def read(payload: Payload) -> str:
            return str((payload or {}).get("mode", mode))

        return Wanted(control.SetPermissionMode(mode), self._timeout, read, changes={"permission_mode": mode})

    def set_max_thinking_tokens(self, tokens: int | None) -> Wanted[None]:
        """Change the thinking budget."""
        changes = {"max_thinking_tokens": tokens}
        return Wanted(control.SetMaxThinkingTokens(tokens), self._timeout, _nothing, changes=changes)

    def rewind_files(self, user_message_id: str, dry_run: bool) -> Wanted[RewindResult]:
        """Put files back; raises CheckpointingNotEnabled."""
        if not self._options.enable_file_checkpointing:
            raise CheckpointingNotEnabled
        request = control.RewindFiles(user_message_id, dry_run=True if dry_run else msgspec.UNSET)
        return Wanted(request, self._options.rewind_timeout, RewindResult.read)

    def mcp_status(self) -> Wanted[tuple[McpServerState, ...]]:
        """Ask for the state of the MCP servers."""
        return Wanted(control.McpStatus(), self._timeout, read_mcp_status)

    def reconnect_mcp_server(self, name: str) -> Wanted[None]:
        """Connect an MCP server again."""
        return Wanted(control.McpReconnect(name), self._timeout, _nothing)

    def toggle_mcp_server(self, name: str, enabled: bool) -> Wanted[None]:
        """Switch an MCP server on or off."""
        return Wanted(control.McpToggle(name, enabled), self._timeout, _nothing)

    def set_mcp_servers(self, servers: Mapping[str, Any], present: object) -> list[Wanted[McpServersSet]]:
        """Replace the MCP servers, in one step or two; raises InvalidOptions.

        The CLI goes on with a server whose name stays. One that is another object now must leave before it comes.
        """
        if not isinstance(servers, Mapping):
            raise InvalidOptions("mcp_servers: must be a mapping of names to servers")
        self._options.replace(mcp_servers=servers)
        for name, server in split_servers(servers)[0].items():
            check_server(name, server)
        steps = [dict(servers)]
        if isinstance(present, Mapping):
            kept = {name: server for name, server in servers.items() if not is_replaced(present.get(name), server)}
            steps = steps if len(kept) == len(servers) else [kept, *steps]
        read = McpServersSet.read
        return [Wanted(control.McpSetServers(named_servers(step)), self._timeout, read, step) for step in steps]

    def control(self, subtype: str, fields: Mapping[str, Any], timeout: float | None) -> Wanted[dict[str, Any]]:
        """Send any request."""
        request = control.OpenRequest(subtype, fields)
        return Wanted(request, self._timeout if timeout is None else timeout, lambda payload: dict(payload or {}))


def _nothing(_payload: Payload) -> None:
    return None
