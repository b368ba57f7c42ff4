"""What holds for every test: nothing is left behind, and hypothesis finds the same examples each time."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pykka
import pytest
from hypothesis import settings
from support.leaks import Snapshot, wait_until
from support.logging import configure_structlog

from claude_actors.actors.background_log import BACKGROUND_LOG
from claude_actors.actors.reactor import Reactor

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# The next test does not go on where this one ended.
Reactor.linger = 0.0

#: What is ending when the test returns (a thread on its last lines, a process being reaped) gets this long.
ENDING = 10.0


@pytest.fixture(autouse=True)
def a_host_that_has_set_structlog_up() -> None:
    """Our events go there, and pytest captures what it prints; a test that sets it otherwise need not put it back."""
    configure_structlog()


@pytest.fixture(autouse=True)
def leaves_nothing_behind() -> Iterator[None]:
    """Fail a test that leaves an actor, a thread, a child process or an open file."""
    before = Snapshot()
    yield
    # What is logged at the end belongs to this test's output too.
    BACKGROUND_LOG.flush(1.0)
    if before.leaks():
        # Files and loops that only wait for the collector are not leaks of ours.
        gc.collect()
    if not wait_until(lambda: not before.leaks(), ENDING):
        leaked = before.leaks()
        pykka.ActorRegistry.stop_all(block=False)
        pytest.fail("left behind: " + "; ".join(f"{kind}: {sorted(items)}" for kind, items in leaked.items()))
