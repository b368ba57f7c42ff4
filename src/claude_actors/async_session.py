"""The operations of a session as coroutines: `session.aio`. They suspend the caller and never block its loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from claude_actors.errors import StartTimeout, StopTimeout
from claude_actors.events import FinalEvent
from claude_actors.wire.control_results import (
    Interrupted,
    McpServersSet,
    McpServerState,
    RewindResult,
    join_servers_set,
)

if TYPE_CHECKING:
    from claude_actors.session import Session


class AsyncSession:
    """The awaitable twin of a session's blocking operations; errors and meaning are those of `Session`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def interrupt(self) -> Interrupted:
        """End the running turn."""
        return await self._session._request(self._session._operations.interrupt())

    async def set_model(self, model: str | None = None) -> str | None:
        """Change the model."""
        return await self._session._request(self._session._operations.set_model(model))

    async def set_permission_mode(self, mode: str) -> str:
        """Change the permission mode."""
        return await self._session._request(self._session._operations.set_permission_mode(mode))

    async def set_max_thinking_tokens(self, tokens: int | None = None) -> None:
        """Change the thinking budget."""
        await self._session._request(self._session._operations.set_max_thinking_tokens(tokens))

    async def rewind_files(self, user_message_id: str, dry_run: bool = False) -> RewindResult:
        """Put files back."""
        return await self._session._request(self._session._operations.rewind_files(user_message_id, dry_run))

    async def mcp_status(self) -> tuple[McpServerState, ...]:
        """Return the state of every MCP server."""
        return await self._session._request(self._session._operations.mcp_status())

    async def reconnect_mcp_server(self, name: str) -> None:
        """Connect an MCP server again."""
        await self._session._request(self._session._operations.reconnect_mcp_server(name))

    async def toggle_mcp_server(self, name: str, enabled: bool) -> None:
        """Switch an MCP server on or off."""
        await self._session._request(self._session._operations.toggle_mcp_server(name, enabled))

    async def set_mcp_servers(self, servers: Mapping[str, Any]) -> McpServersSet:
        """Have these MCP servers instead of the present ones."""
        steps = self._session._operations.set_mcp_servers(servers, self._session.options.mcp_servers)
        return join_servers_set([await self._session._request(step) for step in steps])

    async def control(self, subtype: str, *, timeout: float | None = None, **fields: Any) -> dict[str, Any]:
        """Send any control request."""
        return await self._session._request(self._session._operations.control(subtype, fields, timeout))

    async def wait_running(self, timeout: float | None = None) -> None:
        """Wait until the session runs; raises what kept it from running, or StartTimeout."""
        running = self._session._record.running
        if not await running.wait_async(timeout):
            raise StartTimeout(after=timeout or 0.0)
        running.value()

    async def wait(self, timeout: float | None = None) -> FinalEvent | None:
        """Wait until the session is over and return its final event; None if it was not over in time."""
        await self._session._record.over.wait_async(timeout)
        return self._session.final_event

    async def stop(self, timeout: float | None = None, reason: str = "stop requested") -> FinalEvent:
        """End the session and wait until nothing is left of it; raises StopTimeout as `Session.stop` does."""
        self._session.stop_soon(reason)
        limit = self._session._stop_limit() if timeout is None else timeout
        final = await self.wait(limit)
        if final is None:
            raise StopTimeout(after=limit)
        return final
