"""Our log events reach the host program in its own format, and nothing is printed by itself."""

from __future__ import annotations

import logging

import pytest
import structlog

from claude_actors.logs import get_logger


@pytest.fixture
def plain() -> None:
    """A host program that has not configured structlog."""
    structlog.reset_defaults()


def write_one() -> None:
    get_logger("claude_actors.mcp").warning("tool_raised", tool="add", error="ValueError")


def test_a_host_that_configured_structlog_gets_the_event_and_its_data() -> None:
    with structlog.testing.capture_logs() as logs:
        write_one()
    assert logs == [{"event": "tool_raised", "tool": "add", "error": "ValueError", "log_level": "warning"}]


@pytest.mark.usefixtures("plain")
def test_a_host_with_standard_logging_gets_a_record_with_the_data(caplog: pytest.LogCaptureFixture) -> None:
    write_one()
    [record] = caplog.records
    assert (record.name, record.levelno) == ("claude_actors.mcp", logging.WARNING)
    assert record.getMessage() == "tool_raised tool='add' error='ValueError'"
    assert record.__dict__["facts"] == {"tool": "add", "error": "ValueError"}


@pytest.mark.usefixtures("plain")
def test_an_exception_keeps_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError("deep")
    except ValueError as error:
        get_logger().error("actor_failed", exc_info=error)
    assert "ValueError: deep" in caplog.text


@pytest.mark.usefixtures("plain")
def test_without_any_set_up_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("claude_actors")
    logger.propagate = False  # pytest's own handlers stand on the root
    try:
        get_logger().error("actor_failed")
        get_logger().debug("dead_letter_dropped")
    finally:
        logger.propagate = True
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_levels_keep_their_names(level: str) -> None:
    with structlog.testing.capture_logs() as logs:
        getattr(get_logger(), level)("something_happened")
    assert logs == [{"event": "something_happened", "log_level": level}]
