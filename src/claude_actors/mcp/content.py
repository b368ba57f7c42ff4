"""What a tool may return, and how that becomes an MCP tool result.

Text and data are told apart by type alone: content objects are sent as they are, a string is text, `None` is nothing,
records and dicts are structured content with their JSON beside it as text, and everything else is its JSON as text.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

JsonObject = dict[str, Any]


class Text(msgspec.Struct, frozen=True):
    """A piece of text; a plain string does as well."""

    text: str

    def to_wire(self) -> JsonObject:
        return {"type": "text", "text": encodable(self.text)}


class Image(msgspec.Struct, frozen=True):
    """An image, which the model sees."""

    data: bytes
    mime_type: str = "image/png"

    def to_wire(self) -> JsonObject:
        return {"type": "image", "data": _base64(self.data), "mimeType": self.mime_type}


class Audio(msgspec.Struct, frozen=True):
    """A sound."""

    data: bytes
    mime_type: str = "audio/wav"

    def to_wire(self) -> JsonObject:
        return {"type": "audio", "data": _base64(self.data), "mimeType": self.mime_type}


class Resource(msgspec.Struct, frozen=True):
    """A document sent along whole: `content` is its text, or bytes for a binary one."""

    uri: str
    content: str | bytes
    mime_type: str | None = None

    def to_wire(self) -> JsonObject:
        body: JsonObject = {"uri": self.uri}
        if self.mime_type is not None:
            body["mimeType"] = self.mime_type
        if isinstance(self.content, str):
            body["text"] = encodable(self.content)
        else:
            body["blob"] = _base64(self.content)
        return {"type": "resource", "resource": body}


class ResourceLink(msgspec.Struct, frozen=True):
    """A pointer to something that the model may ask for by other means."""

    uri: str
    name: str
    description: str | None = None
    mime_type: str | None = None

    def to_wire(self) -> JsonObject:
        link = {"type": "resource_link", "uri": self.uri, "name": self.name}
        extra = {"description": self.description, "mimeType": self.mime_type}
        return link | {key: value for key, value in extra.items() if value is not None}


Content = Text | Image | Audio | Resource | ResourceLink
CONTENT_TYPES = (Text, Image, Audio, Resource, ResourceLink)


class ToolResult(msgspec.Struct, frozen=True):
    """A result spelled out, for what the plain return values cannot say."""

    content: Sequence[str | Content] = ()
    structured: Mapping[str, Any] | None = None
    is_error: bool = False
    meta: Mapping[str, Any] | None = None


def to_result(value: object) -> JsonObject:
    """Turn what a tool returned into the result of `tools/call`.

    Raises `TypeError` or another encoding error of msgspec if a part of it has no JSON.
    """
    if isinstance(value, ToolResult):
        return _explicit(value)
    if value is None:
        return {"content": []}
    if isinstance(value, (str, *CONTENT_TYPES)) or _holds_content(value):
        return {"content": _blocks(value if isinstance(value, list | tuple) else [value])}
    return structured(value) if _is_record(value) else {"content": [_as_json(value)]}


def structured(value: object) -> JsonObject:
    """Make a result of structured content, with its JSON as text for readers that know no structure."""
    text = msgspec.json.encode(value)
    result: JsonObject = {"content": [_json_block(text)]}
    plain = msgspec.json.decode(text)
    if isinstance(plain, dict):  # an array_like Struct is no object, and MCP's structure must be one
        result["structuredContent"] = plain
    return result


def error_result(message: str) -> JsonObject:
    """Make the result that tells the model what went wrong, so that it can try otherwise."""
    return {"content": [Text(message).to_wire()], "isError": True}


def encodable(text: str) -> str:
    """Replace lone surrogates (undecodable file names, say), which no JSON line can carry."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _explicit(value: ToolResult) -> JsonObject:
    result: JsonObject = {"content": _blocks(value.content)}
    if value.structured is not None:
        result["structuredContent"] = _plain(value.structured)
    if value.is_error:
        result["isError"] = True
    if value.meta is not None:
        result["_meta"] = _plain(value.meta)
    return result


def _holds_content(value: object) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(item, CONTENT_TYPES) for item in value)


def _blocks(items: Sequence[object]) -> list[JsonObject]:
    return [_block(item) for item in items]


def _block(item: object) -> JsonObject:
    if isinstance(item, str):
        return Text(item).to_wire()
    return item.to_wire() if isinstance(item, CONTENT_TYPES) else _as_json(item)


def _is_record(value: object) -> bool:
    return isinstance(value, Mapping | msgspec.Struct) or dataclasses.is_dataclass(value)


def _as_json(value: object) -> JsonObject:
    return _json_block(msgspec.json.encode(value))


def _json_block(text: bytes) -> JsonObject:
    return {"type": "text", "text": text.decode()}


def _plain(value: object) -> Any:
    # Through JSON, not to_builtins: that lets pass strings which no line can carry.
    return msgspec.json.decode(msgspec.json.encode(value))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
