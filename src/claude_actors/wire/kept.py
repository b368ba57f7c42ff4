"""The slot in which a decoded struct keeps the line that it came from, closed to the wire.

A struct field can be filled by any JSON key of its name. This field has a type that no JSON value fits, so a frame
that names it fails the fast decode and is read the slow way, which never looks at private fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

PRIVATE: Final = "<"
"""How the wire name of a private field starts; the CLI has no key like it."""

if TYPE_CHECKING:
    Line = bytes
    Cache = dict[str, Any]
else:

    class Line:
        """Stands for bytes in annotations; no JSON value is one."""

    class Cache:
        """Stands for a dict in annotations; no JSON value is one."""


def setter(cls: type[msgspec.Struct], name: str) -> Callable[[Any, Any], None]:
    """Return the function that fills a private field of a frozen struct; for the decoders only."""
    write: Callable[[Any, Any], None] = cls.__dict__[name].__set__
    return write
