"""What every message has in common: its ids, the line that it came from, and the whole frame on demand.

The line is kept beside the fields, in the instance's `__dict__`: no key of a frame can reach it, and it takes no part
in encoding. (Measured: as fast as a private field.) A large message has None there, and its frame as `raw`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from claude_actors.wire.lazy import lazy
from claude_actors.wire.repair import read_object


class Message(
    msgspec.Struct, frozen=True, kw_only=True, dict=True, tag_field="type", repr_omit_defaults=True, omit_defaults=True
):
    """Base of all messages. Immutable; two messages from the wire are equal if their frames are."""

    uuid: str | None = None
    session_id: str | None = None

    @property
    def type(self) -> str:
        """The frame's type on the wire."""
        return str(self.__struct_config__.tag)

    @property
    def line(self) -> bytes:
        """The line as it came; of a large message, `raw` encoded anew; empty for a message that was made by hand."""
        line: bytes | None = self.__dict__.get("line", b"")
        return msgspec.json.encode(self.raw) if line is None else line

    @lazy
    def raw(self) -> dict[str, Any]:
        """The whole frame as plain JSON, decoded on first use; of a message made by hand, its fields."""
        plain: dict[str, Any] = read_object(self.line) if self.line else msgspec.to_builtins(self)
        return plain

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message) or type(self) is not type(other):
            return NotImplemented
        if self.line and other.line:
            return self.line == other.line or self.raw == other.raw
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash((type(self), self.uuid))


class UnknownMessage(Message, frozen=True, kw_only=True):
    """A frame that there is no class for, or that does not fit its class (`reason` says how); all of it is in `raw`."""

    reason: str | None = None

    @property
    def type(self) -> str:
        """The frame's type on the wire; empty if it has none."""
        return str(self.raw.get("type", ""))
