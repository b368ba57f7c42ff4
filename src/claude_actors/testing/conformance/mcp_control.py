"""Scenarios: looking at MCP servers and changing them while a session runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from claude_actors import RequestFailed, ToolServer
from claude_actors.testing import UseTool, reply
from claude_actors.testing.conformance.raising import raised
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.conformance.talk import Talk

group = Group("MCP servers")
BROKEN: dict[str, Any] = {"command": "/no/such/program", "args": []}


def greeter(name: str) -> ToolServer:
    """Make a server that greets in its own name."""
    server = ToolServer(name)

    @server.tool
    def greet() -> str:
        """Greet."""
        return f"hello from {name}"

    return server


def status(talk: Talk) -> dict[str, str]:
    """Return the state of each server by its name."""
    return {server.name: server.status for server in talk.session.mcp_status()}


@group.scenario
def the_status_of_each_server_is_told(stage: Stage) -> None:
    stage.play("one")
    with stage.talk("go", mcp_servers={"mine": greeter("mine"), "broken": BROKEN}) as talk:
        talk.result()
        assert status(talk) == {"mine": "connected", "broken": "failed"}
        (mine,) = (server for server in talk.session.mcp_status() if server.name == "mine")
        assert mine.server_info is not None
        assert mine.server_info["name"] == "mine"
        assert [tool["name"] for tool in mine.tools] == ["greet"]


@group.scenario
def a_server_can_be_switched_off_and_on(stage: Stage) -> None:
    call = reply(UseTool("mcp__mine__greet"))
    stage.play("one", call, "two", call, "three")
    with stage.talk("go", mcp_servers={"mine": greeter("mine")}, allowed_tools=["mcp__mine"]) as talk:
        talk.result()
        talk.session.toggle_mcp_server("mine", False)
        assert status(talk) == {"mine": "disabled"}
        talk.ask("again")
        talk.session.toggle_mcp_server("mine", True)
        assert status(talk) == {"mine": "connected"}
        talk.ask("once more")
        assert [failed for _, failed in talk.tool_results] == [True, False]


@group.scenario
def an_unknown_server_cannot_be_switched_or_reconnected(stage: Stage) -> None:
    stage.play("unused")
    with stage.talk() as talk:
        raised(RequestFailed, lambda: talk.session.toggle_mcp_server("nobody", False))
        raised(RequestFailed, lambda: talk.session.reconnect_mcp_server("nobody"))
        assert talk.session.state == "running"


@group.scenario
def reconnecting_a_server_that_cannot_be_reached_is_refused(stage: Stage) -> None:
    stage.play("one")
    with stage.talk("go", mcp_servers={"broken": BROKEN}) as talk:
        talk.result()
        raised(RequestFailed, lambda: talk.session.reconnect_mcp_server("broken"))


@group.scenario
def servers_set_at_run_time_are_there_in_the_next_turn(stage: Stage) -> None:
    stage.play("one", reply(UseTool("mcp__late__greet")), "two")
    with stage.talk("go", allowed_tools=["mcp__late"]) as talk:
        talk.result()
        changed = talk.session.set_mcp_servers({"late": greeter("late")})
        assert (changed.added, changed.removed, changed.errors) == (["late"], [], {})
        assert talk.ask("again").result == "two"
        assert talk.tool_results == [("hello from late", False)]


@group.scenario
def setting_servers_replaces_all_of_this_process(stage: Stage) -> None:
    old, new = reply(UseTool("mcp__old__greet")), reply(UseTool("mcp__new__greet"))
    stage.play(old, "one", old, new, "two")
    servers = {"old": greeter("old"), "broken": BROKEN}
    with stage.talk("go", mcp_servers=servers, allowed_tools=["mcp__old", "mcp__new"]) as talk:
        talk.result()
        changed = talk.session.set_mcp_servers({"new": greeter("new")})
        # A server that the CLI reaches by itself stays as long as no call has named it.
        assert (changed.added, changed.removed) == (["new"], ["old"])
        talk.ask("again")
        assert status(talk) == {"new": "connected", "broken": "failed"}
        (_, _), (_, old_failed), (text, new_failed) = talk.tool_results
        assert (old_failed, text, new_failed) == (True, "hello from new", False)
        assert set(_names(talk)) == {"new", "broken"}


@group.scenario
def servers_set_at_run_time_can_all_be_removed(stage: Stage) -> None:
    stage.play("one", "two")
    with stage.talk("go") as talk:
        talk.result()
        changed = talk.session.set_mcp_servers({"late": greeter("late"), "broken": BROKEN})
        assert sorted(changed.added) == ["broken", "late"]
        assert list(changed.errors) == ["broken"]
        talk.ask("again")
        changed = talk.session.set_mcp_servers({})
        assert sorted(changed.removed) == ["broken", "late"]
        assert status(talk) == {}
        assert _names(talk) == []


@group.scenario
def a_server_can_be_replaced_by_another_of_the_same_name(stage: Stage) -> None:
    call = reply(UseTool("mcp__mine__greet"))
    stage.play(call, "one", call, "two")
    with stage.talk("go", mcp_servers={"mine": greeter("first")}, allowed_tools=["mcp__mine"]) as talk:
        talk.result()
        talk.session.set_mcp_servers({"mine": greeter("second")})
        talk.ask("again")
        assert [text for text, _ in talk.tool_results] == ["hello from first", "hello from second"]


def _names(talk: Talk) -> list[str]:
    """Name the servers that the session would be restarted with."""
    servers = talk.session.options.mcp_servers
    return list(servers) if isinstance(servers, Mapping) else []
