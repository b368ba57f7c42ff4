"""Making a typed value from plain JSON that does not quite fit its type: keep what fits, default the rest.

Runs only after the strict decode of a frame has failed, so that one odd field does not cost the whole frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, TypeVar

import msgspec

from claude_actors.wire.kept import PRIVATE

S = TypeVar("S", bound=msgspec.Struct)
Fitter = Callable[[Any], Any]

UNFIT: Final = object()
"""What a fitter returns for a value that it cannot use."""


def salvage(cls: type[S], data: Mapping[str, Any], fitters: Mapping[str, Fitter] | None = None) -> S | None:
    """Make a `cls` of the fields in `data` that fit; None if one that it cannot do without is missing or odd.

    `fitters` replaces the strict conversion of the fields that it names.
    """
    values: dict[str, Any] = {}
    for field in _fields(cls):
        fit = (fitters or {}).get(field.name) or _strict(field.type)
        known = field.encode_name in data and not field.encode_name.startswith(PRIVATE)
        value = fit(data[field.encode_name]) if known else UNFIT
        if value is not UNFIT:
            values[field.name] = value
        elif field.required:
            return None
    return cls(**values)


# Evaluating the annotations costs a hundred times what converting the fields does.
_fields: Final = cache(msgspec.structs.fields)


def _strict(kind: Any) -> Fitter:
    return _raw if kind is msgspec.Raw else lambda value: _convert(value, kind)


def _convert(value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        return UNFIT


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
