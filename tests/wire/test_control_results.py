"""Answers of the CLI are read as far as they fit, and kept whole."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from support.structs import filled

from claude_actors.wire.control_results import (
    ControlResult,
    Interrupted,
    McpServersSet,
    McpServerState,
    RewindResult,
    join_servers_set,
    read_mcp_status,
)

KINDS = [Interrupted, RewindResult, McpServerState, McpServersSet]


@pytest.mark.parametrize("kind", KINDS)
def test_a_filled_in_answer_is_read_as_it_was_and_kept(kind: type[ControlResult]) -> None:
    answer = filled(kind, raw={})
    payload: dict[str, Any] = {
        name: value for name, value in msgspec.to_builtins(answer).items() if not name.startswith("<")
    }
    assert kind.read({**payload, "brand_new": 1}) == msgspec.structs.replace(answer, raw={**payload, "brand_new": 1})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("payload", [None, {}, {"<raw>": "spoofed"}])
def test_an_answer_without_what_we_know_has_its_defaults(
    kind: type[ControlResult], payload: dict[str, Any] | None
) -> None:
    assert kind.read(payload) == kind(raw=payload or {})


def test_the_names_of_the_wire_are_those_of_the_cli() -> None:
    payload = {"canRewind": True, "filesChanged": ["/a"], "insertions": 3, "deletions": "odd"}
    read = RewindResult.read(payload)
    assert (read.can_rewind, read.files_changed, read.insertions, read.deletions) == (True, ["/a"], 3, 0)


def test_the_status_of_servers_is_read_one_by_one() -> None:
    payload = {"mcpServers": [{"name": "a", "status": "connected"}, "odd", {"serverInfo": {"name": "A"}}]}
    first, second = read_mcp_status(payload)
    assert (first.name, first.status) == ("a", "connected")
    assert second.server_info == {"name": "A"}


@pytest.mark.parametrize("payload", [None, {}, {"mcpServers": "odd"}])
def test_a_status_without_servers_is_empty(payload: dict[str, Any] | None) -> None:
    assert read_mcp_status(payload) == ()


def test_several_steps_of_setting_servers_are_told_as_one() -> None:
    first = McpServersSet(added=["a"], removed=["b"], errors={"c": "no"})
    second = McpServersSet(added=["d"], errors={"e": "neither"}, raw={"last": True})
    assert join_servers_set([first]) is first
    assert join_servers_set([first, second]) == McpServersSet(
        added=["a", "d"], removed=["b"], errors={"c": "no", "e": "neither"}, raw={"last": True}
    )
