"""Servers with somebody who talks to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from support.mcp_peer import DEADLINE, Loop, Peer

from claude_actors.mcp.host import McpHost, host_for
from claude_actors.mcp.server import ToolServer


@pytest.fixture
def loop() -> Iterator[Loop]:
    """Give a running loop; at the end nothing may be left on it."""
    running = Loop()
    try:
        yield running
        assert running.tasks() == []
    finally:
        running.stop()


@pytest.fixture
def server() -> ToolServer:
    return ToolServer("local", version="2.1.0")


@pytest.fixture
def peer(server: ToolServer) -> Peer:
    """Talk to `server`'s sync tools."""
    return Peer(host_for("local", server), None)


@pytest.fixture
def async_peer(server: ToolServer, loop: Loop) -> Peer:
    """Talk to `server`'s async tools too."""
    return Peer(host_for("local", server), loop)


@pytest.fixture
def peer_of(loop: Loop) -> Iterator[Callable[[object], Peer]]:
    """Make peers of any kind of server; their hosts are closed at the end."""
    hosts: list[McpHost] = []

    def make(server: object) -> Peer:
        hosts.append(host_for("local", server, loop.submit))
        return Peer(hosts[-1], loop)

    yield make
    for host in hosts:
        closing = host.close()
        if closing is not None:
            closing.result(DEADLINE)
