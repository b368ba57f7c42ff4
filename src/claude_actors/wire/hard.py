"""The slow reading of lines that the strict decoders refused: keep what can be kept, name what cannot.

Runs for odd lines only, so it may read them as plain JSON as a whole. It never raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, get_args

import msgspec

from claude_actors.wire.control import KnownRequest, UnknownRequest, WholeRequest
from claude_actors.wire.envelope import (
    ControlCancel,
    ControlRequest,
    ControlResponse,
    Conversation,
    Frame,
    KeepAlive,
    Malformed,
    MalformedKind,
    keep_envelope_line,
)
from claude_actors.wire.repair import is_utf8, read_json, read_object, repair_surrogates, request_id_at_start
from claude_actors.wire.salvage import salvage

START: Final = 200
"""How much of a line a `Malformed` value keeps."""

_REQUESTS: Final[dict[str, type[msgspec.Struct]]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(KnownRequest)
}


def decode(line: bytes) -> Frame:
    """Read a line that the strict decoders refused."""
    if not is_utf8(line):
        return not_utf8(line)
    try:
        return _from_value(repair_surrogates(line), read_json(line))
    except RecursionError:
        return _unreadable(line, "nesting", "nested too deeply")
    except ValueError as error:
        return _unreadable(line, "json", str(error))


def not_utf8(line: bytes) -> Malformed:
    """Refuse a line that is not UTF-8, with the request id if the rest of it is JSON."""
    data = read_object(line)
    if not data:
        return _unreadable(line, "utf8", "not UTF-8")
    return _malformed(line, data, "not UTF-8", "utf8")


def _from_value(line: bytes, data: Any) -> Frame:
    if not isinstance(data, dict):
        return _malformed(line, {}, "not an object")
    kind = data.get("type")
    if not isinstance(kind, str):
        return _malformed(line, data, "no type")
    control = _CONTROL.get(kind)
    return _conversation(line, data) if control is None else control(line, data)


def _conversation(line: bytes, data: dict[str, Any]) -> Frame:
    frame = salvage(Conversation, data)
    assert frame is not None  # its one required field is a string, as was checked
    keep_envelope_line(frame, line)
    return frame


def _request(line: bytes, data: dict[str, Any]) -> Frame:
    request_id, body = data.get("request_id"), data.get("request")
    if not isinstance(request_id, str) or not isinstance(body, dict):
        return _malformed(line, data, "a control_request without request_id or request")
    subtype = body.get("subtype")
    if not isinstance(subtype, str):
        return _malformed(line, data, "a control_request without subtype")
    known = _REQUESTS.get(subtype)
    if known is None:
        return ControlRequest(request_id, UnknownRequest(subtype, body))
    request = salvage(known, body)
    if request is None:
        return _malformed(line, data, f"{subtype} lacks a field that it needs")
    if isinstance(request, WholeRequest):
        request.keep_line(line)
    return ControlRequest(request_id, request)  # type: ignore[arg-type]


def _response(line: bytes, data: dict[str, Any]) -> Frame:
    request_id, body = read_request_id(data), data.get("response")
    if request_id is None or not isinstance(body, dict):
        return _malformed(line, data, "a control_response without request_id or response")
    pending = body.get("pending_permission_requests")
    pending = pending if isinstance(pending, list) else None
    if body.get("subtype") == "success":
        return ControlResponse(request_id, True, _payload(body.get("response")), pending_permission_requests=pending)
    if body.get("subtype") != "error":
        return _malformed(line, data, "a control_response that is neither success nor error")
    return ControlResponse(
        request_id,
        False,
        error=_text(body.get("error")),
        error_code=_string(body.get("error_code")),
        pending_permission_requests=pending,
    )


def _cancel(line: bytes, data: dict[str, Any]) -> Frame:
    request_id = data.get("request_id")
    if not isinstance(request_id, str):
        return _malformed(line, data, "a control_cancel_request without request_id")
    return ControlCancel(request_id)


_CONTROL: Final[dict[str, Callable[[bytes, dict[str, Any]], Frame]]] = {
    "control_request": _request,
    "control_response": _response,
    "control_cancel_request": _cancel,
    "keep_alive": lambda line, data: KeepAlive(),
}


def read_request_id(data: dict[str, Any]) -> str | None:
    """Find the request id of a frame: inside `response` first, at the top level else."""
    body = data.get("response")
    inner = body.get("request_id") if isinstance(body, dict) else None
    return inner if isinstance(inner, str) else _string(data.get("request_id"))


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _payload(value: Any) -> dict[str, Any] | None:
    return value if value is None or isinstance(value, dict) else {"response": value}


def _text(error: Any) -> str:
    if isinstance(error, str):
        return error
    return "no reason given" if error is None else msgspec.json.encode(error).decode()


def _malformed(line: bytes, data: dict[str, Any], reason: str, kind: MalformedKind = "shape") -> Malformed:
    return Malformed(reason, line[:START], read_request_id(data), kind, _string(data.get("type")))


def _unreadable(line: bytes, kind: MalformedKind, reason: str) -> Malformed:
    frame_type, request_id = request_id_at_start(line) or (None, None)
    return Malformed(reason, line[:START], request_id, kind, frame_type)
