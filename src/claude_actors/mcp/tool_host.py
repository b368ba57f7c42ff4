"""A `ToolServer` as one session sees it: JSON-RPC in, replies out, and which calls are running.

It must not know how calls are scheduled: a sync tool blocks in the caller's thread, an async one gives a coroutine.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

from claude_actors.callbacks.context import CallbackContext
from claude_actors.mcp import jsonrpc
from claude_actors.mcp.content import error_result
from claude_actors.mcp.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, ProtocolError
from claude_actors.mcp.server import ToolServer

if TYPE_CHECKING:
    import asyncio

JsonObject = dict[str, Any]


class ToolServerHost:
    """A `ToolServer` as one session sees it; satisfies `McpHost`."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self._running: dict[str | int, _RunningCall] = {}
        self._lock = threading.Lock()

    def handle(self, message: JsonObject, ctx: CallbackContext) -> JsonObject | Awaitable[JsonObject] | None:
        match jsonrpc.classify(message):
            case jsonrpc.Request() as request:
                return self._request(request, ctx)
            case jsonrpc.Notification("notifications/cancelled", params):
                self._withdraw(lambda call: call.id == params.get("requestId"), "cancelled by the CLI")
            case jsonrpc.Invalid(reply):
                return reply
        return None

    def is_async(self, message: JsonObject) -> bool:
        incoming = jsonrpc.classify(message)
        if not isinstance(incoming, jsonrpc.Request) or incoming.method != "tools/call":
            return False
        tool = self._server.find(incoming.params.get("name"))
        return tool is not None and tool.is_async

    def cancelled(self, request_id: str) -> None:
        self._withdraw(lambda call: call.ctx.request_id == request_id, "no longer wanted")

    def close(self) -> None:
        self._withdraw(lambda call: True, "the session has ended")

    def _request(self, request: jsonrpc.Request, ctx: CallbackContext) -> JsonObject | Awaitable[JsonObject]:
        try:
            if request.method == "tools/call":
                return self._call(request, ctx)
            return jsonrpc.success(request.id, self._server.respond(request.method, request.params))
        except ProtocolError as error:
            return jsonrpc.failure(request.id, error.code, str(error))

    def _call(self, request: jsonrpc.Request, ctx: CallbackContext) -> JsonObject | Awaitable[JsonObject]:
        tool, arguments = self._server.find(request.params.get("name")), request.params.get("arguments")
        if tool is None:
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {request.params.get('name')}")
        if arguments is not None and not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, "arguments must be an object")
        call = self._began(request.id, ctx)
        start = partial(tool.start, arguments or {}, ctx)
        if tool.is_async:
            return _Later(partial(self._on_loop, call, start))
        result = start()
        if inspect.isawaitable(result):  # a coroutine unannounced
            return _Later(partial(self._on_loop, call, lambda: result))
        self._forget(call)
        return call.reply(result)

    async def _on_loop(self, call: _RunningCall, start: Callable[[], JsonObject | Awaitable[JsonObject]]) -> JsonObject:
        import asyncio  # 20 ms, and loaded already where a coroutine runs

        try:
            return call.reply(await call.result_of(start))
        except asyncio.CancelledError:
            if _is_being_cancelled():
                raise
            return call.reply(error_result("CancelledError"))
        finally:
            self._forget(call)

    def _began(self, message_id: str | int, ctx: CallbackContext) -> _RunningCall:
        call = _RunningCall(message_id, ctx)
        with self._lock:
            if message_id in self._running:
                raise ProtocolError(INVALID_REQUEST, f"Invalid request: id {message_id!r} is still in use")
            self._running[message_id] = call
        return call

    def _forget(self, call: _RunningCall) -> None:
        with self._lock:
            self._running.pop(call.id, None)

    def _withdraw(self, chosen: Callable[[_RunningCall], bool], reason: str) -> None:
        with self._lock:
            calls = [call for call in self._running.values() if chosen(call)]
        for call in calls:
            call.withdraw(reason)


class _RunningCall:
    """A tool call under way: a coroutine is really cancelled, a thread is told through its context."""

    def __init__(self, message_id: str | int, ctx: CallbackContext) -> None:
        self.id, self.ctx = message_id, ctx
        self._withdrawn = threading.Event()
        self._task: asyncio.Future[JsonObject] | None = None
        self._lock = threading.Lock()

    async def result_of(self, start: Callable[[], JsonObject | Awaitable[JsonObject]]) -> JsonObject:
        """Run the tool as a task of its own: cancelling the tool must not cancel whoever awaits it."""
        import asyncio

        if self._withdrawn.is_set():
            return {}
        result = start()
        if not inspect.isawaitable(result):
            return result
        with self._lock:
            self._task = asyncio.ensure_future(result)
            if self._withdrawn.is_set():
                _cancel_from_any_thread(self._task)
        return await self._task

    def withdraw(self, reason: str) -> None:
        """Cancel the call, from any thread, once."""
        with self._lock:
            if self._withdrawn.is_set():
                return
            self._withdrawn.set()
            task = self._task
        self.ctx._cancel(reason)
        if task is not None:
            _cancel_from_any_thread(task)

    def reply(self, result: JsonObject) -> JsonObject:
        """Write the reply; a cancelled call is ended without its result, which nobody reads."""
        return jsonrpc.cancelled(self.id) if self._withdrawn.is_set() else jsonrpc.success(self.id, result)


class _Later:
    """A coroutine that is made only when it is awaited, so that giving up on it earlier is no warning of Python's."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, JsonObject]]) -> None:
        self._make = make

    def __await__(self) -> Generator[Any, Any, JsonObject]:
        return self._make().__await__()


def _cancel_from_any_thread(task: asyncio.Future[JsonObject]) -> None:
    # Behind the task's first step, never before it: a coroutine that was not begun would be a warning, too.
    try:
        task.get_loop().call_soon_threadsafe(task.cancel)
    except RuntimeError:
        pass  # the loop is closed, and the task gone with it


def _is_being_cancelled() -> bool:
    import asyncio

    ours = asyncio.current_task()
    return ours is not None and ours.cancelling() > 0
