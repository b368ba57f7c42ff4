"""Does this library get on with this CLI? Scenarios for every feature, on the scripted fake and on a real CLI.

    python -m claude_actors.testing.conformance [--cli PATH]

plays them all on a real CLI behind a scripted API (no key, no internet) and tells which features pass. `SCENARIOS` are
plain functions: `with RealStage() as stage: scenario.play(stage)` plays one by hand.
"""

from __future__ import annotations

from claude_actors.testing.conformance import (
    agents,
    api_errors,
    crowds,
    endings,
    handshake,
    hook_endings,
    hook_events,
    hook_failures,
    hooks,
    interrupts,
    mcp_control,
    output,
    permissions,
    plans,
    questions,
    recovery,
    resuming,
    rewinding,
    settings,
    tool_servers,
    turns,
)
from claude_actors.testing.conformance.scenarios import Group, NotHere, Scenario
from claude_actors.testing.conformance.stage import FakeStage, RealStage, Stage
from claude_actors.testing.conformance.talk import Talk

__all__ = ["SCENARIOS", "FakeStage", "Group", "NotHere", "RealStage", "Scenario", "Stage", "Talk"]

_FEATURES = (
    handshake,
    turns,
    interrupts,
    settings,
    hooks,
    hook_endings,
    hook_failures,
    hook_events,
    permissions,
    plans,
    tool_servers,
    mcp_control,
    questions,
    agents,
    rewinding,
    output,
    resuming,
    api_errors,
    endings,
    recovery,
    crowds,
)

SCENARIOS: tuple[Scenario, ...] = tuple(scenario for feature in _FEATURES for scenario in feature.group.scenarios)
