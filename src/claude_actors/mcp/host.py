"""How a session talks to an in-process MCP server, whatever kind of server it is.

`host_for` makes one host for one server in one session; whoever runs callbacks gives it JSON-RPC messages and
wraps what comes back with `mcp_answer` or, when nothing usable came in time, `mcp_fallback`. It starts no thread.
"""

from __future__ import annotations

import concurrent.futures
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol, runtime_checkable

from claude_actors.callbacks.context import CallbackContext
from claude_actors.errors import InvalidOptions
from claude_actors.mcp import jsonrpc
from claude_actors.mcp.official import OfficialServerHost, RunOnLoop
from claude_actors.mcp.schema import is_coroutine_function
from claude_actors.mcp.server import ToolServer
from claude_actors.mcp.tool_host import ToolServerHost

JsonObject = dict[str, Any]
RawHandler = Callable[[JsonObject], JsonObject | Awaitable[JsonObject | None] | None]
Outcome = JsonObject | Awaitable[JsonObject | None] | concurrent.futures.Future[JsonObject | None] | None


@runtime_checkable
class McpHost(Protocol):
    """One in-process server as one session sees it. All methods may be called from any thread."""

    def handle(self, message: JsonObject, ctx: CallbackContext) -> Outcome:
        """Take one message; give the reply, `None` if none is owed, or what will become one (see `settled`).

        May run user code and block, unless `is_async(message)`.
        """

    def is_async(self, message: JsonObject) -> bool:
        """Say whether this message belongs on the shared event loop: `handle` will not block and gives an awaitable."""

    def cancelled(self, request_id: str) -> None:
        """Learn that the control request of this id (`ctx.request_id`) needs no reply any more. Never blocks."""

    def close(self) -> concurrent.futures.Future[None] | None:
        """End whatever is still running, for good. Never blocks; a future, if given, is done when nothing is left."""


def host_for(name: str, server: object, run_on_loop: RunOnLoop | None = None) -> McpHost:
    """Make the host of one server for one session.

    `server` is a `ToolServer`, a raw handler, a server object of the `mcp` package (which needs `run_on_loop`), the
    official SDK's `{"type": "sdk", "instance": …}`, or a ready host. Raises `InvalidOptions` for anything else.
    """
    server = served(server)
    if isinstance(server, ToolServer):
        return ToolServerHost(server)
    if _is_official(server):
        return _official_host(name, server, run_on_loop)
    if isinstance(server, McpHost) and not inspect.isclass(server):
        return server
    if callable(server) and not inspect.isclass(server):
        return RawHost(server)
    raise InvalidOptions(
        f"mcp_servers[{name!r}]: {type(server).__name__} is no MCP server; give a ToolServer, a function "
        "(message) -> reply, a server of the mcp package, or a configuration mapping"
    )


def check_server(name: str, server: object) -> None:
    """Raise `InvalidOptions` for what `host_for` could not host."""
    host_for(name, server, _never_run)


def is_in_process(server: object) -> bool:
    """Say whether a value of `Options.mcp_servers` is served by this process, not by the CLI from a configuration."""
    return not isinstance(server, Mapping) or server.get("type") == "sdk"


def is_replaced(old: object, new: object) -> bool:
    """Say whether both are served by this process, and are not the same server."""
    both = old is not None and is_in_process(old) and is_in_process(new)
    return both and served(old) is not served(new)


def served(server: object) -> object:
    """Give the server itself, taken out of the official SDK's `{"type": "sdk", "instance": …}`."""
    return server["instance"] if isinstance(server, Mapping) and "instance" in server else server


async def settled(outcome: Outcome) -> JsonObject | None:
    """Await what `McpHost.handle` gave, whichever of its forms it is. Cancelling this cancels the call."""
    if isinstance(outcome, concurrent.futures.Future):
        import asyncio  # 20 ms, and loaded already where a coroutine runs

        return await asyncio.wrap_future(outcome)
    return await outcome if isinstance(outcome, Awaitable) else outcome


def mcp_answer(message: object, reply: object) -> JsonObject:
    """Make the control response's payload for a reply. A notification is answered too, with an empty result."""
    if isinstance(reply, dict):
        return {"mcp_response": reply}
    if isinstance(message, dict) and "id" in message and "method" in message:
        # The CLI would wait for ever for a request that gets no reply.
        return mcp_fallback(message, "the server gave no reply" if reply is None else "the server's reply is no object")
    return {"mcp_response": {"jsonrpc": "2.0", "result": {}}}


def mcp_fallback(message: object, reason: str) -> JsonObject:
    """Make the payload that fails this one message: JSON-RPC internal error, with the id as it came."""
    message_id = message.get("id") if isinstance(message, dict) else None
    return {"mcp_response": jsonrpc.failure(message_id, jsonrpc.INTERNAL_ERROR, reason)}


def tool_use_id_of(message: object) -> str | None:
    """Find the tool use that the CLI made a `tools/call` for, as hooks and messages name it."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    found = meta.get("claudecode/toolUseId") if isinstance(meta, dict) else None
    return found if isinstance(found, str) else None


class RawHost:
    """A user's function as a server: messages and replies pass through untouched, and so do its exceptions."""

    def __init__(self, handler: RawHandler) -> None:
        self._handler = handler
        self._is_async = is_coroutine_function(handler)

    def handle(self, message: JsonObject, ctx: CallbackContext) -> Outcome:
        return self._handler(message)

    def is_async(self, message: JsonObject) -> bool:
        return self._is_async

    def cancelled(self, request_id: str) -> None:
        """Nothing to do: the handler is given no context, and its coroutine is cancelled by whoever runs it."""

    def close(self) -> None:
        """Nothing is kept."""


def _is_official(server: object) -> bool:
    # By name, so that the mcp package is imported only where somebody uses it.
    if any(base.__module__.partition(".")[0] == "mcp" for base in type(server).__mro__):
        return True
    return "_mcp_server" in getattr(server, "__dict__", ())  # the independent fastmcp package's


def _never_run(coroutine: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
    raise AssertionError(f"a server that is only looked at wants to run {coroutine!r}")


def _official_host(name: str, server: object, run_on_loop: RunOnLoop | None) -> McpHost:
    if run_on_loop is None:
        raise InvalidOptions(f"mcp_servers[{name!r}]: a server of the mcp package needs an event loop to live on")
    return OfficialServerHost(server, run_on_loop, name=name)
