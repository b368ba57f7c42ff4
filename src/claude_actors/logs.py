"""Where log events go: to structlog if the host program has configured it, else to the standard library's logging.

Nothing is ever printed by default: without either set up, events vanish. structlog is imported with the first event
that is written, because its import costs more than ours.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, Final

_PLAIN: Final = logging.getLogger("claude_actors")
_PLAIN.addHandler(logging.NullHandler())


class Log:
    """Write events with data as keywords; `name` is the logger's. May run the host program's handlers: can block."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def debug(self, event: str, /, **data: Any) -> None:
        """Write at debug level."""
        self.write(logging.DEBUG, event, data)

    def info(self, event: str, /, **data: Any) -> None:
        """Write at info level."""
        self.write(logging.INFO, event, data)

    def warning(self, event: str, /, **data: Any) -> None:
        """Write at warning level."""
        self.write(logging.WARNING, event, data)

    def error(self, event: str, /, **data: Any) -> None:
        """Write at error level."""
        self.write(logging.ERROR, event, data)

    def wants(self, level: int) -> bool:
        """Say whether an event of this level may be written anywhere. Never blocks."""
        structlog = sys.modules.get("structlog")
        if structlog is not None and structlog.is_configured():
            return True
        return logging.getLogger(self._name).isEnabledFor(level)

    def write(self, level: int, event: str, data: dict[str, Any]) -> None:
        """Write one event; `exc_info` in `data` may be an exception."""
        # A host that has configured structlog has imported it.
        structlog = sys.modules.get("structlog")
        if structlog is not None and structlog.is_configured():
            structlog.get_logger(self._name).log(level, event, **data)
            return
        logger = logging.getLogger(self._name)
        if logger.isEnabledFor(level):
            facts = {name: value for name, value in data.items() if name != "exc_info"}
            text = " ".join([event, *(f"{name}={value!r}" for name, value in facts.items())])
            logger.log(level, text, exc_info=data.get("exc_info"), extra={"event": event, "facts": facts})


def get_logger(name: str = "claude_actors") -> Log:
    """Return the log of a part of this library."""
    return Log(name)
