"""A record of each permission decision, written before the decision takes effect.

A sink that fails fails the callback, and so denies: nothing is allowed that was not recorded. No record holds an input.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, cast

import msgspec

from claude_actors.callbacks.context import CallbackContext
from claude_actors.callbacks.results import Allow, Deny
from claude_actors.logs import get_logger
from claude_actors.wire.permissions import ToolPermissionRequest

R = TypeVar("R")
Outcome: TypeAlias = Literal["allow", "deny", "no_opinion", "failed", "withdrawn"]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided about which call; `message` is the text of a denial or the error of a failure."""

    outcome: Outcome
    tool_name: str
    tool_use_id: str
    request_id: str
    session_id: str | None
    agent_id: str | None
    input_changed: bool = False
    permissions_changed: bool = False
    message: str | None = None


class Logger(Protocol):
    """What is asked of a structlog logger."""

    def info(self, event: str, /, **data: Any) -> Any:
        """Log one event."""


Sink: TypeAlias = Callable[[Decision], object] | Logger


def audit(policy: Callable[[ToolPermissionRequest, CallbackContext], R], sink: Sink | None = None) -> Audited[R]:
    """Return the policy with each of its decisions given to `sink`: a function, or a structlog logger (the default).

    The log gets `permission_decided` without the message of the decision, which may quote the tool's input.
    """
    return Audited(policy, _sink_function(get_logger("claude_actors.permissions") if sink is None else sink))


class Audited(Generic[R]):
    """A policy whose decisions are recorded; as sync, async or late as the policy itself."""

    def __init__(
        self, policy: Callable[[ToolPermissionRequest, CallbackContext], R], record: Callable[[Decision], object]
    ) -> None:
        self.policy = policy
        self._record = record

    def __call__(self, request: ToolPermissionRequest, ctx: CallbackContext) -> R:
        """Ask the policy and record what it says, now or when it is known."""
        note = _Note(self._record, request, ctx)
        result: object = note.of(lambda: self.policy(request, ctx))
        return cast(R, result)


class _Note:
    """Records the outcome of one call."""

    def __init__(
        self, record: Callable[[Decision], object], request: ToolPermissionRequest, ctx: CallbackContext
    ) -> None:
        self._record, self._request, self._ctx = record, request, ctx

    def of(self, ask: Callable[[], object]) -> object:
        try:
            result = ask()
        except BaseException as error:
            self._write("failed", message=repr(error))
            raise
        if isinstance(result, Future):
            return self._later(result)
        if isinstance(result, Awaitable):
            return self._awaited(result)
        self._decided(result)
        return result

    async def _awaited(self, result: Awaitable[object]) -> object:
        try:
            decided = await result
        except BaseException as error:
            self._write("withdrawn" if self._ctx.cancelled else "failed", message=repr(error))
            raise
        self._decided(decided)
        return decided

    def _later(self, inner: Future[Any]) -> Future[Any]:
        outer: Future[Any] = Future()
        outer.add_done_callback(lambda done: done.cancelled() and inner.cancel())
        inner.add_done_callback(lambda done: self._settle(done, outer))
        return outer

    def _settle(self, inner: Future[Any], outer: Future[Any]) -> None:
        if inner.cancelled() or not outer.set_running_or_notify_cancel():
            outer.cancel()
            self._write("withdrawn")
            return
        try:
            outer.set_result(self.of(inner.result))
        except BaseException as error:
            outer.set_exception(error)

    def _decided(self, result: object) -> None:
        if isinstance(result, Allow):
            changes = {
                "input_changed": result.updated_input is not None,
                "permissions_changed": bool(result.updated_permissions),
            }
            self._write("allow", **changes)
        elif isinstance(result, Deny):
            self._write("deny", message=result.message)
        elif isinstance(result, Mapping):
            self._decided_by_mapping(result)
        else:
            self._write("no_opinion" if result is None else "failed")

    def _decided_by_mapping(self, result: Mapping[str, Any]) -> None:
        if result.get("behavior") == "allow":
            self._write(
                "allow",
                input_changed=result.get("updatedInput") != self._request.input,
                permissions_changed=bool(result.get("updatedPermissions")),
            )
        else:
            self._write("deny", message=str(result.get("message")))

    def _write(self, outcome: Outcome, **more: Any) -> None:
        request, ctx = self._request, self._ctx
        self._record(
            Decision(
                outcome=outcome,
                tool_name=request.tool_name,
                tool_use_id=request.tool_use_id,
                request_id=ctx.request_id,
                session_id=ctx.session_id,
                agent_id=request.agent_id,
                **more,
            )
        )


def _sink_function(sink: Sink) -> Callable[[Decision], object]:
    info = getattr(sink, "info", None)
    if info is None:
        return cast("Callable[[Decision], object]", sink)

    def log(decision: Decision) -> None:
        data = msgspec.structs.asdict(decision)
        del data["message"]
        info("permission_decided", **data)

    return log
