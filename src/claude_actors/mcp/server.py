"""`ToolServer`: typed Python functions as an MCP server inside this process.

It is only a list of tools, and so may serve any number of sessions at once; what is running, and can be cancelled, is
known to each session's host alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, overload

from claude_actors.errors import InvalidOptions
from claude_actors.mcp.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, ProtocolError
from claude_actors.mcp.tool import Tool, ToolAnnotations, make_tool

JsonObject = dict[str, Any]
F = TypeVar("F", bound=Callable[..., Any])

PROTOCOL_VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""What we speak, newest first."""


class ToolServer:
    """An MCP server made of functions. Register tools before sessions use it; then it is safe in every thread."""

    def __init__(self, name: str, version: str = "1.0.0", instructions: str | None = None) -> None:
        self.name, self.version, self.instructions = name, version, instructions
        self._tools: dict[str, Tool] = {}

    @overload
    def tool(self, function: F, /) -> F: ...

    @overload
    def tool(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | Mapping[str, Any] | None = None,
        structured_output: bool = True,
        always_load: bool = False,
        meta: Mapping[str, Any] | None = None,
    ) -> Callable[[F], F]: ...

    def tool(self, function: Callable[..., Any] | None = None, /, **settings: Any) -> Any:
        """Register a function, sync or async, and give it back unchanged.

        Its parameters are the tool's arguments; a single Struct parameter stands for the whole argument object, and a
        `CallbackContext` is passed but not shown. The description is the docstring's first paragraph; a parameter is
        described by `Annotated[int, msgspec.Meta(description=...)]`. A declared record as return type becomes the
        output schema unless `structured_output=False`. `always_load` puts the tool into the model's prompt from the
        start, where the CLI would else let the model search for it. Raises `InvalidOptions` for a signature that JSON
        cannot fill.
        """
        if function is None:
            return lambda decorated: self._register(decorated, settings)
        return self._register(function, settings)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools in the order of their registration."""
        return tuple(self._tools.values())

    def find(self, name: object) -> Tool | None:
        """Look a tool up."""
        return self._tools.get(name) if isinstance(name, str) else None

    def respond(self, method: str, params: JsonObject) -> JsonObject:
        """Answer a request that runs no user code; raises `ProtocolError`."""
        match method:
            case "initialize":
                return self._initialized(params)
            case "ping":
                return {}
            case "tools/list":
                return {"tools": [tool.listing for tool in self.tools]}
            case _:
                raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")

    def _initialized(self, params: JsonObject) -> JsonObject:
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise ProtocolError(INVALID_PARAMS, "protocolVersion must be a string")
        result: JsonObject = {
            "protocolVersion": wanted if wanted in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": self.name, "version": self.version},
        }
        return result if self.instructions is None else {**result, "instructions": self.instructions}

    def _register(self, function: F, settings: Mapping[str, Any]) -> F:
        tool = make_tool(function, **settings)
        if tool.name in self._tools:
            raise InvalidOptions(f"server {self.name!r} already has a tool {tool.name!r}")
        self._tools[tool.name] = tool
        return function

    def __repr__(self) -> str:
        return f"<ToolServer {self.name} {self.version}: {', '.join(self._tools) or 'no tools'}>"
