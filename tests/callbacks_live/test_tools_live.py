"""A `ToolServer` in a live session: how its tools are listed, called and answered."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import msgspec
import pytest
from support.live_session import live

from claude_actors import (
    Allow,
    CallbackContext,
    CallbackCrashed,
    Image,
    Resource,
    Text,
    ToolError,
    ToolResult,
    ToolServer,
)
from claude_actors.mcp.jsonrpc import INTERNAL_ERROR
from claude_actors.testing import CallMcp, UseTool, reply, script

PERMIT: dict[str, Any] = {"can_use_tool": lambda request, ctx: Allow()}


class Point(msgspec.Struct):
    x: int
    y: Annotated[int, msgspec.Meta(description="upwards")] = 0


class Distance(msgspec.Struct):
    squared: int


def shop() -> ToolServer:
    """A server with a tool of every kind."""
    server = ToolServer("shop", version="2.1.0")

    @server.tool
    def add(a: int, b: int = 1) -> int:
        """Add two numbers.

        This paragraph is not for the model.
        """
        return a + b

    @server.tool
    async def measure(point: Point) -> Distance:
        """Measure from the origin."""
        await asyncio.sleep(0)
        return Distance(point.x**2 + point.y**2)

    @server.tool
    def show() -> list[Text | Image | Resource]:
        return [Text("look"), Image(b"\x89PNG"), Resource("file:///a", "text")]

    @server.tool
    def fail() -> str:
        raise LookupError("no such thing in /srv/private/place")

    @server.tool
    def refuse() -> ToolResult:
        raise ToolError("sold out")

    @server.tool
    def odd() -> object:
        return object()

    @server.tool
    def whose(ctx: CallbackContext) -> dict[str, Any]:
        return {"tool_use_id": ctx.tool_use_id, "session_id": ctx.session_id}

    return server


def call(tool: str, arguments: dict[str, Any], label: str = "call", **more: Any) -> CallMcp:
    return CallMcp("shop", "tools/call", {"name": tool, "arguments": arguments}, label=label, **more)


def test_the_model_uses_a_typed_tool_and_reads_its_result() -> None:
    use = reply(UseTool("mcp__shop__add", {"a": 2, "b": 3}))
    with live(script(use, "done"), mcp_servers={"shop": shop()}, **PERMIT) as stage:
        assert stage.ask().result == "done"
        assert stage.told()[1] == "5"
        (status,) = stage.session.mcp_status()
        assert (status.name, status.status) == ("shop", "connected")
        assert status.server_info == {"name": "shop", "version": "2.1.0"}


def test_the_cli_is_told_of_the_server_without_anything_secret() -> None:
    with live(script("hi"), mcp_servers={"shop": shop()}) as stage:
        assert stage.initialize["sdkMcpServers"] == ["shop"]
        (config,) = [word for word in stage.fake.runs()[0].argv if word.startswith("--mcp-config=")]
        named = msgspec.json.decode(config.removeprefix("--mcp-config="))
        assert named == {"mcpServers": {"shop": {"type": "sdk", "name": "shop"}}}


def test_the_tools_are_listed_with_names_descriptions_and_schemas() -> None:
    with live(
        script(reply(CallMcp("shop", "tools/list", label="list"), "done")), mcp_servers={"shop": shop()}
    ) as stage:
        stage.ask()
        tools = {tool["name"]: tool for tool in stage.answer("list")["mcp_response"]["result"]["tools"]}
    assert tools["add"]["description"] == "Add two numbers."
    assert tools["add"]["inputSchema"] == {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert tools["measure"]["inputSchema"]["properties"]["y"]["description"] == "upwards"
    assert tools["measure"]["outputSchema"]["properties"] == {"squared": {"type": "integer"}}
    assert "inputSchema" in tools["whose"]
    assert tools["whose"]["inputSchema"]["properties"] == {}


RESULTS: dict[str, tuple[CallMcp, dict[str, Any]]] = {
    "number": (call("add", {"a": 2}, "number"), {"content": [{"type": "text", "text": "3"}]}),
    "record": (
        call("measure", {"x": 3, "y": 4}, "record"),
        {"content": [{"type": "text", "text": '{"squared":25}'}], "structuredContent": {"squared": 25}},
    ),
    "blocks": (
        call("show", {}, "blocks"),
        {
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image", "data": "iVBORw==", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "file:///a", "text": "text"}},
            ]
        },
    ),
    "refused": (
        call("refuse", {}, "refused"),
        {"content": [{"type": "text", "text": "sold out"}], "isError": True},
    ),
    "raised": (
        call("fail", {}, "raised"),
        {"content": [{"type": "text", "text": "LookupError: no such thing in <path>"}], "isError": True},
    ),
}


def test_results_and_errors_travel_as_tool_results_without_tracebacks() -> None:
    steps = [step for step, _ in RESULTS.values()]
    with live(script(reply(*steps, "done")), mcp_servers={"shop": shop()}) as stage:
        stage.ask()
        for label, (_, expected) in RESULTS.items():
            assert stage.answer(label)["mcp_response"]["result"] == expected
        assert stage.events(CallbackCrashed) == []


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("add", {"a": "2"}, "Expected `int`, got `str` - at `$.a`"),
        ("add", {}, "missing required field `a`"),
        ("add", {"a": 1, "c": 2}, "unknown field `c`"),
        ("odd", {}, "odd returned something that cannot be sent"),
    ],
)
def test_the_model_is_told_what_is_wrong_with_a_call(tool: str, arguments: dict[str, Any], words: str) -> None:
    use = reply(UseTool(f"mcp__shop__{tool}", arguments))
    with live(script(use, "done"), mcp_servers={"shop": shop()}, **PERMIT) as stage:
        assert stage.ask().result == "done"
        assert words in stage.told()[1]


def test_a_tool_knows_its_tool_use_and_its_session() -> None:
    use = reply(UseTool("mcp__shop__whose", {}, id="toolu_7"))
    with live(script(use, "done"), mcp_servers={"shop": shop()}, **PERMIT) as stage:
        stage.ask()
        told = msgspec.json.decode(stage.told()[1])
        assert told == {"tool_use_id": "toolu_7", "session_id": stage.session.session_id}


def test_a_message_to_a_server_that_is_not_there_fails_alone() -> None:
    step = CallMcp("nobody", "tools/list", label="lost")
    with live(script(reply(step, "done")), mcp_servers={"shop": shop()}) as stage:
        assert stage.ask().result == "done"
        reply_ = stage.answer("lost")["mcp_response"]
        assert reply_["error"]["code"] == INTERNAL_ERROR
        assert "'nobody'" in reply_["error"]["message"]


def test_protocol_methods_ids_and_notifications_are_answered() -> None:
    steps = (
        CallMcp("shop", "ping", label="ping"),
        CallMcp("shop", "resources/list", label="unknown"),
        CallMcp("shop", "notifications/roots", notification=True, label="note"),
    )
    with live(script(reply(*steps, "done")), mcp_servers={"shop": shop()}) as stage:
        stage.ask()
        ping = stage.answer("ping")["mcp_response"]
        assert isinstance(ping["id"], str)
        assert ping["result"] == {}
        assert stage.answer("unknown")["mcp_response"]["error"]["code"] == -32601
        assert stage.answer("note") == {"mcp_response": {"jsonrpc": "2.0", "result": {}}}
