"""Run what must not be able to end the thread that runs it.

One place decides what happens to an exception that has nobody to go to: it is logged and stays here. Logging itself
runs the host program's code, so it is contained too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

import structlog

P = ParamSpec("P")

_log = structlog.get_logger("claude_actors")


def run_contained(event: str, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> bool:
    """Call `function`; log `event` and return False if it raises anything, `SystemExit` included."""
    try:
        function(*args, **kwargs)
    except BaseException as error:
        report(event, error)
        return False
    return True


def report(event: str, error: BaseException | None = None, /, **facts: object) -> None:
    """Log an error that nobody else will hear of. Never raises."""
    try:
        _log.error(event, exc_info=error, **facts)
    except BaseException:
        # A logging handler of the host program failed: there is nobody left to tell.
        return


def note(event: str, /, **facts: object) -> None:
    """Log at debug level. Never raises."""
    try:
        _log.debug(event, **facts)
    except BaseException:
        return


def warn(event: str, /, **facts: object) -> None:
    """Log at warning level. Never raises."""
    try:
        _log.warning(event, **facts)
    except BaseException:
        return
