"""Every method and error of a `ToolServer`, as the CLI meets them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from support.mcp_peer import Peer

from claude_actors.mcp.host import host_for
from claude_actors.mcp.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from claude_actors.mcp.server import PROTOCOL_VERSIONS, ToolServer


@pytest.mark.parametrize("version", PROTOCOL_VERSIONS)
def test_initialize_speaks_the_clients_version(peer: Peer, version: str) -> None:
    assert peer.result("initialize", {"protocolVersion": version, "capabilities": {}}) == {
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "local", "version": "2.1.0"},
    }


@pytest.mark.parametrize("version", ["2099-01-01", "1", ""])
def test_initialize_offers_our_newest_version_for_an_unknown_one(peer: Peer, version: str) -> None:
    assert peer.result("initialize", {"protocolVersion": version})["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("params", [{}, {"protocolVersion": 3}, {"protocolVersion": None}])
def test_initialize_without_a_version_is_refused(peer: Peer, params: dict[str, Any]) -> None:
    assert peer.request("initialize", params)["error"]["code"] == INVALID_PARAMS


def test_initialize_gives_the_instructions() -> None:
    server = ToolServer("s", instructions="Use me.")
    assert server.respond("initialize", {"protocolVersion": "2025-11-25"})["instructions"] == "Use me."


def test_initialize_may_come_again(peer: Peer) -> None:
    first = peer.result("initialize", {"protocolVersion": "2025-06-18"})
    assert peer.result("initialize", {"protocolVersion": "2025-06-18"}) == first


def test_ping_is_answered(peer: Peer) -> None:
    assert peer.result("ping") == {}


def test_tools_are_listed_in_the_order_of_their_registration(server: ToolServer, peer: Peer) -> None:
    for name in ("zebra", "ant", "mole"):
        server.tool(name=name)(lambda: None)
    assert [tool["name"] for tool in peer.result("tools/list")["tools"]] == ["zebra", "ant", "mole"]


def test_a_server_without_tools_lists_none(peer: Peer) -> None:
    assert peer.result("tools/list", {}) == {"tools": []}


@pytest.mark.parametrize(
    "method", ["resources/list", "prompts/list", "completion/complete", "logging/setLevel", "no/such", ""]
)
def test_what_was_not_declared_as_a_capability_is_not_found(peer: Peer, method: str) -> None:
    error = peer.request(method)["error"]
    assert error["code"] == METHOD_NOT_FOUND
    assert method in error["message"]


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "Unknown tool: None"),
        ({"name": "nobody"}, "Unknown tool: nobody"),
        ({"name": ["tool"]}, "Unknown tool"),
        ({"name": "tool", "arguments": [1]}, "arguments must be an object"),
        ({"name": "tool", "arguments": "x"}, "arguments must be an object"),
    ],
)
def test_a_call_that_names_no_tool_or_gives_no_object_is_refused(
    server: ToolServer, peer: Peer, params: dict[str, Any], said: str
) -> None:
    server.tool(name="tool")(lambda: "never")
    error = peer.request("tools/call", params)["error"]
    assert error["code"] == INVALID_PARAMS
    assert said in error["message"]


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_arguments_may_be_left_out(server: ToolServer, peer: Peer, arguments: dict[str, Any]) -> None:
    server.tool(name="tool")(lambda: "done")
    assert peer.result("tools/call", {"name": "tool", **arguments})["content"][0]["text"] == "done"


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "notifications/else"])
def test_notifications_get_no_reply(peer: Peer, method: str) -> None:
    peer.notify(method)


def test_responses_get_no_reply(peer: Peer) -> None:
    assert peer.send({"jsonrpc": "2.0", "id": 1, "result": {}}) is None


@pytest.mark.parametrize("message", [[], [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], 3, None, {}])
def test_what_is_no_message_is_refused(peer: Peer, message: object) -> None:
    reply = peer.send(message)
    assert reply is not None
    assert reply["error"]["code"] == INVALID_REQUEST


def test_only_calls_of_async_tools_belong_on_the_event_loop(server: ToolServer, peer: Peer) -> None:
    async def asynchronous() -> None: ...

    server.tool(asynchronous)
    server.tool(name="sync")(lambda: None)

    def is_async(method: str, **params: Any) -> bool:
        return peer.host.is_async({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    assert is_async("tools/call", name="asynchronous")
    assert not is_async("tools/call", name="sync")
    assert not is_async("tools/call", name="nobody")
    assert not is_async("tools/call")
    assert not is_async("tools/list")


def test_the_repr_names_the_tools(server: ToolServer) -> None:
    assert repr(server) == "<ToolServer local 2.1.0: no tools>"
    server.tool(name="a")(lambda: None)
    assert repr(server) == "<ToolServer local 2.1.0: a>"


def test_two_sessions_may_use_the_same_ids_at_once(server: ToolServer, peer_of: Callable[[object], Peer]) -> None:
    arrived = [asyncio.Event(), asyncio.Event()]

    @server.tool
    async def meet(me: int) -> str:
        arrived[me].set()
        await arrived[1 - me].wait()
        return f"I am {me}"

    def message(me: int) -> dict[str, Any]:
        params = {"name": "meet", "arguments": {"me": me}}
        return {"jsonrpc": "2.0", "id": "same:1", "method": "tools/call", "params": params}

    sessions = [peer_of(server), peer_of(server)]
    replies = [session.start(message(me)) for me, session in enumerate(sessions)]
    texts = [reply.result(30)["result"]["content"][0]["text"] for reply in replies]
    assert texts == ["I am 0", "I am 1"]


def test_an_id_that_is_still_in_use_is_refused_and_the_first_call_goes_on(server: ToolServer, async_peer: Peer) -> None:
    go = asyncio.Event()

    @server.tool
    async def wait() -> str:
        await go.wait()
        return "waited"

    @server.tool
    async def release() -> None:
        go.set()

    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "wait"}}
    first = async_peer.start(message)
    second = async_peer.send(message)
    assert second is not None
    assert second["error"]["code"] == INVALID_REQUEST
    async_peer.call("release")
    assert first.result(30)["result"]["content"][0]["text"] == "waited"
    assert async_peer.send(message) is not None


def test_hosts_of_one_server_are_each_their_own(server: ToolServer) -> None:
    assert host_for("a", server) is not host_for("a", server)
