"""Servers of the `mcp` package, hosted in this process through its own in-memory transport."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.mcp_peer import DEADLINE, Loop, Peer

from claude_actors.callbacks.context import CallbackContext
from claude_actors.errors import InvalidOptions
from claude_actors.mcp.host import host_for
from claude_actors.mcp.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, REQUEST_CANCELLED
from claude_actors.mcp.official import OfficialServerHost

mcp: Any = pytest.importorskip("mcp.server")
CONNECTION_CLOSED = -32000
IS_MCP_2 = hasattr(importlib.import_module("mcp.types"), "jsonrpc_message_adapter")
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
PeerOf = Callable[[object], Peer]


def high_level(**settings: Any) -> Any:
    """Make the package's high-level server, whatever it is called in this version."""
    if IS_MCP_2:
        return mcp.MCPServer("official", **settings)
    return importlib.import_module("mcp.server.fastmcp").FastMCP("official", **settings)


def low_level() -> Any:
    """Make a low-level server with one tool."""
    types: Any = importlib.import_module("mcp.types")
    tool = types.Tool(name="low", inputSchema={"type": "object"})
    content = [types.TextContent(type="text", text="from below")]
    if IS_MCP_2:

        async def on_list(ctx: Any, params: Any) -> Any:
            return types.ListToolsResult(tools=[tool])

        async def on_call(ctx: Any, params: Any) -> Any:
            return types.CallToolResult(content=content)

        return mcp.Server("low", on_list_tools=on_list, on_call_tool=on_call)
    server = mcp.Server("low")

    async def list_tools() -> Any:
        return [tool]

    async def call_tool(name: str, arguments: Any) -> Any:
        return content

    server.list_tools()(list_tools)
    server.call_tool()(call_tool)
    return server


class Stuck:
    """A tool that never ends by itself."""

    def __init__(self) -> None:
        self.started, self.ended = threading.Event(), threading.Event()

    async def __call__(self) -> str:
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        return "unreachable"

    def register(self, server: Any) -> None:
        server.tool(name="stuck")(self._as_function())

    def _as_function(self) -> Any:
        async def stuck() -> str:
            return await self()

        return stuck


def ready(peer: Peer) -> Peer:
    peer.result("initialize", INITIALIZE)
    peer.notify("notifications/initialized")
    return peer


def test_a_high_level_server_lists_and_runs_its_tools(peer_of: PeerOf) -> None:
    server = high_level()

    @server.tool()  # type: ignore[untyped-decorator]
    async def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    peer = peer_of(server)
    assert peer.result("initialize", INITIALIZE)["serverInfo"]["name"] == "official"
    peer.notify("notifications/initialized")
    (tool,) = peer.result("tools/list")["tools"]
    assert (tool["name"], tool["description"]) == ("add", "Add two numbers.")
    assert peer.text("add", a=1, b=2) == "3"
    assert peer.result("ping") == {}


def test_a_low_level_server_lists_and_runs_its_tools(peer_of: PeerOf) -> None:
    peer = ready(peer_of(low_level()))
    assert [tool["name"] for tool in peer.result("tools/list")["tools"]] == ["low"]
    assert peer.text("low") == "from below"


def test_the_official_sdks_wrapping_of_a_server_is_understood(peer_of: PeerOf) -> None:
    peer = ready(peer_of({"type": "sdk", "name": "low", "instance": low_level()}))
    assert peer.text("low") == "from below"


def test_errors_of_tools_and_of_the_protocol_come_back(peer_of: PeerOf) -> None:
    server = high_level()

    @server.tool()  # type: ignore[untyped-decorator]
    async def fails() -> str:
        raise ValueError("no")

    peer = ready(peer_of(server))
    assert peer.call("fails")["isError"] is True
    assert "error" in peer.request("no/such/method")
    reply = peer.send([])
    assert reply is not None
    assert reply["error"]["code"] == INVALID_REQUEST


@pytest.mark.parametrize("message_id", ["c7a2:0", 0, -7, ""])
def test_ids_come_back_as_they_went(peer_of: PeerOf, message_id: str | int) -> None:
    reply = ready(peer_of(low_level())).send({"jsonrpc": "2.0", "id": message_id, "method": "ping"})
    assert reply == {"jsonrpc": "2.0", "id": message_id, "result": {}}


def test_calls_run_side_by_side_even_with_one_id(peer_of: PeerOf) -> None:
    server = high_level()
    arrived = [asyncio.Event(), asyncio.Event()]

    @server.tool()  # type: ignore[untyped-decorator]
    async def meet(me: int) -> str:
        arrived[me].set()
        await arrived[1 - me].wait()
        return f"I am {me}"

    def message(me: int) -> dict[str, Any]:
        params = {"name": "meet", "arguments": {"me": me}}
        return {"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": params}

    peer = ready(peer_of(server))
    replies = [peer.start(message(me)).result for me in (0, 1)]
    texts = [reply(DEADLINE)["result"]["content"][0]["text"] for reply in replies]
    assert texts == ["I am 0", "I am 1"]


def test_two_sessions_have_each_their_own_connection(peer_of: PeerOf) -> None:
    server = low_level()
    one, other = ready(peer_of(server)), ready(peer_of(server))
    closing = one.host.close()
    assert closing is not None
    closing.result(DEADLINE)
    assert other.text("low") == "from below"


def by_notification(peer: Peer, call: concurrent.futures.Future[Any]) -> None:
    peer.notify("notifications/cancelled", {"requestId": "c:1"})


def by_control_request(peer: Peer, call: concurrent.futures.Future[Any]) -> None:
    peer.host.cancelled("control-7")


