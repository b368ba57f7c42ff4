"""From a request of the CLI to the user's callback that answers it, for every kind of callback.

It knows the options and the in-process MCP servers; it starts nothing and decides nothing. What it gives is called in a
task's thread or on the event loop: inputs, which can be megabytes, are read there too.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, assert_never

from claude_actors.actors.callback_jobs import Answer
from claude_actors.actors.contained import run_contained
from claude_actors.callbacks.context import CallbackContext
from claude_actors.callbacks.hooks import HookRegistration
from claude_actors.callbacks.results import Cancelled, Decline, Deny
from claude_actors.callbacks.translate import (
    dialog_answer,
    elicitation_answer,
    hook_answer,
    hook_fallback,
    permission_answer,
)
from claude_actors.mcp.host import McpHost, host_for, is_in_process, mcp_answer, mcp_fallback, served, settled
from claude_actors.mcp.schema import is_coroutine_function
from claude_actors.options import Options
from claude_actors.protocol.callbacks import CallbackRules, HookRule
from claude_actors.wire.control import (
    CanUseTool,
    DialogRequest,
    ElicitationRequest,
    HookCallback,
    KnownRequest,
    McpMessage,
)
from claude_actors.wire.hooks import decode_hook_input
from claude_actors.wire.permissions import read_permission_request

RunOnLoop = Callable[[Coroutine[Any, Any, Any]], "Future[Any]"]
Invocation = tuple[Callable[[], Any], Answer, bool]


class Invocations:
    """The callbacks of one session, by request; lives as long as one CLI process does."""

    def __init__(self, options: Options, run_on_loop: RunOnLoop) -> None:
        self._options = options
        self._run_on_loop = run_on_loop
        self._hooks: dict[str, HookRegistration] = {}
        if options.hooks is not None:
            self._hooks = {hook.id: hook for hook in options.hooks.registrations()}
        # Looking into a function costs more than calling it.
        self._hooks_on_loop = {hook.id for hook in self._hooks.values() if is_coroutine_function(hook.function)}
        self._can_use_tool = options.can_use_tool or _deny
        self._permissions_on_loop = is_coroutine_function(self._can_use_tool)
        self._servers: dict[str, object] = {}
        self.hosts: dict[str, McpHost] = {}
        if isinstance(options.mcp_servers, Mapping):
            self.add_servers(options.mcp_servers)

    def rules(self) -> CallbackRules:
        """What the protocol must know of these callbacks."""
        hooks = {
            hook.id: HookRule(hook.event, hook.timeout, hook_fallback(hook, f"the {hook.event} gate gave no answer"))
            for hook in self._hooks.values()
        }
        options = self._options
        return CallbackRules(hooks, options.permission_timeout, options.mcp_timeout, options.elicitation_timeout)

    # --- servers ---

    def add_servers(self, servers: Mapping[str, Any]) -> None:
        """Host the in-process servers among `servers`; another one of the same name is replaced."""
        for name, server in servers.items():
            # The CLI does not greet a server again that it knows by name: a running one must go on as it is.
            if is_in_process(server) and self._servers.get(name) is not served(server):
                self._remove(name)
                self.hosts[name] = host_for(name, server, self._run_on_loop)
                self._servers[name] = served(server)

    def keep_servers(self, servers: Mapping[str, Any]) -> None:
        """Stop hosting the servers that are not among these."""
        for name in self.hosts.keys() - servers.keys():
            self._remove(name)

    def close(self) -> list[Future[None]]:
        """Stop hosting every server; gives what is done when each has ended. Never blocks."""
        return [future for name in list(self.hosts) if (future := self._remove(name)) is not None]

    def _remove(self, name: str) -> Future[None] | None:
        self._servers.pop(name, None)
        host = self.hosts.pop(name, None)
        return None if host is None else host.close()

    def cancelled(self, server: str, request_id: str) -> None:
        """Tell a server that a request needs no reply any more. Never blocks."""
        host = self.hosts.get(server)
        if host is not None:
            run_contained("mcp_cancel_failed", host.cancelled, request_id)

    # --- calls ---

    def invocation(self, request: KnownRequest, ctx: CallbackContext) -> Invocation:
        """Give what to call, how its value becomes an answer, and whether it belongs on the event loop."""
        options = self._options
        match request:
            case HookCallback():
                hook = HookCall(self._hooks[request.callback_id], request, ctx)
                return hook.call, hook.answer, request.callback_id in self._hooks_on_loop
            case CanUseTool():
                permission = PermissionCall(self._can_use_tool, request, ctx)
                return permission.call, permission.answer, self._permissions_on_loop
            case McpMessage():
                return self._mcp(request, ctx)
            case ElicitationRequest():
                return _plain(options.on_elicitation or _decline, request, ctx, elicitation_answer)
            case DialogRequest():
                return _plain(options.on_user_dialog or _dismiss, request, ctx, dialog_answer)
            case _:
                assert_never(request)

    def _mcp(self, request: McpMessage, ctx: CallbackContext) -> Invocation:
        host, message = self.hosts.get(request.server_name), request.message
        if host is None:
            reason = f"no in-process MCP server is called {request.server_name!r}"
            return _nothing, (lambda _: (mcp_fallback(message, reason), None)), False
        on_loop = host.is_async(message)

        def call() -> Any:
            outcome = host.handle(message, ctx)
            return settled(outcome) if on_loop else outcome

        return call, (lambda reply: (mcp_answer(message, reply), None)), on_loop


class HookCall:
    """One call of a hook."""

    __slots__ = ("_ctx", "_event", "_hook", "_request")

    def __init__(self, hook: HookRegistration, request: HookCallback, ctx: CallbackContext) -> None:
        self._hook, self._request, self._ctx = hook, request, ctx

    def call(self) -> Any:
        """Read the input and call the hook."""
        self._event = decode_hook_input(self._request.input)
        # The first hook of a session comes before the message that names the conversation.
        self._ctx.session_id = self._ctx.session_id or self._event.session_id or None
        return self._hook.function(self._event, self._ctx)

    def answer(self, value: Any) -> tuple[Mapping[str, Any], str | None]:
        """Translate what the hook gave."""
        translated = hook_answer(self._hook, self._event, value)
        return translated.output, translated.warning


class PermissionCall:
    """One call of the permission callback."""

    __slots__ = ("_asked", "_ctx", "_function", "_request")

    def __init__(self, function: Callable[..., Any], request: CanUseTool, ctx: CallbackContext) -> None:
        self._function, self._request, self._ctx = function, request, ctx

    def call(self) -> Any:
        """Read the request and call the callback."""
        self._asked = read_permission_request(self._request)
        return self._function(self._asked, self._ctx)

    def answer(self, value: Any) -> tuple[Mapping[str, Any], str | None]:
        """Translate what the callback gave."""
        return permission_answer(self._asked, value), None


def _plain(
    function: Callable[..., Any], request: object, ctx: CallbackContext, answer: Callable[[Any], Mapping[str, Any]]
) -> Invocation:
    return (lambda: function(request, ctx)), (lambda value: (answer(value), None)), is_coroutine_function(function)


# --- who answers where the options name nobody ---


def _deny(_request: object, _ctx: CallbackContext) -> Deny:
    return Deny("nobody decides on permissions here: Options.can_use_tool is not set")


def _decline(_request: object, _ctx: CallbackContext) -> Decline:
    return Decline()


def _dismiss(_request: object, _ctx: CallbackContext) -> Cancelled:
    return Cancelled()


def _nothing() -> None:
    return None
