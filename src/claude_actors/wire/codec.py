"""One line to one frame, one frame to one line.

Reading never raises: what cannot be read is a `Malformed` value. Conversation frames are read as far as their envelope
and keep their bytes; `messages` makes the typed message when somebody wants it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from claude_actors.wire import hard
from claude_actors.wire.control import KnownRequest, WholeRequest
from claude_actors.wire.encode import (
    encode_cancel,
    encode_error,
    encode_line,
    encode_request,
    encode_success,
    encode_user,
)
from claude_actors.wire.envelope import (
    ControlCancel,
    ControlRequest,
    ControlResponse,
    Conversation,
    Frame,
    KeepAlive,
    Malformed,
    keep_envelope_line,
)
from claude_actors.wire.repair import is_utf8

__all__ = [
    "ControlCancel",
    "ControlRequest",
    "ControlResponse",
    "Conversation",
    "Frame",
    "KeepAlive",
    "Malformed",
    "decode_line",
    "encode_cancel",
    "encode_error",
    "encode_line",
    "encode_request",
    "encode_success",
    "encode_user",
]


class _RequestFrame(msgspec.Struct):
    request_id: str
    request: KnownRequest


class _ResponseBody(msgspec.Struct):
    subtype: str
    request_id: str
    response: dict[str, Any] | None = None
    pending_permission_requests: list[Any] | None = None


class _ResponseFrame(msgspec.Struct):
    response: _ResponseBody


class _CancelFrame(msgspec.Struct):
    request_id: str


_REQUEST_HEAD: Final = b'{"type":"control_request",'
_read_envelope: Final = msgspec.json.Decoder(Conversation).decode
_read_request: Final = msgspec.json.Decoder(_RequestFrame).decode
_read_response: Final = msgspec.json.Decoder(_ResponseFrame).decode
_read_cancel: Final = msgspec.json.Decoder(_CancelFrame).decode


def decode_line(line: bytes) -> Frame:
    """Read one line, without its newline, as a frame. Never raises."""
    try:
        # What somebody waits for is told by its head, as the CLI writes it: that saves reading it twice.
        if line.startswith(_REQUEST_HEAD):
            return _request(line)
        frame = _read_envelope(line)
        control = _CONTROL.get(frame.type)
        if control is None:
            keep_envelope_line(frame, line)
            return frame
        return control(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return hard.decode(line)


def _request(line: bytes) -> Frame:
    # The input of a hook is passed on undecoded, and a permission must not be decided on text that was guessed.
    if not is_utf8(line):
        return hard.not_utf8(line)
    frame = _read_request(line)
    if isinstance(frame.request, WholeRequest):
        frame.request.keep_line(line)
    return ControlRequest(frame.request_id, frame.request)


def _response(line: bytes) -> Frame:
    body = _read_response(line).response
    # Errors are rare, and their shape is the one that varies.
    if body.subtype != "success":
        return hard.decode(line)
    return ControlResponse(
        body.request_id, True, body.response, pending_permission_requests=body.pending_permission_requests
    )


def _cancel(line: bytes) -> Frame:
    return ControlCancel(_read_cancel(line).request_id)


_CONTROL: Final[dict[str, Callable[[bytes], Frame]]] = {
    "control_request": _request,
    "control_response": _response,
    "control_cancel_request": _cancel,
    "keep_alive": lambda line: KeepAlive(),
}
