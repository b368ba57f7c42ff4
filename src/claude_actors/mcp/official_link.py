"""One connection to a server of the `mcp` package, over that package's in-memory transport.

Lives on one event loop; nothing here may be called from another thread. Requests get ids of our own on the way in and
their own ids back on the way out, so that nothing the CLI sends can collide. Works with mcp 1.10 and later, and with 2.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
from collections.abc import Callable, Coroutine
from typing import Any, Final

import msgspec

from claude_actors.logs import get_logger
from claude_actors.mcp import jsonrpc
from claude_actors.mcp.tool import describe, traceback_text

JsonObject = dict[str, Any]

# A server winds down in milliseconds; only a tool that ignores its cancellation holds one open, and is cancelled then.
_CLOSE_GRACE: Final = 5.0

log = get_logger(__name__)


class Waiting(msgspec.Struct, frozen=True):
    """A request that the server has not answered yet."""

    id: str | int
    control_id: str
    reply: asyncio.Future[JsonObject]

    def settle(self, reply: JsonObject) -> None:
        """Give the requester its reply; the first one counts."""
        if not self.reply.done():
            self.reply.set_result(reply)


class OfficialLink:
    """Run a server and pass messages to and from it, until it ends or `close` is called."""

    def __init__(self, name: str, server: Any) -> None:
        self.ended = False
        self.end_reason = "it has finished"
        self._name, self._server = name, server
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Waiting] = {}
        self._helpers: set[asyncio.Task[None]] = set()
        self._to_server: Any = None
        self._opened = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name=f"mcp-server-{name}")

    async def request(self, request: jsonrpc.Request, control_id: str) -> JsonObject:
        """Wait for the server's reply; if this is cancelled, so is the request."""
        number = next(self._numbers)
        waiting = Waiting(request.id, control_id, asyncio.get_running_loop().create_future())
        self._waiting[number] = waiting
        try:
            await self._send({"id": number, "method": request.method, "params": request.params})
            return await waiting.reply
        except asyncio.CancelledError:
            self._tell_cancelled(number)
            raise
        finally:
            self._waiting.pop(number, None)

    async def notify(self, notification: jsonrpc.Notification) -> None:
        """Pass a notification on; a cancellation is done here, because only we know the server's id of the request."""
        if notification.method == "notifications/cancelled":
            message_id = notification.params.get("requestId")
            self.cancel_where(lambda waiting: waiting.id == message_id)
        else:
            await self._send({"method": notification.method, "params": notification.params})

    def cancel_where(self, chosen: Callable[[Waiting], bool]) -> None:
        """Cancel requests: they are answered as cancelled at once, and the server is told."""
        for number, waiting in list(self._waiting.items()):
            if chosen(waiting):
                waiting.settle(jsonrpc.cancelled(waiting.id))
                self._tell_cancelled(number)

    async def close(self) -> None:
        """End the server: by closing its input, so that its lifespan can tear down, then by cancelling it."""
        await self._opened.wait()
        if self._to_server is not None:
            await self._to_server.aclose()
        await asyncio.wait({self._task}, timeout=_CLOSE_GRACE)
        if not self._task.done():
            log.warning("mcp_server_close_forced", server=self._name, after=_CLOSE_GRACE)
            self._task.cancel()
            # One that ignores even this is left behind: its loop must be able to end.
            await asyncio.wait({self._task}, timeout=_CLOSE_GRACE)

    async def _run(self) -> None:
        try:
            await self._serve_until_ended()
        finally:
            self._end_requests()
            self._opened.set()

    async def _serve_until_ended(self) -> None:
        memory = importlib.import_module("mcp.shared.memory")
        async with memory.create_client_server_memory_streams() as ((from_server, self._to_server), (read, write)):
            serving = asyncio.create_task(self._serve(read, write), name=f"mcp-serving-{self._name}")
            self._opened.set()
            try:
                async for item in from_server:
                    self._received(item)
                self._end_requests()
                await serving
            finally:
                await _ended({serving, *self._helpers})

    async def _serve(self, read: Any, write: Any) -> None:
        try:
            await self._server.run(read, write, self._server.create_initialization_options())
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # SystemExit out of a task would end the loop that serves everybody
            self._failed(_innermost(error))
        finally:
            await write.aclose()  # not every version does; without it the reader would wait for ever

    def _failed(self, error: BaseException) -> None:
        self.end_reason = describe(error)
        log.warning("mcp_server_failed", server=self._name, error=type(error).__name__)
        log.debug("mcp_server_traceback", server=self._name, traceback=traceback_text(error))

    def _end_requests(self) -> None:
        self.ended = True
        for waiting in self._waiting.values():
            waiting.settle(self._gone(waiting.id))

    def _gone(self, message_id: object) -> JsonObject:
        text = f"MCP server {self._name!r} ended before it had answered: {self.end_reason}"
        return jsonrpc.failure(message_id, jsonrpc.INTERNAL_ERROR, text)

    def _received(self, item: Any) -> None:
        if isinstance(item, Exception):
            log.debug("mcp_server_error_dropped", server=self._name, error=type(item).__name__)
            return
        message = item.message.model_dump(by_alias=True, mode="json", exclude_none=True)
        if "method" not in message:
            self._answered(message)
        elif "id" in message:
            # From a task, since the reader must never wait for the server that it drains.
            self._help(self._send(_client_answer(message)))
        else:
            log.debug("mcp_server_notification_dropped", server=self._name, method=message["method"])

    def _answered(self, message: JsonObject) -> None:
        waiting = self._waiting.get(message.get("id", 0))
        if waiting is not None:
            waiting.settle({**message, "id": waiting.id})

    def _tell_cancelled(self, number: int) -> None:
        # mcp 1 answers a cancelled request itself and breaks down when its handler does so too, as one that waits for a
        # thread will; there the handler runs on, and its answer is dropped.
        if _is_mcp_2() and not self.ended:
            self._help(self._send({"method": "notifications/cancelled", "params": {"requestId": number}}))

    def _help(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._helpers.add(task)
        task.add_done_callback(self._helpers.discard)

    async def _send(self, message: JsonObject) -> None:
        await self._opened.wait()
        anyio = importlib.import_module("anyio")
        try:
            await self._to_server.send(_session_message({"jsonrpc": "2.0", **message}))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._end_requests()


def _client_answer(request: JsonObject) -> JsonObject:
    if request["method"] == "ping":
        return {"id": request["id"], "result": {}}
    reason = f"{request['method']} is not supported for servers inside an SDK"
    return {"id": request["id"], "error": {"code": jsonrpc.METHOD_NOT_FOUND, "message": reason}}


def _is_mcp_2() -> bool:
    return hasattr(importlib.import_module("mcp.types"), "jsonrpc_message_adapter")


def _session_message(message: JsonObject) -> Any:
    types = importlib.import_module("mcp.types")
    parse = types.jsonrpc_message_adapter.validate_python if _is_mcp_2() else types.JSONRPCMessage.model_validate
    return importlib.import_module("mcp.shared.message").SessionMessage(parse(message))


async def _ended(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _innermost(error: BaseException) -> BaseException:
    """Find the one error inside groups of one, which task groups wrap around it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
