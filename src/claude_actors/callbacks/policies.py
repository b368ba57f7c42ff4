"""Ready permission policies that compose: each looks at a request and allows, denies, or has no opinion (None).

`first_decision(...)` makes a permission callback of them. Policies may be sync or async, or answer later through a
`concurrent.futures.Future` as `Approvals` does; none of them may touch the session.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from fnmatch import fnmatchcase
from typing import Any, Final, TypeAlias

import msgspec

from claude_actors.callbacks.context import CallbackContext
from claude_actors.callbacks.outcomes import PermissionResult
from claude_actors.callbacks.results import Allow, Deny
from claude_actors.errors import InvalidOptions
from claude_actors.wire.permissions import ToolPermissionRequest

Opinion: TypeAlias = PermissionResult | None
Policy: TypeAlias = Callable[[ToolPermissionRequest, CallbackContext], Opinion | Awaitable[Opinion] | Future[Any]]
Verdict: TypeAlias = PermissionResult | Awaitable[PermissionResult] | Future[Any]
PermissionCallback: TypeAlias = Callable[[ToolPermissionRequest, CallbackContext], Verdict]
Patterns: TypeAlias = Mapping[str, str | re.Pattern[str]]

READING_TOOLS: Final = (
    "Glob",
    "Grep",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "NotebookRead",
    "Read",
    "ReadMcpResourceDirTool",
    "ReadMcpResourceTool",
    "TaskGet",
    "TaskList",
    "ToolSearch",
)
"""Tools that look and change nothing, here or elsewhere."""


def allow_tools(
    *names: str, where: Patterns | None = None
) -> Callable[[ToolPermissionRequest, CallbackContext], Allow | None]:
    """Allow the tools whose names match (`Bash`, `mcp__github__*`); with `where`, only those calls whose inputs match.

    Each pattern of `where` is a regular expression that must match the whole of that input field. Mind that a shell
    command such as `git status; rm x` matches `git .*`. Raises `InvalidOptions` for patterns that cannot be used.
    """
    matches = _matcher(names, where, re.Pattern.fullmatch)
    return lambda request, ctx: Allow() if matches(request) else None


def deny_tools(
    *names: str, where: Patterns | None = None, message: str = "this tool is not allowed here"
) -> Callable[[ToolPermissionRequest, CallbackContext], Deny | None]:
    """Deny the tools whose names match; with `where`, only those calls whose inputs match.

    Each pattern of `where` is a regular expression that is searched for anywhere in that input field. Raises
    `InvalidOptions` for patterns that cannot be used.
    """
    matches = _matcher(names, where, re.Pattern.search)
    return lambda request, ctx: Deny(message) if matches(request) else None


def read_only(
    message: str = "only reading is allowed here",
) -> Callable[[ToolPermissionRequest, CallbackContext], Allow | Deny]:
    """Allow the tools that only read, of whatever file, and deny all others."""
    return lambda request, ctx: Allow() if request.tool_name in READING_TOOLS else Deny(message)


class FirstDecision:
    """Ask policies in order and take the first opinion, or `default`; it can be a permission callback."""

    def __init__(self, policies: tuple[Policy, ...], default: Allow | Deny) -> None:
        self.policies = policies
        self.default = default

    def __call__(self, request: ToolPermissionRequest, ctx: CallbackContext) -> Verdict:
        """Decide in this thread as long as policies are sync; from the first async one on, in a coroutine."""
        return self._ask_from(0, request, ctx)

    def _ask_from(self, start: int, request: ToolPermissionRequest, ctx: CallbackContext) -> Verdict:
        for index in range(start, len(self.policies)):
            opinion = self.policies[index](request, ctx)
            if isinstance(opinion, Awaitable):
                return self._go_on(opinion, index + 1, request, ctx)
            if opinion is not None:
                return opinion
        return self.default

    async def _go_on(
        self, opinion: Awaitable[Opinion], index: int, request: ToolPermissionRequest, ctx: CallbackContext
    ) -> PermissionResult:
        decided = await opinion
        if decided is not None:
            return decided
        verdict = self._ask_from(index, request, ctx)
        if isinstance(verdict, Future):
            from asyncio import wrap_future  # 40 ms that a program without coroutines never needs

            found: PermissionResult = await wrap_future(verdict)
            return found
        return await verdict if isinstance(verdict, Awaitable) else verdict


def first_decision(*policies: Policy, default: Allow | Deny | None = None) -> FirstDecision:
    """Return a permission callback that takes the first opinion of these policies; what nobody allows is denied.

    A policy that answers with a `Future` decides: those behind it are not asked. One that raises fails the callback,
    which denies.
    """
    return FirstDecision(policies, default or Deny("no policy allows this tool"))


# --- matching ---


def _matcher(
    names: tuple[str, ...], where: Patterns | None, test: Callable[[re.Pattern[str], str], object]
) -> Callable[[ToolPermissionRequest], bool]:
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InvalidOptions("a tool policy needs the names of its tools")
    patterns = {field: _compiled(field, pattern) for field, pattern in (where or {}).items()}

    def matches(request: ToolPermissionRequest) -> bool:
        named = any(fnmatchcase(request.tool_name, name) for name in names)
        return named and all(
            field in request.input and test(pattern, _text(request.input[field])) is not None
            for field, pattern in patterns.items()
        )

    return matches


def _compiled(field: str, pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, TypeError) as error:
        raise InvalidOptions(f"the pattern for input field {field!r} is no regular expression: {error}") from None


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