@pytest.mark.parametrize("cancel", [by_notification, by_control_request])
def test_a_cancelled_call_is_ended_at_once_and_the_server_goes_on(peer_of: PeerOf, cancel: Any) -> None:
    server, stuck = high_level(), Stuck()
    stuck.register(server)
    peer = ready(peer_of(server))
    message = {"jsonrpc": "2.0", "id": "c:1", "method": "tools/call", "params": {"name": "stuck", "arguments": {}}}
    call = peer.start(message, CallbackContext(request_id="control-7"))
    assert stuck.started.wait(DEADLINE)
    cancel(peer, call)
    assert call.result(DEADLINE)["error"]["code"] == REQUEST_CANCELLED
    if IS_MCP_2:
        assert stuck.ended.wait(DEADLINE)
    assert peer.result("ping") == {}


@pytest.mark.skipif(not IS_MCP_2, reason="mcp 1 cannot cancel a handler safely")
def test_the_runner_that_gives_up_ends_the_tool(peer_of: PeerOf) -> None:
    server, stuck = high_level(), Stuck()
    stuck.register(server)
    peer = ready(peer_of(server))
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "stuck", "arguments": {}}}
    future = peer.host.handle(message, CallbackContext())
    assert isinstance(future, concurrent.futures.Future)
    assert stuck.started.wait(DEADLINE)
    future.cancel()
    assert stuck.ended.wait(DEADLINE)
    assert peer.result("ping") == {}


@pytest.mark.filterwarnings("ignore::Warning")  # mcp 2 warns that roots are on their way out
def test_requests_of_the_server_to_its_client_are_refused_at_once(peer_of: PeerOf) -> None:
    server = high_level()
    context = importlib.import_module("mcp.server.mcpserver" if IS_MCP_2 else "mcp.server.fastmcp").Context
    refusals: list[Any] = []

    async def asks(ctx: Any) -> str:
        await ctx.session.send_ping()
        try:
            await ctx.session.list_roots()
        except Exception as error:
            refusals.append(error)
        return "asked"

    asks.__annotations__["ctx"] = context
    server.tool()(asks)
    peer = peer_of(server)
    peer.result("initialize", {**INITIALIZE, "capabilities": {"roots": {}}})
    peer.notify("notifications/initialized")
    assert peer.text("asks") == "asked"
    assert refusals[0].error.code == METHOD_NOT_FOUND


def test_the_lifespan_lasts_from_the_first_message_to_the_close(peer_of: PeerOf) -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[None]:
        seen.append("entered")
        yield
        await asyncio.sleep(0)
        seen.append("left")

    peer = peer_of(high_level(lifespan=lifespan))
    assert seen == []
    ready(peer)
    assert seen == ["entered"]
    closing = peer.host.close()
    assert closing is not None
    closing.result(DEADLINE)
    assert seen == ["entered", "left"]


def test_after_the_close_requests_fail_and_closing_again_is_nothing(peer_of: PeerOf) -> None:
    peer = ready(peer_of(low_level()))
    for _ in range(2):
        closing = peer.host.close()
        assert closing is not None
        closing.result(DEADLINE)
    error = peer.request("ping")["error"]
    assert error["code"] == INTERNAL_ERROR
    assert "closed" in error["message"]


def test_closing_ends_what_is_running(peer_of: PeerOf) -> None:
    server, stuck = high_level(), Stuck()
    stuck.register(server)
    peer = ready(peer_of(server))
    call = peer.start({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "stuck", "arguments": {}}})
    assert stuck.started.wait(DEADLINE)
    closing = peer.host.close()
    assert closing is not None
    closing.result(DEADLINE)
    # mcp 2 answers what it drops itself, as "connection closed".
    assert call.result(DEADLINE)["error"]["code"] in (INTERNAL_ERROR, CONNECTION_CLOSED)
    assert stuck.ended.is_set()


@pytest.mark.parametrize("error", [RuntimeError("no database at /srv/db/x"), SystemExit(3)])
def test_a_server_that_cannot_start_says_so_until_it_is_initialized_anew(peer_of: PeerOf, error: BaseException) -> None:
    failing = [error]

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[None]:
        if failing:
            raise failing.pop()
        yield

    peer = peer_of(high_level(lifespan=lifespan))
    failure = peer.request("initialize", INITIALIZE)["error"]
    assert failure["code"] == INTERNAL_ERROR
    assert type(error).__name__ in failure["message"]
    assert "/srv" not in failure["message"]
    assert "stopped" in peer.request("ping")["error"]["message"]
    assert ready(peer).result("ping") == {}


def test_a_notification_before_the_start_starts_nothing(peer_of: PeerOf, loop: Loop) -> None:
    peer = peer_of(low_level())
    peer.notify("notifications/initialized")
    peer.host.cancelled("control-1")
    assert loop.tasks() == []


def test_closing_without_a_loop_is_nothing() -> None:
    def gone(coroutine: Any) -> Any:
        raise RuntimeError("Event loop is closed")

    host = OfficialServerHost(low_level(), gone)
    assert host.close() is None
    host.cancelled("control-1")
    with pytest.raises(RuntimeError, match="closed"):
        host.handle({"jsonrpc": "2.0", "id": 1, "method": "ping"}, CallbackContext())


def test_a_server_of_the_package_needs_a_loop_and_must_be_one() -> None:
    with pytest.raises(InvalidOptions, match="event loop"):
        host_for("mine", low_level())
    types: Any = importlib.import_module("mcp.types")
    with pytest.raises(InvalidOptions, match=r"mcp_servers\['mine'\].*no (MCP )?server"):
        host_for("mine", types.TextContent(type="text", text="x"), lambda coroutine: concurrent.futures.Future())
