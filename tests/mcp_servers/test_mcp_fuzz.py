"""Whatever JSON arrives: a server answers or stays silent, never raises, and gives ids back."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from claude_actors.callbacks.context import CallbackContext
from claude_actors.mcp.host import host_for, mcp_answer, mcp_fallback, tool_use_id_of
from claude_actors.mcp.server import ToolServer


class Point(msgspec.Struct):
    x: int
    y: float = 0.0


server = ToolServer("fuzzed")


@server.tool
def tool(points: list[Point], name: str | None = None) -> Point:
    return points[0]


@server.tool
def whole(point: Point) -> dict[str, Any]:
    return {"x": point.x}


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
anything = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)
points = st.fixed_dictionaries({}, optional={"x": st.integers() | anything, "y": st.floats(allow_nan=False) | anything})
arguments = (
    anything | points | st.fixed_dictionaries({}, optional={"points": st.lists(points) | anything, "name": anything})
)
params = anything | st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["tool", "whole"]) | anything,
        "arguments": arguments,
        "protocolVersion": st.sampled_from(["2025-11-25"]) | anything,
        "requestId": anything,
        "_meta": anything,
    },
)
methods = st.sampled_from(["initialize", "ping", "tools/list", "tools/call", "notifications/cancelled", "result"])
messages = anything | st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | anything,
        "id": st.text() | st.integers() | anything,
        "method": methods | anything,
        "params": params,
        "result": anything,
    },
)


@given(messages)
def test_any_json_is_answered_in_json_with_its_id_and_without_an_exception(message: Any) -> None:
    host = host_for("fuzzed", server)
    assert not host.is_async(message)
    reply = host.handle(message, CallbackContext())
    assert not inspect.isawaitable(reply)
    if reply is not None:
        assert isinstance(reply, dict)
        assert reply["id"] == (message.get("id") if isinstance(message, dict) else None)
        assert ("result" in reply) != ("error" in reply)
    msgspec.json.encode(mcp_answer(message, reply))
    msgspec.json.encode(mcp_fallback(message, "reason"))
    tool_use_id_of(message)


@given(arguments)
def test_any_arguments_end_in_a_result(given_arguments: Any) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    reply = host_for("fuzzed", server).handle(
        {**message, "params": {"name": "tool", "arguments": given_arguments}}, CallbackContext()
    )
    assert isinstance(reply, dict)
    if given_arguments is None or isinstance(given_arguments, dict):
        assert isinstance(reply["result"]["content"], list)
    else:
        assert reply["error"]["code"] == -32602
