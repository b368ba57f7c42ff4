"""One tool: a typed function as MCP lists it, and one call of it from JSON arguments to a tool result.

Whatever the function does, a call ends in a result: the model is told in words what went wrong, without a traceback and
without the paths of this machine. It must not know JSON-RPC, sessions or threads.
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec

from claude_actors.callbacks.context import CallbackContext
from claude_actors.errors import InvalidOptions, ToolError
from claude_actors.logs import get_logger
from claude_actors.mcp.content import ToolResult, encodable, error_result, structured, to_result
from claude_actors.mcp.schema import Arguments, Output, arguments_of, is_coroutine_function, output_of, signature_of

JsonObject = dict[str, Any]

# What the Messages API allows in a tool's name, less the room that the CLI needs for `mcp__<server>__`.
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PATH: Final = re.compile(r"(?<![\w:/.\\])(?:[A-Za-z]:\\|~?/)[\w.+@~-]+(?:[/\\][\w.+@~-]+)+")
_LONGEST_MESSAGE: Final = 2_000

log = get_logger(__name__)


class ToolAnnotations(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hints for the CLI about what a tool does; it may run read-only tools side by side, for one."""

    title: str | None = None
    read_only: bool | None = msgspec.field(default=None, name="readOnlyHint")
    destructive: bool | None = msgspec.field(default=None, name="destructiveHint")
    idempotent: bool | None = msgspec.field(default=None, name="idempotentHint")
    open_world: bool | None = msgspec.field(default=None, name="openWorldHint")


class Tool(msgspec.Struct, frozen=True):
    """A registered function; made by `ToolServer.tool`."""

    name: str
    function: Callable[..., Any]
    is_async: bool
    arguments: Arguments
    output: Output | None
    listing: JsonObject
    """The tool's entry in `tools/list`."""

    def start(self, arguments: Mapping[str, Any], ctx: CallbackContext) -> JsonObject | Awaitable[JsonObject]:
        """Call the function; give the result, or for a coroutine what will become it. Never raises."""
        try:
            keywords = self.arguments.bind(arguments, ctx)
        except msgspec.ValidationError as error:
            return error_result(f"Invalid arguments for {self.name}: {error}")
        except BaseException as error:  # a Struct's own __post_init__ is user code too
            return self._failed(error)
        try:
            value = self.function(**keywords)
        except BaseException as error:  # SystemExit in a tool must not end the thread that serves others
            return self._failed(error)
        return self._awaited(value) if inspect.isawaitable(value) else self._returned(value)

    async def _awaited(self, value: Awaitable[Any]) -> JsonObject:
        import asyncio  # 20 ms, and loaded already where a coroutine runs

        try:
            returned = await value
        except (GeneratorExit, asyncio.CancelledError):
            raise
        except BaseException as error:  # SystemExit would end the event loop that serves everybody
            return self._failed(error)
        return self._returned(returned)

    def _returned(self, value: object) -> JsonObject:
        try:
            return self._shaped(value)
        except Exception as error:
            log.warning("tool_result_refused", tool=self.name, error=type(error).__name__)
            return error_result(f"{self.name} returned something that cannot be sent: {describe(error)}")

    def _shaped(self, value: object) -> JsonObject:
        if self.output is None or isinstance(value, ToolResult):
            return to_result(value)
        return structured(self.output.conforming(value))

    def _failed(self, error: BaseException) -> JsonObject:
        if isinstance(error, ToolError):
            return error_result(str(error) or self.name + " refused")
        log.warning("tool_raised", tool=self.name, error=type(error).__name__)
        log.debug("tool_traceback", tool=self.name, traceback=traceback_text(error))
        return error_result(describe(error))


def make_tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    annotations: ToolAnnotations | Mapping[str, Any] | None = None,
    structured_output: bool = True,
    always_load: bool = False,
    meta: Mapping[str, Any] | None = None,
) -> Tool:
    """Read a function's name, docstring and signature into a tool; raises `InvalidOptions` for what cannot be one."""
    called = _checked_name(name if name is not None else getattr(function, "__name__", ""))
    signature = signature_of(called, function)
    arguments = arguments_of(called, signature)
    output = output_of(called, signature) if structured_output else None
    optional = {
        "title": title,
        "description": first_paragraph(function) if description is None else description,
        "annotations": None if annotations is None else msgspec.to_builtins(annotations),
        "outputSchema": None if output is None else output.schema,
        "_meta": {**(meta or {}), **({"anthropic/alwaysLoad": True} if always_load else {})},
    }
    listing = {"name": called, "inputSchema": arguments.schema}
    listing |= {key: value for key, value in optional.items() if value}
    return Tool(called, function, is_coroutine_function(function), arguments, output, listing)


def first_paragraph(function: Callable[..., Any]) -> str:
    """Read the docstring up to its first blank line, as one line."""
    paragraph = (inspect.getdoc(function) or "").strip().partition("\n\n")[0]
    return " ".join(paragraph.split())


def describe(error: BaseException) -> str:
    """Say an exception in words for the model: its type and text, but no traceback and no path of this machine."""
    # str() of an OSError carries the path; strerror is the part that tells what happened.
    said = error.strerror if isinstance(error, OSError) and error.strerror else _text_of(error)
    text = _PATH.sub("<path>", encodable(said)).strip()
    if len(text) > _LONGEST_MESSAGE:
        text = text[:_LONGEST_MESSAGE] + "…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def traceback_text(error: BaseException) -> str:
    """Write a traceback plainly: structlog's own rendering took 300 ms, which an event loop cannot spare."""
    return "".join(traceback.format_exception(error))


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidOptions(f"{name!r} cannot be a tool's name: use 1 to 64 letters, digits, '_' or '-' (name=...)")
    return name
