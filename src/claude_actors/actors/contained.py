"""Run what must not be able to end the thread that runs it.

One place decides what happens to an exception that has nobody to go to: it is logged and stays here. Logging runs the
host program's code, so it happens in the background: nothing here blocks or raises.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import ParamSpec

from claude_actors.actors.background_log import BACKGROUND_LOG

P = ParamSpec("P")


def run_contained(event: str, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> bool:
    """Call `function`; log `event` and return False if it raises anything, `SystemExit` included."""
    try:
        function(*args, **kwargs)
    except BaseException as error:
        report(event, error)
        return False
    return True


def run_user_code(event: str, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
    """Call a user's function as `run_contained` does; what it raised may quote a prompt and is told at debug level."""
    try:
        function(*args, **kwargs)
    except BaseException as error:
        BACKGROUND_LOG.write(logging.ERROR, event, {"error": type(error).__name__})
        BACKGROUND_LOG.write(logging.DEBUG, event, {"exc_info": error})


def report(event: str, error: BaseException | None = None, /, **facts: object) -> None:
    """Log an error that nobody else will hear of."""
    BACKGROUND_LOG.write(logging.ERROR, event, {"exc_info": error, **facts})


def note(event: str, /, **facts: object) -> None:
    """Log at debug level."""
    BACKGROUND_LOG.write(logging.DEBUG, event, facts)


def warn(event: str, /, **facts: object) -> None:
    """Log at warning level."""
    BACKGROUND_LOG.write(logging.WARNING, event, facts)


def describe(error: BaseException) -> str:
    """Say an exception in a few words, whatever its own `__str__` does."""
    name = type(error).__name__
    try:
        text = str(error)
    except BaseException:
        return name
    return f"{name}: {text}" if text else name
