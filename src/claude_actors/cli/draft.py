"""A launch in the making: what the options have become so far.

Knows how an argument is written safely (`--flag=value`, one element, never too long) and nothing of any one option.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from claude_actors.cli.private_files import PrivateFiles
from claude_actors.errors import InvalidOptions
from claude_actors.options import Options

# Linux refuses a single argument of 128 KiB (MAX_ARG_STRLEN) whatever the total.
LONGEST_ARGUMENT: Final = 128 * 1024 - 1


class Draft:
    """Collects arguments, environment, initialize fields and private files for one launch."""

    def __init__(self, options: Options, *, one_shot: bool) -> None:
        self.options = options
        self.one_shot = one_shot
        self.current_option = ""
        self.arguments: list[str] = []
        self.env: dict[str, str] = {}
        self.initialize: dict[str, Any] = {}
        self.private_files = PrivateFiles(owner=options.user)

    def switch(self, flag: str) -> None:
        """Add a flag that takes no value."""
        self.arguments.append(flag)

    def value(self, flag: str, value: str | os.PathLike[str] | float) -> None:
        """Add a flag with its value as one element, so that no value can be read as another flag."""
        argument = f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}"
        if len(os.fsencode(argument)) > LONGEST_ARGUMENT:
            raise self.refusal(f"too long for a command line ({flag}, {len(argument)} characters)")
        self.arguments.append(argument)

    def private(self, flag: str, name: str, content: str) -> None:
        """Write `content` to a private file and add a flag that names it."""
        self.value(flag, self.private_files.write(name, content))

    def as_json(self, content: object) -> str:
        """Encode `content`; raises InvalidOptions when it has no JSON form."""
        try:
            return json.dumps(content, default=_plain)
        except (TypeError, ValueError) as error:
            raise self.refusal(f"cannot be written as JSON ({error})") from error

    def refusal(self, complaint: str) -> InvalidOptions:
        """Make the error that names the option in hand."""
        return InvalidOptions(f"{self.current_option}: {complaint}")


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
