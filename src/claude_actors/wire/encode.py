"""Writing frames: each function returns one whole line with its newline.

The CLI ends at the first line that it cannot parse, so nothing leaves here that is not exactly one line of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from claude_actors.errors import EncodingFailed
from claude_actors.wire.control import OpenRequest, OutboundRequest, UnknownRequest
from claude_actors.wire.envelope import ControlCancel, ControlRequest, ControlResponse, Conversation, Frame, KeepAlive

_encode: Final = msgspec.json.Encoder().encode


class _FrozenFrame(msgspec.Struct):
    request: dict[str, msgspec.Raw]


def encode_line(frame: Frame | Mapping[str, Any]) -> bytes:
    """Encode a frame, or the plain JSON of one, as a line; raises EncodingFailed for what cannot be one."""
    try:
        return _one_line(frame.line if isinstance(frame, Conversation) else _encode(_plain(frame)))
    except Exception as error:
        raise EncodingFailed(f"cannot be written as JSON: {error}") from error


def _one_line(line: bytes) -> bytes:
    if b"\n" in line or b"\r" in line:  # ready JSON brings its own white space along
        line = msgspec.json.format(line, indent=-1)
    return line + b"\n"


def encode_request(request_id: str, request: OutboundRequest) -> bytes:
    """Encode a request of ours."""
    body = {**request.fields, "subtype": request.subtype} if isinstance(request, OpenRequest) else request
    return encode_line({"type": "control_request", "request_id": request_id, "request": body})


def frozen_request(request: OutboundRequest) -> OpenRequest:
    """Return the request as JSON that nobody can change any more and that surely can be written.

    Raises EncodingFailed for a value that cannot.
    """
    line = encode_request("", request)
    fields = msgspec.json.decode(line, type=_FrozenFrame).request
    return OpenRequest(request.subtype, {name: value for name, value in fields.items() if name != "subtype"})


def encode_success(request_id: str, payload: Mapping[str, Any] | msgspec.Raw | None = None) -> bytes:
    """Encode our answer to a request of the CLI; None answers with an empty object, ready JSON is checked."""
    if isinstance(payload, msgspec.Raw):
        payload = _checked(payload)
    body = {"subtype": "success", "request_id": request_id, "response": {} if payload is None else payload}
    try:
        return _one_line(_encode({"type": "control_response", "response": body}))
    except Exception as error:
        raise EncodingFailed(f"cannot be written as JSON: {error}") from error


def encode_error(request_id: str, message: str) -> bytes:
    """Encode our refusal of a request of the CLI."""
    return encode_line(_response("error", request_id, {"error": message}))


def encode_cancel(request_id: str) -> bytes:
    """Encode the withdrawal of a request of ours."""
    return encode_line(ControlCancel(request_id))


def encode_user(
    content: str | Sequence[Any],
    uuid: str,
    session_id: str = "default",
    parent_tool_use_id: str | None = None,
    *,
    verbatim: bool = False,
) -> bytes:
    """Encode a prompt: text, or a list of content blocks; the turn's result names it by its uuid.

    A `verbatim` one reaches the model as it is written: the CLI expands no @file in it and takes it for no command.
    Raises EncodingFailed for anything else: bytes, which are a sequence too, would be sent as base64.
    """
    if not isinstance(content, str | list | tuple):
        raise EncodingFailed(f"a prompt is text or a list of content blocks, not {type(content).__name__}")
    frame: dict[str, Any] = {
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": parent_tool_use_id,
        "session_id": session_id,
        "uuid": uuid,
    }
    if verbatim:
        frame["client_composed"] = True
    return encode_line(frame)


def _checked(ready: msgspec.Raw) -> msgspec.Raw:
    line = bytes(ready)
    try:
        line.decode()
        return msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EncodingFailed(f"not JSON: {error}") from error


def _plain(frame: Frame | Mapping[str, Any]) -> Mapping[str, Any]:
    match frame:
        case Mapping():
            return frame
        case ControlRequest(request_id=request_id, request=request):
            body = request.raw if isinstance(request, UnknownRequest) else request
            return {"type": "control_request", "request_id": request_id, "request": body}
        case ControlResponse():
            return _plain_response(frame)
        case ControlCancel(request_id=request_id):
            return {"type": "control_cancel_request", "request_id": request_id}
        case KeepAlive():
            return {"type": "keep_alive"}
        case _:
            raise TypeError(f"{type(frame).__name__} is no frame")


def _plain_response(frame: ControlResponse) -> Mapping[str, Any]:
    fields = {
        "response": frame.response,
        "error": frame.error,
        "error_code": frame.error_code,
        "pending_permission_requests": frame.pending_permission_requests,
    }
    said = {name: value for name, value in fields.items() if value is not None}
    return _response("success" if frame.success else "error", frame.request_id, said)


def _response(subtype: str, request_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "control_response", "response": {"subtype": subtype, "request_id": request_id, **fields}}
