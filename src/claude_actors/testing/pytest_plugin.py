"""Fixtures for tests of your own: `pytest_plugins = ["claude_actors.testing.pytest_plugin"]` in your conftest.py.

They only start and clean up what `FakeCLI`, `RealCLI` and `MemoryCLI` are; nothing is replaced behind your back.
`leaves_nothing_behind` is for whoever asks for it: `pytestmark = pytest.mark.usefixtures("leaves_nothing_behind")`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Final

import pytest

from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.leaks import Snapshot, wait_until
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.real_cli import RealCLI, bundled_cli
from claude_actors.testing.script import Script, Scripted, script

MakeFake = Callable[..., FakeCLI]
MakeReal = Callable[..., RealCLI]

# What is ending when the test returns (a thread on its last lines, a process being reaped) gets this long.
_ENDING: Final = 10.0


@pytest.fixture
def fake_cli() -> Iterator[MakeFake]:
    """Make scripted CLIs that are gone after the test: `cli = fake_cli("hello")`, then `cli.options(...)`.

    Takes replies, or whole scripts: the n-th process plays the n-th script.
    """
    with ExitStack() as closing:

        def make(*given: Script | Scripted) -> FakeCLI:
            return closing.enter_context(FakeCLI(*_scripts(given)))

        yield make


@pytest.fixture
def real_cli() -> Iterator[MakeReal]:
    """Make real CLIs behind a scripted API: `cli = real_cli("hello")`; the test is skipped where none is installed."""
    if bundled_cli() is None:
        pytest.skip("no claude-agent-sdk is installed, which carries the real CLI")
    with ExitStack() as closing:

        def make(*given: Script | Scripted) -> RealCLI:
            (whole,) = _scripts(given)
            return closing.enter_context(RealCLI(whole))

        yield make


@pytest.fixture
def memory_cli() -> Iterator[MemoryCLI]:
    """Give a CLI in memory that the test plays by hand: `memory_cli.options(...)`; it has exited after the test."""
    cli = MemoryCLI()
    yield cli
    if cli.launch is not None:
        cli.exit(0)


@pytest.fixture
def leaves_nothing_behind() -> Iterator[None]:
    """Fail a test that leaves an actor, a thread, a child process or an open file which was not there before it."""
    before = Snapshot()
    yield
    gc.collect()
    if not wait_until(lambda: not before.leaks(), _ENDING):
        left = (f"{kind}: {', '.join(sorted(items))}" for kind, items in before.leaks().items())
        pytest.fail("left behind: " + "; ".join(left))


def _scripts(given: tuple[Script | Scripted, ...]) -> tuple[Script, ...]:
    whole = tuple(item for item in given if isinstance(item, Script))
    replies = tuple(item for item in given if not isinstance(item, Script))
    if whole and replies:
        raise TypeError("give replies or whole scripts, not both")
    return whole or (script(*replies),)
