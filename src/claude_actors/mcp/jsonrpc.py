"""JSON-RPC 2.0 as MCP uses it: what kind of message came, and how replies and errors are written.

Pure: it knows no server, session or thread. Ids go back exactly as they came; reading a message never raises.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
# MCP's peers use this code, taken from the language server protocol, where a cancelled request must still be ended.
REQUEST_CANCELLED: Final = -32800


class Request(msgspec.Struct, frozen=True):
    """A message that is owed a reply with the same id."""

    id: str | int
    method: str
    params: dict[str, Any]


class Notification(msgspec.Struct, frozen=True):
    """A message that is owed nothing."""

    method: str
    params: dict[str, Any]


class Response(msgspec.Struct, frozen=True):
    """The peer's reply to a request of the server."""

    message: dict[str, Any]


class Invalid(msgspec.Struct, frozen=True):
    """Not JSON-RPC; `reply` says why."""

    reply: dict[str, Any]


Incoming = Request | Notification | Response | Invalid


class ProtocolError(Exception):
    """What a method handler raises to answer with a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        super().__init__(message)


def success(message_id: object, result: dict[str, Any]) -> dict[str, Any]:
    """Write a reply."""
    return {"jsonrpc": "2.0", "id": message_id, "result": result}


def failure(message_id: object, code: int, message: str) -> dict[str, Any]:
    """Write an error reply."""
    return {"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": message}}


def cancelled(message_id: object) -> dict[str, Any]:
    """Write the reply that ends a request which its sender has cancelled."""
    return failure(message_id, REQUEST_CANCELLED, "Request cancelled")


def classify(message: object) -> Incoming:
    """Tell requests, notifications and responses apart; anything else is `Invalid`, with its reply."""
    if isinstance(message, list):
        return _invalid(None, "batches are not supported: send one message at a time")
    if not isinstance(message, dict):
        return _invalid(None, "a message must be a JSON object")
    if message.get("jsonrpc") != "2.0":
        return _invalid(message.get("id"), 'a message must say "jsonrpc": "2.0"')
    if "method" not in message and ("result" in message or "error" in message):
        return Response(message)
    return _call(message)


def _call(message: dict[str, Any]) -> Incoming:
    message_id, method, params = message.get("id"), message.get("method"), message.get("params")
    if not isinstance(method, str):
        return _invalid(message_id, "method must be a string")
    if params is not None and not isinstance(params, dict):
        return Invalid(failure(message_id, INVALID_PARAMS, "params must be an object"))
    if "id" not in message:
        return Notification(method, params or {})
    if isinstance(message_id, bool) or not isinstance(message_id, str | int):
        return _invalid(message_id, "id must be a string or an integer")
    return Request(message_id, method, params or {})


def _invalid(message_id: object, reason: str) -> Invalid:
    return Invalid(failure(message_id, INVALID_REQUEST, f"Invalid request: {reason}"))
