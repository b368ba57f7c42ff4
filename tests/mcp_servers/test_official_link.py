"""The connection to a server of the `mcp` package, where the server does not behave."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.mcp_peer import DEADLINE

from claude_actors.mcp.official_link import OfficialLink

pytest.importorskip("mcp.server")


class Stubborn:
    """A server that ignores its cancellation until it is let go."""

    def __init__(self) -> None:
        self.let_go = asyncio.Event()

    def create_initialization_options(self) -> None:
        return None

    async def run(self, read: Any, write: Any, options: Any) -> None:
        while not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                continue


def test_a_server_that_ignores_its_cancellation_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claude_actors.mcp.official_link._CLOSE_GRACE", 0.01)

    async def scenario() -> None:
        server = Stubborn()
        link = OfficialLink("stubborn", server)
        await asyncio.wait_for(link.close(), DEADLINE)
        assert not link.ended
        server.let_go.set()
        await asyncio.wait({link._task}, timeout=DEADLINE)
        assert link.ended

    asyncio.run(scenario())
