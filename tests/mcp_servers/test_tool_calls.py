"""Arguments on their way into a tool, and exceptions on their way out."""

from __future__ import annotations

import asyncio
import datetime
import enum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from structlog.testing import capture_logs
from support.mcp_peer import Peer

from claude_actors.callbacks.context import CallbackContext
from claude_actors.errors import ToolError
from claude_actors.mcp.server import ToolServer


class Color(enum.Enum):
    RED = "red"


class Point(msgspec.Struct):
    x: int
    y: int = 0


class Shape(msgspec.Struct):
    points: list[Point]
    color: Color = Color.RED


def test_arguments_arrive_converted(server: ToolServer, peer: Peer) -> None:
    seen: list[Any] = []

    @server.tool
    def tool(shape: Shape, when: datetime.date, ratio: float, mode: Literal["a", "b"] = "a") -> None:
        seen.extend((shape, when, ratio, mode))

    peer.call("tool", shape={"points": [{"x": 1}, {"x": 2, "y": 3}]}, when="2026-01-02", ratio=2)
    assert seen == [Shape([Point(1), Point(2, 3)]), datetime.date(2026, 1, 2), 2.0, "a"]
    assert seen[0].color is Color.RED


def test_a_single_struct_arrives_whole(server: ToolServer, peer: Peer) -> None:
    @server.tool
    def tool(shape: Shape) -> str:
        return f"{len(shape.points)} {shape.color.name}"

    assert peer.text("tool", points=[{"x": 1}], color="red") == "1 RED"


def test_absent_arguments_take_the_functions_own_defaults(server: ToolServer, peer: Peer) -> None:
    default: list[int] = [1]
    seen: list[Any] = []

    @server.tool
    def tool(a: list[int] = default, b: int | None = None, *, c: Color = Color.RED) -> None:
        seen.extend((a, b, c))

    peer.result("tools/call", {"name": "tool"})
    assert seen[0] is default
    assert seen[1:] == [None, Color.RED]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "missing required field `count`"),
        ({"count": "3"}, "Expected `int`, got `str` - at `$.count`"),
        ({"count": True}, "Expected `int`, got `bool` - at `$.count`"),
        ({"count": 1.5}, "at `$.count`"),
        ({"count": 0}, "Expected `int` >= 1 - at `$.count`"),
        ({"count": 1, "points": [{"y": 2}]}, "missing required field `x` - at `$.points[0]`"),
        ({"count": 1, "cuont": 2}, "unknown field `cuont`"),
    ],
)
def test_wrong_arguments_are_told_to_the_model_and_the_tool_is_not_run(
    server: ToolServer, peer: Peer, arguments: dict[str, Any], said: str
) -> None:
    ran: list[int] = []

    @server.tool
    def tool(count: Annotated[int, msgspec.Meta(ge=1)], points: list[Point] = []) -> None:  # noqa: B006
        ran.append(count)

    result = peer.call("tool", **arguments)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("Invalid arguments for tool: ")
    assert said in result["content"][0]["text"]
    assert ran == []


def test_the_context_of_the_call_is_passed(server: ToolServer, peer: Peer) -> None:
    @server.tool
    def tool(point: Point, ctx: CallbackContext) -> str:
        return ctx.request_id

    params = {"name": "tool", "arguments": {"x": 1}}
    ctx = CallbackContext(request_id="mine")
    reply = peer.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, ctx)
    assert reply is not None
    assert reply["result"]["content"][0]["text"] == "mine"


def test_the_decorated_function_is_still_itself(server: ToolServer) -> None:
    @server.tool
    def bare(a: int) -> int:
        return a + 1

    @server.tool(name="other")
    def with_settings(a: int) -> int:
        return a + 2

    assert (bare(1), with_settings(1)) == (2, 3)


def test_an_async_tool_answers(server: ToolServer, async_peer: Peer) -> None:
    @server.tool
    async def tool(a: int) -> int:
        await asyncio.sleep(0)
        return a + 1

    assert async_peer.text("tool", a=1) == "2"


def test_a_function_that_gives_a_coroutine_unannounced_answers(server: ToolServer, async_peer: Peer) -> None:
    async def later(a: int) -> int:
        return a + 1

    @server.tool
    def tool(a: int) -> Any:
        return later(a)

    assert async_peer.text("tool", a=1) == "2"


class Rude(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("bad thing"), "ValueError: bad thing"),
        (KeyError("k"), "KeyError: 'k'"),
        (AssertionError(), "AssertionError"),
        (ToolError("ask for /srv/data/x instead"), "ask for /srv/data/x instead"),
        (ToolError(), "tool refused"),
        (FileNotFoundError(2, "No such file or directory", "/home/me/secret"),
         "FileNotFoundError: No such file or directory"),
        (RuntimeError("in /home/me/app.py, line 3"), "RuntimeError: in <path>, line 3"),
        (RuntimeError("at ~/app/x.py and C:\\me\\app.py"), "RuntimeError: at <path> and <path>"),
        (RuntimeError("see https://example.com/a/b"), "RuntimeError: see https://example.com/a/b"),
        (RuntimeError("1/2/3 and and/or/not"), "RuntimeError: 1/2/3 and and/or/not"),
        (RuntimeError("lone \ud800"), "RuntimeError: lone ?"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (Rude(), "Rude"),
        (RuntimeError("x" * 5000), "RuntimeError: " + "x" * 2000 + "…"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_exception_becomes_words_for_the_model(
    server: ToolServer, async_peer: Peer, error: BaseException, said: str, asynchronous: bool
) -> None:
    def sync_tool() -> None:
        raise error

    async def async_tool() -> None:
        raise error

    server.tool(name="tool")(async_tool if asynchronous else sync_tool)
    result = async_peer.call("tool")
    assert result == {"content": [{"type": "text", "text": said}], "isError": True}
    server.tool(name="next")(lambda: "still serving")
    assert async_peer.text("next") == "still serving"


def test_a_tool_whose_own_await_was_cancelled_has_failed_and_no_more(server: ToolServer, async_peer: Peer) -> None:
    @server.tool
    async def tool() -> None:
        raise asyncio.CancelledError

    assert async_peer.call("tool") == {"content": [{"type": "text", "text": "CancelledError"}], "isError": True}


def test_a_struct_that_refuses_its_values_refuses_the_arguments(server: ToolServer, peer: Peer) -> None:
    server.tool(name="even")(even)
    server.tool(name="broken")(broken)
    assert peer.text("even", value=1) == "Invalid arguments for even: must be even"
    assert peer.text("broken", value=1) == "ZeroDivisionError: integer division or modulo by zero"


class Even(msgspec.Struct):
    value: int

    def __post_init__(self) -> None:
        if self.value % 2:
            raise ValueError("must be even")


class Broken(msgspec.Struct):
    value: int

    def __post_init__(self) -> None:
        self.value = 1 // 0


def even(given: Even) -> None: ...
def broken(given: Broken) -> None: ...


def test_logs_name_the_tool_and_the_error_but_not_what_it_was_given(server: ToolServer, peer: Peer) -> None:
    @server.tool
    def tool(secret: str) -> None:
        raise ValueError(secret)

    with capture_logs() as logs:
        peer.call("tool", secret="hunter2")
    warnings = [entry for entry in logs if entry["log_level"] != "debug"]
    assert warnings == [{"event": "tool_raised", "tool": "tool", "error": "ValueError", "log_level": "warning"}]
