"""Reading JSON that the strict decoder refuses: lone surrogates, invalid UTF-8, numbers out of range.

All of it is the error path: nothing here runs for a sound line.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

# Every escape is consumed whole, so that neither an escaped backslash nor half of a valid pair is taken for a start.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_INT64: Final = range(-(2**63), 2**64)
_MAX_DIGITS: Final = 4000

# The two keys have to open the line: deeper in it they could belong to a frame that is only quoted.
_ID_HEAD: Final = re.compile(
    rb'\s*\{\s*"type"\s*:\s*"(control_\w{1,40})"\s*,\s*"request_id"\s*:\s*"([^"\\]{1,200})"'
    rb'|\s*\{\s*"request_id"\s*:\s*"([^"\\]{1,200})"\s*,\s*"type"\s*:\s*"(control_\w{1,40})"'
)


def repair_surrogates(line: bytes) -> bytes:
    r"""Replace each lone surrogate escape by `\ufffd`; valid pairs and all else stay as they are."""
    return _ESCAPE.sub(_mend, line)


def repair_utf8(line: bytes) -> bytes:
    """Replace what is not UTF-8 by U+FFFD; a sound line is returned as it is."""
    return line if line.isascii() else line.decode("utf-8", "replace").encode()


def is_utf8(line: bytes) -> bool:
    """Tell whether all of the line is UTF-8; the decoder checks only the strings that it reads."""
    try:
        line.isascii() or line.decode()
    except UnicodeDecodeError:
        return False
    return True


def read_json(line: bytes) -> Any:
    """Read a line as plain JSON values, repairing what can be; integers beyond 64 bits become floats.

    Raises ValueError for what is no JSON, RecursionError for what is nested too deeply.
    """
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        text = repair_surrogates(repair_utf8(line)).decode()
        return json.loads(text, parse_int=_bounded_int, parse_constant=_no_constant)


def read_object(line: bytes) -> dict[str, Any]:
    """Read a line as a JSON object; anything else, also a line that is no JSON, gives an empty one."""
    try:
        value = read_json(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def request_id_at_start(line: bytes) -> tuple[str, str] | None:
    """Return the control type and request id that open a line which cannot be read as a whole."""
    found = _ID_HEAD.match(line)
    if found is None:
        return None
    kind, request_id = found[1] or found[4], found[2] or found[3]
    return kind.decode("utf-8", "replace"), request_id.decode("utf-8", "replace")


def _mend(found: re.Match[bytes]) -> bytes:
    return found[0] if found[1] is None else b"\\ufffd"


def _bounded_int(digits: str) -> int | float:
    if len(digits) > _MAX_DIGITS:
        return float(digits)
    value = int(digits)
    return value if value in _INT64 else float(digits)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
