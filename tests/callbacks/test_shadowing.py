"""What keeps a callback from being asked or heeded is named."""

from __future__ import annotations

from typing import Any

import pytest

from claude_actors.callbacks.hooks import Hooks
from claude_actors.callbacks.shadowing import hook_warnings, shadow_warnings
from claude_actors.wire.control import ServerInfo


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


# --- hooks ---


def registered(on_failure: Any = "open") -> Any:
    hooks = Hooks()
    hooks.pre_tool_use(on_failure=on_failure)(lambda event, ctx: None)
    return hooks.registrations()


def test_a_cli_that_does_not_know_gates_is_warned_of_only_if_there_are_any() -> None:
    (warning,) = hook_warnings(registered("block"), ServerInfo(hooks_applied=True))
    assert 'on_failure="block"' in warning
    assert hook_warnings(registered("open"), ServerInfo(hooks_applied=True)) == []
    assert hook_warnings(registered("block"), ServerInfo(hook_on_failure_supported=True)) == []


def test_a_cli_that_registered_no_hooks_is_warned_of_if_there_are_any() -> None:
    refused = ServerInfo(hooks_applied=False, hook_on_failure_supported=True)
    assert hook_warnings(registered(), refused) == ["the CLI has not registered the hooks: none of them will be called"]
    assert hook_warnings((), refused) == []
