"""Making a message of a line that the strict decoder refused: field by field, block by block, or an `UnknownMessage`.

Runs for odd lines and for types of a newer CLI only. It never raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from claude_actors.wire.blocks import fit_blocks, fit_content
from claude_actors.wire.conversation import (
    ApiMessage,
    AssistantFrame,
    ResultMessage,
    StreamEvent,
    UserContent,
    UserFrame,
)
from claude_actors.wire.message import Message, UnknownMessage
from claude_actors.wire.notices import NOTICES, RateLimitEvent, RateLimitInfo
from claude_actors.wire.repair import read_object
from claude_actors.wire.salvage import UNFIT, Fitter, salvage
from claude_actors.wire.system import SYSTEM_MESSAGES, SystemMessage


def rescue(line: bytes) -> Message:
    """Make the best message that the line allows."""
    data = read_object(line)
    kind = data.get("type")
    if not isinstance(kind, str):
        return _unknown(data, "not a JSON object with a type")
    known = _KNOWN.get(kind)
    if known is None:
        return _unknown(data, None)
    message = _system(data) if known is SystemMessage else salvage(known, data, _FITTERS.get(known))
    if message is None:
        return _unknown(data, f"does not fit the type {kind}")
    return message.flat() if isinstance(message, AssistantFrame | UserFrame) else message  # type: ignore[return-value]


def _system(data: Mapping[str, Any]) -> SystemMessage | None:
    subtype = data.get("subtype")
    kind = SYSTEM_MESSAGES.get(subtype, SystemMessage) if isinstance(subtype, str) else SystemMessage
    return salvage(kind, data) or salvage(SystemMessage, data)


def _unknown(data: Mapping[str, Any], reason: str | None) -> UnknownMessage:
    uuid, session_id = data.get("uuid"), data.get("session_id")
    return UnknownMessage(
        uuid=uuid if isinstance(uuid, str) else None,
        session_id=session_id if isinstance(session_id, str) else None,
        reason=reason,
    )


def _inside(kind: type[msgspec.Struct], fitters: Mapping[str, Fitter] | None = None) -> Fitter:
    def fit(value: Any) -> Any:
        made = salvage(kind, value, fitters) if isinstance(value, dict) else None
        return UNFIT if made is None else made

    return fit


_CLASSES: Final[tuple[type[msgspec.Struct], ...]] = (
    AssistantFrame,
    UserFrame,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    *NOTICES,
)
_KNOWN: Final = {str(kind.__struct_config__.tag): kind for kind in _CLASSES}
_FITTERS: Final[dict[type[msgspec.Struct], Mapping[str, Fitter]]] = {
    AssistantFrame: {"message": _inside(ApiMessage, {"content": fit_blocks})},
    UserFrame: {"message": _inside(UserContent, {"content": fit_content})},
    RateLimitEvent: {"rate_limit_info": _inside(RateLimitInfo)},
}
