"""What a session was last set to, and how its next process learns of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claude_actors import Options, ToolServer
from claude_actors.actors.present_options import PresentOptions

FIRST: dict[str, Any] = {"command": "first"}
LATER: dict[str, Any] = {"command": "later"}
OURS = ToolServer("ours")


def present(**options: Any) -> PresentOptions:
    return PresentOptions(Options(**options))


def servers(options: Options) -> dict[str, Any]:
    assert not isinstance(options.mcp_servers, str | Path)
    return dict(options.mcp_servers)  # type: ignore[arg-type]


def test_without_a_change_everything_is_as_at_the_start() -> None:
    given = Options(model="opus", mcp_servers={"first": FIRST, "ours": OURS})
    now = PresentOptions(given)
    assert now.options == now.for_launch() == given
    assert now.servers_to_set() is None


def test_what_the_cli_accepts_and_we_do_not_know_is_left_out() -> None:
    now = present(permission_mode="plan")
    now.change({"permission_mode": "a mode of tomorrow"})
    assert now.options == Options(permission_mode="plan")
    now.change({"permission_mode": "acceptEdits"})
    assert now.options == Options(permission_mode="acceptEdits")


def test_servers_of_this_process_are_said_at_the_start_of_the_next_process() -> None:
    now = present(mcp_servers={"first": FIRST})
    now.use_servers({"ours": OURS})
    assert servers(now.for_launch()) == {"first": FIRST, "ours": OURS}
    assert now.servers_to_set() is None


def test_external_servers_of_a_call_are_set_again_so_that_a_later_call_can_remove_them() -> None:
    now = present(mcp_servers={"first": FIRST})
    now.use_servers({"ours": OURS, "later": LATER})
    assert servers(now.options) == {"first": FIRST, "ours": OURS, "later": LATER}
    assert servers(now.for_launch()) == {"first": FIRST, "ours": OURS}
    assert now.servers_to_set() == {"ours": OURS, "later": LATER}
    now.use_servers({})
    assert servers(now.options) == servers(now.for_launch()) == {"first": FIRST}
    assert now.servers_to_set() is None


def test_a_server_of_the_start_that_a_call_has_named_goes_with_the_next_that_does_not() -> None:
    now = present(mcp_servers={"first": FIRST})
    now.use_servers({"first": LATER})
    assert servers(now.for_launch()) == {}
    now.use_servers({})
    assert servers(now.options) == {}


def test_beside_a_configuration_file_all_servers_are_set_again() -> None:
    now = present(mcp_servers="servers.json")
    now.use_servers({"ours": OURS})
    assert now.for_launch().mcp_servers == "servers.json"
    assert now.servers_to_set() == {"ours": OURS}


@pytest.mark.parametrize("named", [{"resume": "an-id", "fork_session": True}, {"continue_conversation": True}])
def test_a_lost_conversation_is_not_asked_for_again(named: dict[str, Any]) -> None:
    now = present(**named, model="opus")
    now.forget_conversation()
    assert now.options == Options(model="opus")
