"""The frames that one line can be: control frames decoded whole, conversation frames by their envelope only.

Everything here is plain data. How a line becomes a frame is `codec`'s business; what a frame means is the protocol's.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from claude_actors.wire.control import InboundRequest
from claude_actors.wire.kept import Line, setter


class Conversation(msgspec.Struct, frozen=True, gc=False):
    """A conversation frame of which only the fields that steer a session were read; `line` is the whole of it.

    A field that is absent, or of a type that it should not have, is None (empty, False). The line is as it came, or
    repaired where it held lone surrogates.
    """

    type: str
    subtype: str | None = None
    uuid: str | None = None
    session_id: str | None = None
    parent_tool_use_id: str | None = None
    user_message_uuid: str | None = None
    user_message_uuids: tuple[str, ...] | None = None
    command_uuid: str | None = None
    state: str | None = None
    status: str | None = None
    task_id: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    terminal_reason: str | None = None
    permission_mode: str | None = msgspec.field(name="permissionMode", default=None)
    is_replay: bool | None = msgspec.field(name="isReplay", default=None)
    line: Line = msgspec.field(name="<line>", default=b"")


keep_envelope_line = setter(Conversation, "line")


class ControlRequest(msgspec.Struct, frozen=True):
    """A request of the CLI; it is owed exactly one answer unless the CLI cancels it."""

    request_id: str
    request: InboundRequest


class ControlResponse(msgspec.Struct, frozen=True):
    """The CLI's answer to a request of ours.

    `response` is the success payload as plain JSON, None if there was none; a payload that is not an object is found
    under the key `response` of a dict made for it.
    """

    request_id: str
    success: bool
    response: dict[str, Any] | None = None
    error: str | None = None
    error_code: str | None = None
    pending_permission_requests: list[Any] | None = None


class ControlCancel(msgspec.Struct, frozen=True):
    """The CLI withdraws its request; no answer may follow."""

    request_id: str


class KeepAlive(msgspec.Struct, frozen=True):
    """A sign of life; it asks for nothing."""


MalformedKind: TypeAlias = Literal["json", "utf8", "shape", "nesting"]


class Malformed(msgspec.Struct, frozen=True):
    """A line that is no frame: what is wrong with it, its first bytes, and what could still be read.

    `frame_type` is the frame's `type` if that was readable: a `control_request` with a `request_id` still wants an
    answer, a `control_response` still ends the request that it names.
    """

    reason: str
    line_start: bytes
    request_id: str | None = None
    kind: MalformedKind = "json"
    frame_type: str | None = None


Frame: TypeAlias = Conversation | ControlRequest | ControlResponse | ControlCancel | KeepAlive | Malformed
