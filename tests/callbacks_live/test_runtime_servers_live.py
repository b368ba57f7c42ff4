"""MCP servers that come, go and are switched while a session runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.leaks import wait_until
from support.live_session import DEADLINE, live

from claude_actors import Allow, InvalidOptions, RequestFailed, RestartPolicy, SessionCrashed, ToolServer, start_session
from claude_actors.protocol.restarts import Backoff
from claude_actors.testing import AnswerControl, Die, FakeCLI, UseTool, reply, script

PERMIT: dict[str, Any] = {"can_use_tool": lambda request, ctx: Allow()}
EXTERNAL = {"command": "a-program"}


def server(name: str, answer: str) -> ToolServer:
    made = ToolServer(name)

    @made.tool
    def say() -> str:
        return answer

    return made


def say(name: str) -> UseTool:
    return UseTool(f"mcp__{name}__say", {})


def names(stage: Any) -> list[str]:
    return sorted(state.name for state in stage.session.mcp_status())


def test_in_process_servers_come_and_go() -> None:
    first, second = server("first", "one"), server("second", "two")
    turns = script(reply(say("first")), "a", reply(say("second")), "b", reply(say("second")), "c")
    with live(turns, mcp_servers={"first": first}, **PERMIT) as stage:
        stage.ask()
        assert stage.told()[1] == "one"
        change = stage.session.set_mcp_servers({"second": second})
        assert (change.added, change.removed, change.errors) == (["second"], ["first"], {})
        stage.ask()
        assert stage.told()[3] == "two"
        assert stage.session.set_mcp_servers({}).removed == ["second"]
        stage.ask()
        assert "No such tool" in stage.told()[5]
        assert stage.session.options.mcp_servers == {}


def test_a_server_that_stays_is_not_disturbed_and_another_under_its_name_takes_its_place() -> None:
    old, new = server("shop", "old"), server("shop", "new")
    turns = script(reply(say("shop")), "a", reply(say("shop")), "b")
    with live(turns, mcp_servers={"shop": old}, **PERMIT) as stage:
        assert stage.session.set_mcp_servers({"shop": old, "more": server("more", "x")}).added == ["more"]
        stage.ask()
        assert stage.told()[1] == "old"
        change = stage.session.set_mcp_servers({"shop": new})
        assert (change.added, sorted(change.removed)) == (["shop"], ["more", "shop"])
        stage.ask()
        assert stage.told()[3] == "new"


def test_external_servers_of_the_start_stay() -> None:
    with live(script("hi"), mcp_servers={"ext": EXTERNAL, "shop": server("shop", "x")}) as stage:
        assert stage.session.set_mcp_servers({}).removed == ["shop"]
        assert names(stage) == ["ext"]
        assert stage.session.options.mcp_servers == {"ext": EXTERNAL}


def test_servers_are_set_by_coroutines_too() -> None:
    with live(script(reply(say("shop")), "done"), **PERMIT) as stage:
        change = asyncio.run(_set(stage.session, {"shop": server("shop", "yes")}))
        assert change.added == ["shop"]
        stage.ask()
        assert stage.told()[1] == "yes"


async def _set(session: Any, servers: dict[str, Any]) -> Any:
    return await session.aio.set_mcp_servers(servers)


@pytest.mark.parametrize("wrong", [42, {"type": "nonsense"}, {"type": "sdk", "name": "x"}, object(), ToolServer])
def test_what_is_no_server_is_refused_to_the_caller_and_the_session_goes_on(wrong: Any) -> None:
    with live(script("hi"), mcp_servers={"shop": server("shop", "x")}) as stage:
        with pytest.raises(InvalidOptions):
            stage.session.set_mcp_servers({"bad": wrong})
        assert stage.ask().result == "hi"
        assert names(stage) == ["shop"]


@pytest.mark.parametrize("wrong", ["servers.json", '{"mcpServers": {}}', [("shop", len)], None])
def test_only_a_mapping_can_be_set_while_a_session_runs(wrong: Any) -> None:
    with live(script("hi")) as stage:
        with pytest.raises(InvalidOptions, match="mcp_servers: must be a mapping of names to servers"):
            stage.session.set_mcp_servers(wrong)
        assert stage.ask().result == "hi"


def test_servers_that_the_cli_refuses_are_not_remembered() -> None:
    shop = server("shop", "x")
    refusing = script("hi", controls=(AnswerControl("mcp_set_servers", "error", "not now"),))
    with live(refusing, mcp_servers={"shop": shop}) as stage:
        with pytest.raises(RequestFailed, match="not now"):
            stage.session.set_mcp_servers({"other": server("other", "y")})
        assert dict(stage.session.options.mcp_servers) == {"shop": shop}  # type: ignore[arg-type]


def test_a_program_without_arguments_is_sent_as_the_cli_needs_it() -> None:
    with live(script("hi")) as stage:
        stage.session.set_mcp_servers({"ext": {"command": "a-program", "env": {"TOKEN": "secret"}}})
        sent = [frame["request"] for frame in stage.fake.runs()[0].received if frame["type"] == "control_request"]
        assert sent[-1]["servers"] == {"ext": {"args": [], "command": "a-program", "env": {"TOKEN": "secret"}}}


def test_a_server_is_switched_off_and_on_again() -> None:
    with live(script(reply(say("shop")), "done"), mcp_servers={"shop": server("shop", "back")}, **PERMIT) as stage:
        stage.session.toggle_mcp_server("shop", False)
        assert [state.status for state in stage.session.mcp_status()] == ["disabled"]
        stage.session.toggle_mcp_server("shop", True)
        assert [state.status for state in stage.session.mcp_status()] == ["connected"]
        stage.ask()
        assert stage.told()[1] == "back"


def test_reconnecting_what_cannot_be_reconnected_raises_what_the_cli_says() -> None:
    with live(script("hi"), mcp_servers={"shop": server("shop", "x")}) as stage:
        for name in ("shop", "nobody"):
            with pytest.raises(RequestFailed, match="mcp_reconnect"):
                stage.session.reconnect_mcp_server(name)


@pytest.mark.parametrize("from_file", [False, True])
def test_a_restarted_session_has_the_servers_that_were_set(from_file: bool, tmp_path: Any) -> None:
    config = tmp_path / "mcp.json"
    config.write_text('{"mcpServers": {}}')
    policy = RestartPolicy(backoff=Backoff(first=0.01, most=0.01))
    first: Any = config if from_file else {"first": server("first", "x")}
    with (
        FakeCLI(script("hi", reply("half", Die(signal=9))), script(reply(say("shop")), "whole")) as fake,
        start_session(None, fake.options(mcp_servers=first, **PERMIT), restart=policy) as session,
    ):
        session.send("hello").result(DEADLINE)
        session.set_mcp_servers({"shop": server("shop", "still there")})
        with pytest.raises(SessionCrashed):
            session.send("die").result(DEADLINE)
        assert wait_until(lambda: session.snapshot().restarts == 1)
        assert session.send("go on").result(DEADLINE).result == "whole"
        assert fake.runs()[1].of("api_request")[1]["text"] == "still there"
