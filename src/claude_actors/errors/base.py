"""The root of every error that callers can meet, errors of no certain moment, and how one is raised anew."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, TypeVar

E = TypeVar("E", bound=BaseException)


class ClaudeActorsError(Exception):
    """Base of every error that this library raises on purpose; it can be copied and pickled with its fields."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The usual way would call `__init__` with the message, where most of ours want their fields by name.
        return _remade, (type(self), self.args, self.__dict__)


class InvalidOptions(ClaudeActorsError, ValueError):
    """A value cannot be used; the message names the option and what it may be. Nothing was started. Correct it."""


class NotSupported(ClaudeActorsError):
    """This cannot be done here, and the message says why. The session goes on."""


class EncodingFailed(ClaudeActorsError, ValueError):
    """A value cannot be written as JSON. Nothing was sent, and the session goes on; correct the value."""


class InvalidCallbackResult(ClaudeActorsError, TypeError):
    """A callback returned what its event has no meaning for. The fallback was sent; the session goes on. Mend it."""


class ToolError(ClaudeActorsError):
    """Raise this in a tool of yours to refuse: the model is given the message as it stands, and no traceback."""


def fresh(error: E) -> E:
    """Return a copy to raise: one instance raised by several threads would collect and keep the frames of all."""
    if not isinstance(error, ClaudeActorsError):
        return error
    again = copy.copy(error)
    again.__cause__, again.__suppress_context__ = error.__cause__, error.__suppress_context__
    return again


def _remade(kind: type[ClaudeActorsError], args: tuple[Any, ...], fields: Mapping[str, Any]) -> ClaudeActorsError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error
