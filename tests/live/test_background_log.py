"""The runtime's log never waits for the host program's handlers, loses nothing in silence and leaves no thread."""

from __future__ import annotations

import contextvars
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import structlog
from support.leaks import wait_until

from claude_actors.actors.background_log import BACKGROUND_LOG, BackgroundLog, HandOver
from claude_actors.actors.contained import describe, report, run_contained, run_user_code, warn
from claude_actors.logs import Log

DEADLINE = 30.0


class ListLog(Log):
    """Keeps what is written; `before` runs in the handler."""

    __slots__ = ("before", "written")

    def __init__(self, before: Callable[[], object] = lambda: None) -> None:
        super().__init__("claude_actors")
        self.before = before
        self.written: list[tuple[str, dict[str, Any]]] = []

    def wants(self, level: int) -> bool:
        return True

    def write(self, level: int, event: str, data: dict[str, Any]) -> None:
        self.before()
        self.written.append((event, data))


def events(log: ListLog) -> list[str]:
    return [event for event, _data in log.written]


def test_events_are_written_in_order_by_another_thread_that_then_ends() -> None:
    writers: list[threading.Thread] = []
    log = ListLog(lambda: writers.append(threading.current_thread()))
    background = BackgroundLog(log)
    for number in range(100):
        background.write(logging.INFO, f"event_{number}", {})
    assert background.flush()
    assert events(log) == [f"event_{number}" for number in range(100)]
    assert threading.main_thread() not in writers[:1]
    assert wait_until(lambda: not writers[0].is_alive())


def test_a_handler_that_blocks_holds_up_no_writer_and_what_is_lost_is_counted_and_said() -> None:
    blocked, released = threading.Event(), threading.Event()

    def handler() -> None:
        blocked.set()
        assert released.wait(DEADLINE)

    log = ListLog(handler)
    background = BackgroundLog(log, most_waiting=10)
    background.write(logging.INFO, "first", {})
    assert blocked.wait(DEADLINE)
    for _ in range(25):
        background.write(logging.INFO, "later", {})
    assert background.dropped == 15
    assert not background.flush(timeout=0)
    released.set()
    assert background.flush()
    assert events(log) == ["first", "log_events_dropped", *["later"] * 10]
    assert log.written[1][1] == {"count": 15}


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_a_handler_that_raises_loses_only_its_own_event(error: type[BaseException]) -> None:
    failing = iter([True, False])

    def handler() -> None:
        if next(failing):
            raise error

    log = ListLog(handler)
    background = BackgroundLog(log)
    background.write(logging.INFO, "lost", {})
    background.write(logging.INFO, "kept", {})
    assert background.flush()
    assert events(log) == ["kept"]


def test_no_event_is_lost_between_a_writer_that_ends_and_one_that_starts() -> None:
    log = ListLog()
    background = BackgroundLog(log, most_waiting=1_000_000)

    def write() -> None:
        for _ in range(500):
            background.write(logging.INFO, "event", {})

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert background.flush()
    assert len(log.written) == 4000


def test_where_no_thread_can_be_started_the_next_flush_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    log = ListLog()
    background = BackgroundLog(log)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    background.write(logging.INFO, "event", {})
    assert events(log) == []
    assert background.flush()
    assert events(log) == ["event"]


def test_context_variables_of_the_logging_thread_come_along() -> None:
    tenant = contextvars.ContextVar("tenant", default="nobody")
    seen: list[str] = []
    background = BackgroundLog(ListLog(lambda: seen.append(tenant.get())))
    tenant.set("acme")
    background.write(logging.INFO, "event", {})
    background.flush()
    assert seen == ["acme"]


def test_an_exception_is_logged_with_its_traceback() -> None:
    def fail() -> None:
        raise LookupError("deep down")

    with structlog.testing.capture_logs() as logs:
        assert not run_contained("job_failed", fail)
        assert BACKGROUND_LOG.flush()
    [entry] = logs
    assert entry["event"] == "job_failed"
    assert isinstance(entry["exc_info"], LookupError)
    assert entry["exc_info"].__traceback__ is not None


def test_what_a_users_function_raised_is_told_in_full_at_debug_level_only() -> None:
    def fail(text: str) -> None:
        raise LookupError(text)

    with structlog.testing.capture_logs() as logs:
        run_user_code("callback_failed", fail, "top secret")
        assert BACKGROUND_LOG.flush()
    error, debug = logs
    assert error == {"event": "callback_failed", "error": "LookupError", "log_level": "error"}
    assert (debug["log_level"], str(debug["exc_info"])) == ("debug", "top secret")


def test_an_event_that_nobody_wants_costs_no_thread() -> None:
    structlog.reset_defaults()
    try:
        logging.getLogger("claude_actors").setLevel(logging.CRITICAL)
        before = threading.active_count()
        warn("something_happened")
        report("something_failed")
        assert threading.active_count() == before
    finally:
        logging.getLogger("claude_actors").setLevel(logging.NOTSET)


def test_a_record_from_a_thread_that_must_not_wait_is_handled_in_the_background() -> None:
    writers: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            writers.append(threading.current_thread().name)

    must_not_wait = threading.local()
    background = BackgroundLog(ListLog())
    logger, handler = logging.getLogger("a library"), Handler()
    logger.setLevel(logging.DEBUG)
    hand_over = HandOver(background, lambda: getattr(must_not_wait, "here", False))
    logger.addFilter(hand_over)
    logger.addHandler(handler)
    try:
        logger.debug("directly")
        must_not_wait.here = True
        logger.debug("in the background")
        must_not_wait.here = False
        background.flush()
    finally:
        logger.removeFilter(hand_over)
        logger.removeHandler(handler)
    assert writers[0] == threading.current_thread().name
    assert len(writers) == 2


def test_the_child_of_a_fork_writes_nothing_of_its_parents_and_can_write_its_own() -> None:
    blocked, released = threading.Event(), threading.Event()

    def handler() -> None:
        blocked.set()
        assert released.wait(DEADLINE)

    log = ListLog(handler)
    background = BackgroundLog(log)
    background.write(logging.INFO, "of the parent", {})
    assert blocked.wait(DEADLINE)
    background.write(logging.INFO, "of the parent too", {})
    child = os.fork()
    if child == 0:
        background.forget()
        log.before = lambda: None
        background.write(logging.INFO, "of the child", {})
        os._exit(0 if background.flush(10) and events(log) == ["of the child"] else 1)
    released.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert background.flush()


def test_the_last_events_before_the_interpreters_exit_are_written() -> None:
    script = """
import logging
logging.basicConfig(format="%(message)s", level=logging.INFO)
from claude_actors.actors.contained import warn
import atexit
atexit.register(warn, "logged_at_exit")
warn("logged_before_exit")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.split() == ["logged_before_exit", "logged_at_exit"]


def test_a_handler_that_never_returns_does_not_hold_up_the_interpreters_exit() -> None:
    # Not a handler of the standard library: that one's own exit hook waits for it.
    script = """
import threading, structlog
structlog.configure(processors=[lambda *_: threading.Event().wait()])
from claude_actors.actors.contained import warn
warn("stuck")
"""
    subprocess.run([sys.executable, "-c", script], timeout=60, check=True)


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "words"),
    [(ValueError("bad"), "ValueError: bad"), (ValueError(), "ValueError"), (Unspeakable(), "Unspeakable")],
)
def test_every_exception_can_be_described(error: BaseException, words: str) -> None:
    assert describe(error) == words
