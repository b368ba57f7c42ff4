"""Text from a model or a tool, made safe for a terminal: it must not move the cursor, hide a line or set the title."""

from __future__ import annotations

import re
from typing import Final

# Whole escape sequences, so that their parameters do not stay behind as text: CSI, then OSC and its kin, then the rest.
_SEQUENCES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b.?"
)
# Other control characters, and those that turn the direction of what follows (an old trick to disguise a command).
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Return the text without escape sequences and control characters, except newlines and tabs."""
    return _CONTROLS.sub("", _SEQUENCES.sub("", text))


def one_line(text: str, width: int = 100) -> str:
    """Return the beginning of the text on one line, cleaned."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def short(lines: list[str], most: int) -> tuple[list[str], int]:
    """Return the first `most` lines, and how many are left out."""
    return lines[:most], max(0, len(lines) - most)
