"""Writing frames: each function returns one whole line with its newline.

The CLI ends at the first line that it cannot parse, so nothing leaves here that is not exactly one line of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from claude_actors.errors import EncodingFailed
from claude_actors.wire.control import OpenRequest, OutboundRequest

_encode: Final = msgspec.json.Encoder().encode


def encode_line(frame: Any) -> bytes:
    """Encode a mapping, a struct or ready JSON (`Raw`) as one line; raises EncodingFailed for what is no JSON."""
    try:
        line = _encode(frame)
        if b"\n" in line or b"\r" in line:  # only ready JSON brings its own white space along
            line = msgspec.json.format(line, indent=-1)
    except Exception as error:
        raise EncodingFailed(f"cannot be written as JSON: {error}") from error
    return _one_line(line)


def encode_request(request_id: str, request: OutboundRequest) -> bytes:
    """Encode a request of ours."""
    body = {**request.fields, "subtype": request.subtype} if isinstance(request, OpenRequest) else request
    return encode_line({"type": "control_request", "request_id": request_id, "request": body})


def encode_success(request_id: str, payload: Mapping[str, Any] | msgspec.Raw | None = None) -> bytes:
    """Encode our answer to a request of the CLI; None answers with an empty object."""
    body = {"subtype": "success", "request_id": request_id, "response": {} if payload is None else payload}
    return encode_line({"type": "control_response", "response": body})


def encode_error(request_id: str, message: str) -> bytes:
    """Encode our refusal of a request of the CLI."""
    body = {"subtype": "error", "request_id": request_id, "error": message}
    return encode_line({"type": "control_response", "response": body})


def encode_cancel(request_id: str) -> bytes:
    """Encode the withdrawal of a request of ours."""
    return encode_line({"type": "control_cancel_request", "request_id": request_id})


def encode_user(
    content: str | Sequence[Any], uuid: str, session_id: str = "default", parent_tool_use_id: str | None = None
) -> bytes:
    """Encode a prompt: text, or a list of content blocks; the turn's result names it by its uuid."""
    frame = {
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": parent_tool_use_id,
        "session_id": session_id,
        "uuid": uuid,
    }
    return encode_line(frame)


def _one_line(line: bytes) -> bytes:
    # Some line readers of JavaScript also end a line at these two separators; as escapes they mean the same.
    if b"\xe2\x80" in line:
        line = line.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")
    return line + b"\n"
