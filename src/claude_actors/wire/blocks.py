"""Content blocks: the parts of which assistant and user messages are made.

A block of a type that is not known here, or that does not fit its type, becomes an `UnknownBlock` and costs its
neighbours nothing.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias, get_args

import msgspec

from claude_actors.wire.salvage import UNFIT, salvage


class Block(msgspec.Struct, frozen=True, tag_field="type", repr_omit_defaults=True, omit_defaults=True):
    """Base of the content blocks."""

    @property
    def type(self) -> str:
        """The block's type on the wire."""
        return str(self.__struct_config__.tag)


class TextBlock(Block, frozen=True, gc=False, tag="text"):
    """Text."""

    text: str
    citations: list[Any] | None = None


class ThinkingBlock(Block, frozen=True, gc=False, tag="thinking"):
    """Thinking that can be read."""

    thinking: str
    signature: str = ""


class RedactedThinkingBlock(Block, frozen=True, gc=False, tag="redacted_thinking"):
    """Thinking that only the API can read."""

    data: str


class ToolUseBlock(Block, frozen=True, gc=False, tag="tool_use"):
    """The model calls a tool."""

    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(Block, frozen=True, gc=False, tag="tool_result"):
    """What a tool gave back; `content` is text, or a list of plain blocks."""

    tool_use_id: str
    content: str | list[dict[str, Any]] | None = None
    is_error: bool | None = None


class ImageBlock(Block, frozen=True, gc=False, tag="image"):
    """A picture: `source` tells its media type and holds its data or address."""

    source: dict[str, Any]


class DocumentBlock(Block, frozen=True, gc=False, tag="document"):
    """A document such as a PDF."""

    source: dict[str, Any]
    title: str | None = None
    context: str | None = None


class SearchResultBlock(Block, frozen=True, gc=False, tag="search_result"):
    """A search result that can be cited."""

    source: str
    title: str
    content: list[Any]


class ServerToolUseBlock(Block, frozen=True, gc=False, tag="server_tool_use"):
    """The model calls a tool that the API runs itself; no result is owed."""

    id: str
    name: str
    input: dict[str, Any]


class McpToolUseBlock(Block, frozen=True, gc=False, tag="mcp_tool_use"):
    """The model calls a tool of an MCP server that the API talks to itself."""

    id: str
    name: str
    input: dict[str, Any]
    server_name: str = ""


class ServerToolResultBlock(Block, frozen=True, gc=False, tag="server_tool_result"):
    """What a tool of the API gave back; each tool has its own subclass, `content` is as the API sent it."""

    tool_use_id: str
    content: Any = None


class McpToolResultBlock(ServerToolResultBlock, frozen=True, gc=False, tag="mcp_tool_result"):
    """What a tool of an MCP server gave back to the API."""

    is_error: bool | None = None


class AdvisorResultBlock(ServerToolResultBlock, frozen=True, gc=False, tag="advisor_tool_result"):
    """What the advisor said."""


class WebSearchResultBlock(ServerToolResultBlock, frozen=True, gc=False, tag="web_search_tool_result"):
    """What a web search found."""


class WebFetchResultBlock(ServerToolResultBlock, frozen=True, gc=False, tag="web_fetch_tool_result"):
    """What was fetched from the web."""


class CodeExecutionResultBlock(ServerToolResultBlock, frozen=True, gc=False, tag="code_execution_tool_result"):
    """What code printed."""


class BashExecutionResultBlock(ServerToolResultBlock, frozen=True, gc=False, tag="bash_code_execution_tool_result"):
    """What a shell command printed."""


class TextEditorResultBlock(ServerToolResultBlock, frozen=True, gc=False, tag="text_editor_code_execution_tool_result"):
    """What the text editor tool did."""


class ToolSearchResultBlock(ServerToolResultBlock, frozen=True, gc=False, tag="tool_search_tool_result"):
    """Which tools a tool search found."""


class UnknownBlock(msgspec.Struct, frozen=True):
    """A block that there is no class for, or that does not fit its class; `raw` is the block as it came."""

    type: str
    raw: Any


KnownBlock: TypeAlias = (
    TextBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolUseBlock
    | ToolResultBlock
    | ImageBlock
    | DocumentBlock
    | SearchResultBlock
    | ServerToolUseBlock
    | McpToolUseBlock
    | ServerToolResultBlock
    | McpToolResultBlock
    | AdvisorResultBlock
    | WebSearchResultBlock
    | WebFetchResultBlock
    | CodeExecutionResultBlock
    | BashExecutionResultBlock
    | TextEditorResultBlock
    | ToolSearchResultBlock
)
ContentBlock: TypeAlias = KnownBlock | UnknownBlock

_BLOCKS: Final[dict[str, type[Block]]] = {str(kind.__struct_config__.tag): kind for kind in get_args(KnownBlock)}


def fit_content(content: Any) -> Any:
    """Make blocks of plain JSON; text stays text; anything else is unfit."""
    return content if isinstance(content, str) else fit_blocks(content)


def fit_blocks(content: Any) -> Any:
    """Make blocks of a plain list, one by one; anything else is unfit."""
    return [_fit_block(item) for item in content] if isinstance(content, list) else UNFIT


def _fit_block(item: Any) -> Block | UnknownBlock:
    kind = item.get("type") if isinstance(item, dict) else None
    if not isinstance(kind, str):
        return UnknownBlock("", item)
    known = _BLOCKS.get(kind)
    block = salvage(known, item) if known is not None else None
    return UnknownBlock(kind, item) if block is None else block
