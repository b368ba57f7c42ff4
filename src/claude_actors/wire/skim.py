"""The lines that make up a flood, told by their ends: they steer no session, so nobody reads them before a consumer.

Reading the envelope of such a line would cost as much as all the rest of its way to a mailbox. What the first and last
bytes do not settle is read as any other line. A line that is damaged in between comes to the consumers, as an
`UnknownMessage`.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Final

from claude_actors.wire.codec import decode_line

_HEADS: Final = (b'{"type":"stream_event",', b'{"type":"assistant",', b'{"type":"user",')
_TAIL: Final = b"}"
# As many bytes of the heads as the shortest has; no line that steers a session begins with the same ones.
_beginning: Final = itemgetter(slice(min(map(len, _HEADS))))
_last_byte: Final = itemgetter(-1)
_BEGINNINGS: Final = frozenset(map(_beginning, _HEADS))


def skim_lines(items: list[Any]) -> list[Any]:
    """Read lines as frames, but leave runs of lines that steer no session as lists; what is no line at all stays too.

    The list is the caller's no more. Only in the runs a long line may be a bytearray.
    """
    if _is_flood(items):
        return [items]
    frames: list[Any] = []
    run: list[bytes | bytearray] = []
    for item in items:
        is_line = isinstance(item, bytes | bytearray)
        if is_line and item.startswith(_HEADS) and item.endswith(_TAIL):
            run.append(item)
            continue
        if run:
            frames.append(run)
            run = []
        frames.append(decode_line(bytes(item)) if is_line else item)
    if run:
        frames.append(run)
    return frames


def _is_flood(items: list[Any]) -> bool:
    # Asked in C for a whole chunk, which is a fifth of what the loop takes.
    try:
        return _BEGINNINGS.issuperset(map(_beginning, items)) and set(map(_last_byte, items)) == set(_TAIL)
    except TypeError:  # a long line, or something that is no line
        return False
