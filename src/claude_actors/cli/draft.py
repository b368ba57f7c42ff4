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
            raise InvalidOptions(f"{flag}: the value is too long for a command line ({len(argument)} characters)")
        self.arguments.append(argument)

    def private(self, flag: str, name: str, content: str) -> None:
        """Write `content` to a private file and add a flag that names it."""
        self.value(flag, self.private_files.write(name, content))

    def private_json(self, flag: str, name: str, content: Mapping[str, Any]) -> None:
        """Write `content` as JSON to a private file and add a flag that names it."""
        self.private(flag, name, as_json(content, flag))


def as_json(content: object, what: str) -> str:
    """Encode `content`; raises InvalidOptions that names `what` when it cannot be JSON."""
    try:
        return json.dumps(content, default=_plain)
    except (TypeError, ValueError) as error:
        raise InvalidOptions(f"{what}: cannot be written as JSON ({error})") from error


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
