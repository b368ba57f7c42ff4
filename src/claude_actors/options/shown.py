"""How an option is shown in `repr(Options)`: enough to recognise it, never a secret, never a page of text.

Environment, settings, extra arguments and server configurations may hold credentials: only their names are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LONGEST: Final = 60
NAMES_ONLY: Final = frozenset({"env", "extra_args", "settings", "sandbox", "mcp_servers", "agents", "output_format"})


def describe_option(name: str, value: object) -> str:
    """Return the text that stands for the option's value."""
    if name in NAMES_ONLY:
        return _names_of(value)
    if callable(value):
        return f"<{getattr(value, '__qualname__', type(value).__name__)}>"
    return _shortened(repr(value))


def _names_of(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_shortened(repr(key))}: …" for key in value) + "}"
    return "<hidden>"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"
