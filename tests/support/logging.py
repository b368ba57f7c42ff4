"""How the tests' host program has set structlog up."""

from __future__ import annotations

import structlog


def configure_structlog() -> None:
    """Print events as plain pairs. The default draws tracebacks with all variables, longer than most tests take."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ]
    )
