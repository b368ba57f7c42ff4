"""A server of the official `mcp` package, high-level and low-level, hosted in process for a live session."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.leaks import wait_until
from support.live_session import DEADLINE, live

from claude_actors import Allow
from claude_actors.testing import CallMcp, CancelRequest, UseTool, WaitFor, reply, script

mcp: Any = pytest.importorskip("mcp.server")
PERMIT: dict[str, Any] = {"can_use_tool": lambda request, ctx: Allow()}


def high_level(**settings: Any) -> Any:
    """Make the package's high-level server, whatever it is called in this version."""
    if hasattr(mcp, "MCPServer"):
        return mcp.MCPServer("official", **settings)
    return importlib.import_module("mcp.server.fastmcp").FastMCP("official", **settings)


def calculator(**settings: Any) -> Any:
    server = high_level(**settings)

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    async def fail() -> str:
        raise LookupError("lost")

    server.tool()(add)
    server.tool()(fail)
    return server


def test_the_model_uses_a_tool_of_an_official_server() -> None:
    uses = (reply(UseTool("mcp__calc__add", {"a": 2, "b": 3})), reply(UseTool("mcp__calc__fail", {})))
    with live(script(*uses, "done"), mcp_servers={"calc": calculator()}, **PERMIT) as stage:
        assert stage.ask().result == "done"
        assert stage.told()[1] == "5"
        assert "Error executing tool fail" in stage.told()[2]
        (status,) = stage.session.mcp_status()
        assert (status.status, (status.server_info or {})["name"]) == ("connected", "official")


def test_the_sdks_own_form_of_a_server_is_taken_too() -> None:
    servers = {"calc": {"type": "sdk", "name": "calc", "instance": calculator()}}
    with live(
        script(reply(UseTool("mcp__calc__add", {"a": 1, "b": 1})), "done"), mcp_servers=servers, **PERMIT
    ) as stage:
        stage.ask()
        assert stage.told()[1] == "2"


def test_one_server_object_serves_several_sessions_at_once() -> None:
    server = calculator()
    use = reply(UseTool("mcp__calc__add", {"a": 1, "b": 1}))
    with (
        live(script(use, "done"), mcp_servers={"calc": server}, **PERMIT) as first,
        live(script(use, "done"), mcp_servers={"calc": server}, **PERMIT) as second,
    ):
        turns = [stage.session.send("go") for stage in (first, second)]
        assert [turn.result(DEADLINE).result for turn in turns] == ["done", "done"]


def test_a_running_server_stays_connected_when_others_are_set_beside_it() -> None:
    server = calculator()
    use = reply(UseTool("mcp__calc__add", {"a": 1, "b": 1}))
    with live(script("hi", use, "done"), mcp_servers={"calc": server}, **PERMIT) as stage:
        stage.ask()
        assert stage.session.set_mcp_servers({"calc": server, "more": calculator()}).added == ["more"]
        stage.ask()
        assert stage.told()[2] == "2"


def test_the_servers_lifespan_ends_with_the_session_or_its_removal() -> None:
    history: list[str] = []

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[None]:
        history.append("up")
        try:
            yield
        finally:
            # A teardown that waits, as closing a connection would.
            await asyncio.sleep(0)
            history.append("down")

    with live(script("hi", "again"), mcp_servers={"calc": calculator(lifespan=lifespan)}) as stage:
        stage.ask()
        assert history == ["up"]
        stage.session.set_mcp_servers({})
        assert wait_until(lambda: history == ["up", "down"])
    with live(script("hi"), mcp_servers={"calc": calculator(lifespan=lifespan)}) as stage:
        stage.ask()
    assert wait_until(lambda: history == ["up", "down", "up", "down"])


def test_a_cancelled_call_is_cancelled_in_the_server() -> None:
    started, ended = threading.Event(), threading.Event()
    server = high_level()

    async def stuck() -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    server.tool()(stuck)
    call = CallMcp("calc", "tools/call", {"name": "stuck", "arguments": {}}, label="gone", wait=False)
    steps = (call, WaitFor("called"), CancelRequest("gone"))
    # The turn waits for the handshake, which the server needs before it takes a call.
    with live(script(reply(*steps, "done")), mcp_servers={"calc": server}) as stage:
        turn = stage.session.send("go")
        assert started.wait(DEADLINE)
        stage.fake.gates.open("called")
        turn.result(DEADLINE)
        assert stage.responses("gone") == []
    # mcp 1 lets the handler run until its server ends; mcp 2 cancels it at once. Either way it ends.
    assert ended.wait(DEADLINE)


def test_the_package_is_imported_only_by_those_who_use_it() -> None:
    code = "import sys, claude_actors, claude_actors.testing; print('mcp' in sys.modules, 'asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split()[0] == "False"
