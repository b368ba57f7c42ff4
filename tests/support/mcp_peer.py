"""The CLI's side of an in-process MCP server, and an event loop in a thread of its own as the runtime has one."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any

from claude_actors.callbacks.context import CallbackContext
from claude_actors.mcp.host import McpHost, settled

DEADLINE = 30.0


class Loop:
    """An event loop that runs in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="test-loop")
        self._thread.start()

    def submit(self, coroutine: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.submit(coroutine).result(DEADLINE)

    def tasks(self) -> list[str]:
        """Name what is still running on the loop."""

        async def names() -> list[str]:
            return [str(task.get_coro()) for task in asyncio.all_tasks() if task is not asyncio.current_task()]

        found: list[str] = self.run(names())
        return found

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(DEADLINE)
        self._loop.close()


class Peer:
    """The CLI's side of one server: sends messages and gives the replies."""

    def __init__(self, host: McpHost, loop: Loop | None) -> None:
        self.host, self._loop = host, loop
        self._count = 0

    def send(self, message: Any, ctx: CallbackContext | None = None) -> dict[str, Any] | None:
        """Deliver one message as the runtime does, and wait for the reply."""
        outcome = self.host.handle(message, ctx or CallbackContext(request_id="control-1"))
        if outcome is None or isinstance(outcome, dict):
            return outcome
        reply: dict[str, Any] | None = self._needed_loop().run(settled(outcome))
        return reply

    def start(self, message: Any, ctx: CallbackContext | None = None) -> concurrent.futures.Future[Any]:
        """Deliver a message whose reply comes later, on the loop."""
        outcome = self.host.handle(message, ctx or CallbackContext(request_id="control-1"))
        return self._needed_loop().submit(settled(outcome))

    def request(self, method: str, params: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        """Send a request and give its whole reply."""
        self._count += 1
        message = {"jsonrpc": "2.0", "id": f"c7a2:{self._count}", "method": method, **fields}
        reply = self.send(message if params is None else {**message, "params": params})
        assert reply is not None
        assert reply["id"] == message["id"]
        return reply

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        assert self.send({"jsonrpc": "2.0", "method": method, "params": params or {}}) is None

    def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = self.request(method, params)["result"]
        return result

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and give the result of the call."""
        return self.result("tools/call", {"name": tool, "arguments": arguments})

    def text(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool and give the one text that it answered, whether it failed or not."""
        (block,) = self.call(tool, **arguments)["content"]
        text: str = block["text"]
        return text

    def _needed_loop(self) -> Loop:
        assert self._loop is not None
        return self._loop
