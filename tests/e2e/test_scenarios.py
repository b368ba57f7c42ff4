"""Every scenario on both CLIs, and the fake looks as the real one does."""

from __future__ import annotations

from contextlib import suppress

import pytest

from claude_actors.testing import bundled_cli
from claude_actors.testing.conformance import SCENARIOS, FakeStage, NotHere, RealStage, Scenario, Stage
from claude_actors.testing.conformance.shapes import look

NAMED = [pytest.param(scenario, id=f"{scenario.group}: {scenario.claim}") for scenario in SCENARIOS]


def played(scenario: Scenario, stage: Stage) -> list[list[str]]:
    """Play a scenario and describe the conversations that it had."""
    with stage:
        scenario.play(stage)
    return [look(talk) for talk in stage.talks]


@pytest.mark.real_cli
def test_the_real_cli_is_here() -> None:
    """Nothing is skipped where it is missing: without it nothing is known to work."""
    assert bundled_cli() is not None, "install the dependency group 'cli': claude-agent-sdk carries the real CLI"


@pytest.mark.parametrize("scenario", NAMED)
def test_it_holds_on_the_fake_cli(scenario: Scenario) -> None:
    try:
        played(scenario, FakeStage())
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.mark.real_cli
@pytest.mark.parametrize("scenario", NAMED)
def test_it_holds_on_the_real_cli_and_looks_the_same_on_the_fake(scenario: Scenario) -> None:
    try:
        real = played(scenario, RealStage())
    except NotHere as reason:
        pytest.skip(str(reason))
    with suppress(NotHere):
        assert played(scenario, FakeStage()) == real


def test_every_claim_is_made_once() -> None:
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)
