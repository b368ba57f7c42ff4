"""Scenarios: tools that run in this process."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import msgspec

from claude_actors import (
    Allow,
    CallbackContext,
    CallbackTimedOut,
    Hooks,
    ReplaceOutput,
    ToolError,
    ToolPermissionRequest,
    ToolServer,
)
from claude_actors.hook_events import PostToolUse
from claude_actors.testing import UseTool, reply
from claude_actors.testing.conformance.scenarios import Group, NotHere
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.conformance.talk import PATIENCE

group = Group("tool servers")


class Point(msgspec.Struct):
    """A place in the plane."""

    x: int
    y: int


def calculator() -> ToolServer:
    """Make a server of a few typed tools."""
    server = ToolServer("calc", version="2.0.0")

    @server.tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool
    async def mirror(point: Point) -> Point:
        """Mirror a point."""
        return Point(-point.x, -point.y)

    @server.tool
    def refuse() -> str:
        """Refuse."""
        raise ToolError("not today")

    @server.tool
    def crash() -> str:
        """Crash."""
        raise RuntimeError("out of order")

    return server


def use(tool: str, **arguments: Any) -> UseTool:
    """Make the call of a tool of the calculator."""
    return UseTool(f"mcp__calc__{tool}", arguments)


@group.scenario
def a_typed_tool_is_called_with_its_arguments(stage: Stage) -> None:
    stage.play(reply(use("add", a=20, b=22)), reply(use("mirror", x=1, y=2)), "done")
    with stage.talk("go", mcp_servers={"calc": calculator()}, allowed_tools=["mcp__calc"]) as talk:
        assert talk.result().result == "done"
        (total, first_failed), (point, second_failed) = talk.tool_results
        assert (total, first_failed, second_failed) == ("42", False, False)
        assert msgspec.json.decode(point, type=Point) == Point(-1, -2)
        assert "mcp__calc__add" in talk.inits[0].tools
        assert [(server["name"], server["status"]) for server in talk.inits[0].mcp_servers] == [("calc", "connected")]


@group.scenario
def a_tool_that_fails_tells_the_model_and_the_turn_goes_on(stage: Stage) -> None:
    stage.play(reply(use("refuse")), reply(use("crash")), reply(use("add", a="x", b=1)), "done")
    with stage.talk("go", mcp_servers={"calc": calculator()}, allowed_tools=["mcp__calc"]) as talk:
        assert talk.result().result == "done"
        assert [failed for _, failed in talk.tool_results] == [True, True, True]
        assert "not today" in talk.tool_results[0][0]


@group.scenario
def the_permission_for_a_tool_of_ours_is_asked_too(stage: Stage) -> None:
    stage.play(reply(use("add", a=1, b=1)), "done")
    asked: list[str] = []

    def allow(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        asked.append(request.tool_name)
        return Allow(updated_input={"a": 2, "b": 3})

    with stage.talk("go", mcp_servers={"calc": calculator()}, can_use_tool=allow) as talk:
        talk.result()
        assert talk.tool_results == [("5", False)]
    assert asked == ["mcp__calc__add"]


@group.scenario
def what_a_tool_of_ours_gave_can_be_replaced_by_a_hook(stage: Stage) -> None:
    stage.play(reply(use("add", a=1, b=1)), "done")
    hooks = Hooks()

    @hooks.post_tool_use(matcher="mcp__calc__.*")
    def redact(event: PostToolUse, ctx: CallbackContext) -> ReplaceOutput:
        return ReplaceOutput([{"type": "text", "text": "a number"}])

    with stage.talk("go", hooks=hooks, mcp_servers={"calc": calculator()}, allowed_tools=["mcp__calc"]) as talk:
        talk.result()
        assert talk.tool_results == [("a number", False)]


@group.scenario
def two_tools_of_one_reply_run_at_the_same_time(stage: Stage) -> None:
    if stage.name == "fake":
        raise NotHere("the fake runs tools one after the other")
    server, meeting = ToolServer("calc"), threading.Barrier(2)

    @server.tool(annotations={"readOnlyHint": True})
    def meet(name: str) -> str:
        """Wait for the other call."""
        meeting.wait(PATIENCE)
        return name

    stage.play(reply(use("meet", name="one"), use("meet", name="two")), "done")
    with stage.talk("go", mcp_servers={"calc": server}, allowed_tools=["mcp__calc"]) as talk:
        assert talk.result().result == "done"
        assert sorted(talk.tool_results) == [("one", False), ("two", False)]


@group.scenario
def a_tool_that_overruns_fails_alone(stage: Stage) -> None:
    server = ToolServer("calc")

    @server.tool
    def hang(ctx: CallbackContext) -> str:
        """Take too long."""
        ctx.wait_cancelled(PATIENCE)
        return "too late"

    stage.play(reply(use("hang")), "done")
    with stage.talk("go", mcp_servers={"calc": server}, allowed_tools=["mcp__calc"], mcp_timeout=1.0) as talk:
        assert talk.result().result == "done"
        assert [failed for _, failed in talk.tool_results] == [True]
    assert [event.kind for event in talk.saw(CallbackTimedOut)] == ["mcp"]


@group.scenario
def a_server_of_the_mcp_package_is_hosted_as_it_is(stage: Stage) -> None:

    async def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    server = _official_server("calc")
    server.tool()(add)
    stage.play(reply(use("add", a=20, b=22)), "done")
    with stage.talk("go", mcp_servers={"calc": server}, allowed_tools=["mcp__calc"]) as talk:
        assert talk.result().result == "done"
        ((text, failed),) = talk.tool_results
        assert not failed
        assert "42" in text


def _official_server(name: str) -> Any:
    """Make the mcp package's high-level server, whatever it is called in this version."""
    try:
        module: Any = importlib.import_module("mcp.server")
    except ImportError:
        raise NotHere("the mcp package is not installed") from None
    if hasattr(module, "MCPServer"):
        return module.MCPServer(name)
    return importlib.import_module("mcp.server.fastmcp").FastMCP(name)
