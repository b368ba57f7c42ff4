"""Options that keep a permission callback from being asked are named."""

from __future__ import annotations

import pytest

from claude_actors.callbacks.shadowing import shadow_warnings


@pytest.mark.parametrize("mode", ["bypassPermissions", "dontAsk"])
def test_a_mode_that_never_asks_shadows_the_callback(mode: str) -> None:
    (warning,) = shadow_warnings(mode, ["Read"], has_callback=True)
    assert mode in warning
    assert "pre_tool_use" in warning


@pytest.mark.parametrize("entry", ["Read", "Read()", "Read(*)", " Read "])
def test_a_tool_that_is_allowed_as_a_whole_shadows_the_callback(entry: str) -> None:
    (warning,) = shadow_warnings("default", [entry], has_callback=True)
    assert "about Read" in warning


def test_each_shadowed_tool_is_named_once() -> None:
    warnings = shadow_warnings(None, ["Read", "Bash(ls:*)", "Read()", "Edit"], has_callback=True)
    assert ["about Read" in warnings[0], "about Edit" in warnings[1], len(warnings)] == [True, True, 2]


@pytest.mark.parametrize("entry", ["Bash(ls:*)", "Bash(:*)", "", "  ", "(x)", "Bash(*) x", "Bash("])
def test_a_narrow_or_broken_rule_shadows_nothing(entry: str) -> None:
    assert shadow_warnings("acceptEdits", [entry], has_callback=True) == []


def test_without_a_callback_there_is_nothing_to_shadow() -> None:
    assert shadow_warnings("bypassPermissions", ["Read"], has_callback=False) == []
