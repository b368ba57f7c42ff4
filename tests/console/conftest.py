"""The command is a program of its own: nobody has configured structlog in it."""

from __future__ import annotations

import pytest
import structlog


@pytest.fixture(autouse=True)
def unconfigured_structlog(a_host_that_has_set_structlog_up: None) -> None:
    structlog.reset_defaults()
