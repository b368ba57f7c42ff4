"""Servers of the official `mcp` package, low-level or high-level, hosted in this process for one session.

The server runs on the shared event loop, from the first message until `close`, behind that package's own in-memory
transport (see `official_link`). A server that ended by itself says so to every message until the CLI initializes it
anew. Here every thread may call; the link is touched on the loop only.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from claude_actors.callbacks.context import CallbackContext
from claude_actors.errors import InvalidOptions
from claude_actors.mcp import jsonrpc

if TYPE_CHECKING:
    from claude_actors.mcp.official_link import OfficialLink

JsonObject = dict[str, Any]
RunOnLoop = Callable[[Coroutine[Any, Any, Any]], concurrent.futures.Future[Any]]
"""Submit a coroutine to the shared event loop from any thread: `asyncio.run_coroutine_threadsafe(coro, loop)`."""


class OfficialServerHost:
    """One server of the `mcp` package as one session sees it; satisfies `McpHost`.

    Requests of the server to its client (sampling, elicitation, roots) are refused as unsupported, its notifications
    dropped: the CLI offers no way back.
    """

    def __init__(self, server: object, run_on_loop: RunOnLoop, *, name: str = "server") -> None:
        """Take a server without starting it; raises `InvalidOptions` if it is none."""
        self._server = lowlevel_server(name, server)
        self._run_on_loop = run_on_loop
        self._name = name
        self._link: OfficialLink | None = None
        self._closed = False

    def handle(
        self, message: JsonObject, ctx: CallbackContext
    ) -> concurrent.futures.Future[JsonObject | None] | JsonObject:
        """Hand a message to the server. Never blocks; cancelling the future cancels the request."""
        incoming = jsonrpc.classify(message)
        if isinstance(incoming, jsonrpc.Invalid):
            return incoming.reply
        return self._submit(self._exchange(incoming, ctx.request_id))

    def is_async(self, message: JsonObject) -> bool:
        return True

    def cancelled(self, request_id: str) -> None:
        """Cancel the request that came with this control request."""
        self._quietly(self._cancel(request_id))

    def close(self) -> concurrent.futures.Future[None] | None:
        """End the server; the future is done when none of its tasks is left."""
        self._closed = True
        return self._quietly(self._close())

    async def _exchange(self, incoming: jsonrpc.Incoming, control_id: str) -> JsonObject | None:
        if isinstance(incoming, jsonrpc.Request):
            link = await self._link_for(incoming.method)
            if isinstance(link, str):
                return jsonrpc.failure(incoming.id, jsonrpc.INTERNAL_ERROR, link)
            return await link.request(incoming, control_id)
        if isinstance(incoming, jsonrpc.Notification) and self._link is not None:
            await self._link.notify(incoming)
        return None

    async def _link_for(self, method: str) -> OfficialLink | str:
        """Give the live link, starting one where that is due, or the reason why there is none."""
        ended = self._link if self._link is not None and self._link.ended else None
        if ended is not None and method == "initialize":
            await ended.close()
            self._link = None if self._link is ended else self._link
        if self._closed:
            return f"MCP server {self._name!r} is closed"
        if self._link is None:
            from claude_actors.mcp.official_link import OfficialLink  # asyncio: 20 ms that few programs need

            self._link = OfficialLink(self._name, self._server)
        return f"MCP server {self._name!r} stopped: {self._link.end_reason}" if self._link.ended else self._link

    async def _cancel(self, control_id: str) -> None:
        if self._link is not None:
            self._link.cancel_where(lambda waiting: waiting.control_id == control_id)

    async def _close(self) -> None:
        if self._link is not None:
            await self._link.close()

    def _submit(self, coroutine: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
        try:
            return self._run_on_loop(coroutine)
        except BaseException:
            coroutine.close()
            raise

    def _quietly(self, coroutine: Coroutine[Any, Any, None]) -> concurrent.futures.Future[None] | None:
        try:
            return self._submit(coroutine)
        except RuntimeError:
            return None  # the loop is gone, and everything that ran on it


def lowlevel_server(name: str, server: Any) -> Any:
    """Find the low-level server in a high-level one (`MCPServer`, `FastMCP`); raises `InvalidOptions` for neither."""
    inside = vars(server) if hasattr(server, "__dict__") else {}
    found = inside.get("_lowlevel_server") or inside.get("_mcp_server") or server
    if not (callable(getattr(found, "run", None)) and hasattr(found, "create_initialization_options")):
        raise InvalidOptions(f"mcp_servers[{name!r}]: {type(server).__name__} is no server of the mcp package")
    return found
