"""A filled-in value of any wire struct, so that round trips cover every field of every class."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)

_PLAIN: Mapping[Any, Any] = {str: "text", int: 7, float: 1.5, bool: True, Any: {"any": [1, None]}}


def filled(cls: type[S], **given: Any) -> S:
    """Make a `cls` with every public field set to something that is not its default."""
    hints = typing.get_type_hints(cls)
    fields = msgspec.structs.fields(cls)
    values = {field.name: _value(hints[field.name]) for field in fields if not field.encode_name.startswith("<")}
    return cls(**{**values, **given})


def _value(kind: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _value(next(one for one in arguments if one not in (type(None), msgspec.UnsetType)))
    if kind is msgspec.Raw:
        return msgspec.Raw(b'{"raw":[1,2]}')
    if origin is list:
        return [_value(arguments[0])]
    if origin is tuple:
        return (_value(arguments[0]),)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"key": _value(arguments[1])}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return filled(kind)
    return _PLAIN[kind]
