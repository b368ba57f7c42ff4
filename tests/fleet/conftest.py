"""Fleets over fake CLIs for the tests: quick retries, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.fleets import WITHIN, MakeFake, MakeFleet

from claude_actors.fleet import Fleet, RetryPolicy
from claude_actors.options import Options
from claude_actors.protocol.restarts import Backoff
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.script import Script

QUICK = RetryPolicy(retries=2, backoff=Backoff(first=0.01, most=0.05))


@pytest.fixture
def fakes() -> Iterator[MakeFake]:
    """Make fake CLIs; their files are freed at the end."""
    made: list[FakeCLI] = []

    def make(*scripts: Script) -> FakeCLI:
        made.append(FakeCLI(*scripts))
        return made[-1]

    yield make
    for fake in made:
        fake.close()


@pytest.fixture
def fleets(fakes: MakeFake) -> Iterator[MakeFleet]:
    """Make fleets over a fake CLI; they are stopped at the end."""
    made: list[Fleet] = []

    def make(fake: FakeCLI, **settings: Any) -> Fleet:
        options = settings.pop("options", {})
        env = {"CLAUDE_CODE_MAX_RETRIES": "0", **options.pop("env", {})}
        made.append(Fleet(options=Options(cli_path=fake.cli_path, env=env, **options), **{"retry": QUICK, **settings}))
        return made[-1]

    yield make
    for fleet in made:
        fleet.stop(WITHIN)
