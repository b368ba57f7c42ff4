"""The Hooks registry: decorators for every event, checked arguments, stable ids, and what initialize says."""

from __future__ import annotations

import functools
import threading
from typing import Any

import pytest

from claude_actors.callbacks.context import CallbackContext
from claude_actors.callbacks.hooks import HookRegistration, Hooks, wire_config
from claude_actors.callbacks.outcomes import ACCEPTED, can_block
from claude_actors.errors import InvalidOptions
from claude_actors.wire.hooks import EVENT_TYPES


def do_nothing(event: Any, ctx: CallbackContext) -> None:
    """A callback without an opinion."""


def snake(event: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")


@pytest.mark.parametrize("event", sorted(EVENT_TYPES))
def test_there_is_a_decorator_for_every_event(event: str) -> None:
    hooks = Hooks()
    decorator = getattr(hooks, snake(event))
    assert decorator(do_nothing) is do_nothing
    assert decorator(matcher="X", timeout=5)(do_nothing) is do_nothing
    assert hooks.registrations() == (
        HookRegistration("hook_0", event, None, 60.0, "open", do_nothing),
        HookRegistration("hook_1", event, "X", 5.0, "open", do_nothing),
    )


def test_any_event_can_be_registered_by_its_name() -> None:
    hooks = Hooks()
    assert hooks.on("SomethingNew", matcher="x", timeout=1, on_failure="block")(do_nothing) is do_nothing
    assert hooks.registrations() == (HookRegistration("hook_0", "SomethingNew", "x", 1.0, "block", do_nothing),)


def test_ids_follow_the_order_of_registration_across_events() -> None:
    hooks = Hooks()
    hooks.stop(do_nothing)
    hooks.pre_tool_use(do_nothing)
    hooks.stop(do_nothing)
    assert [(hook.id, hook.event) for hook in hooks.registrations()] == [
        ("hook_0", "Stop"),
        ("hook_1", "PreToolUse"),
        ("hook_2", "Stop"),
    ]
    assert len(hooks) == 3


def test_a_session_keeps_the_registrations_of_its_start() -> None:
    hooks = Hooks()
    hooks.stop(do_nothing)
    snapshot = hooks.registrations()
    hooks.stop(do_nothing)
    assert len(snapshot) == 1


def test_an_empty_registry_is_still_one() -> None:
    hooks = Hooks()
    assert hooks
    assert len(hooks) == 0
    assert hooks.wire_config() == {}


def test_registering_from_many_threads_gives_every_callback_an_id_of_its_own() -> None:
    hooks = Hooks()
    threads = [threading.Thread(target=lambda: [hooks.stop(do_nothing) for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [hook.id for hook in hooks.registrations()] == [f"hook_{number}" for number in range(400)]


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"timeout": 0}, "timeout"),
        ({"timeout": -1.0}, "timeout"),
        ({"timeout": float("inf")}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"timeout": "60"}, "timeout"),
        ({"on_failure": "closed"}, "on_failure"),
        ({"on_failure": None}, "on_failure"),
        ({"matcher": 3}, "matcher"),
    ],
)
def test_bad_arguments_are_refused_when_they_are_given(settings: dict[str, Any], word: str) -> None:
    hooks = Hooks()
    with pytest.raises(InvalidOptions, match=word):
        hooks.pre_tool_use(**settings)
    with pytest.raises(InvalidOptions, match=word):
        hooks.on("PreToolUse", **settings)
    assert len(hooks) == 0


@pytest.mark.parametrize("name", ["", None, 3])
def test_an_event_must_have_a_name(name: Any) -> None:
    with pytest.raises(InvalidOptions, match="name of its event"):
        Hooks().on(name)


@pytest.mark.parametrize("thing", ["Bash", 3, object()])
def test_a_hook_must_be_callable(thing: Any) -> None:
    hooks = Hooks()
    with pytest.raises(InvalidOptions, match="callable"):
        hooks.stop(thing)
    with pytest.raises(InvalidOptions, match="callable"):
        hooks.on("Stop")(thing)
    assert len(hooks) == 0


def test_a_hook_that_could_not_be_called_is_refused_before_it_fails_open_at_every_call() -> None:
    async def official(input_data: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        return {}

    hooks: Any = Hooks()
    words = r"a hook on PreToolUse is called with \(event, ctx\), but takes \(input_data, tool_use_id, context\)"
    with pytest.raises(InvalidOptions, match=words):
        hooks.pre_tool_use(official)
    with pytest.raises(InvalidOptions, match="a hook on Stop is called"):
        hooks.on("Stop")(lambda event: None)
    with pytest.raises(InvalidOptions, match="but takes"):
        hooks.on("Stop")(lambda event, ctx, *, verbose: None)
    assert len(hooks) == 0


class Guard:
    """Callbacks in forms other than a function of two parameters."""

    def check(self, event: Any, ctx: Any, verbose: bool = False) -> None: ...

    def __call__(self, *anything: Any) -> None: ...


@pytest.mark.parametrize(
    "callback",
    [Guard(), Guard().check, functools.partial(Guard.check, Guard()), print, dict.get, lambda *words, **more: None],
    ids=["object", "method", "partial", "builtin", "method descriptor", "anything"],
)
def test_whatever_takes_two_arguments_can_be_a_hook(callback: Any) -> None:
    hooks = Hooks()
    assert hooks.stop(callback) is callback
    assert len(hooks) == 1


@pytest.mark.parametrize("event", sorted(event for event in ACCEPTED if not can_block(event)))
def test_a_gate_is_refused_on_an_event_that_cannot_be_blocked(event: str) -> None:
    with pytest.raises(InvalidOptions, match="cannot be blocked"):
        Hooks().on(event, on_failure="block")


@pytest.mark.parametrize("event", sorted(event for event in ACCEPTED if can_block(event)))
def test_a_gate_is_taken_on_an_event_that_can_be_blocked(event: str) -> None:
    hooks = Hooks()
    hooks.on(event, on_failure="block")(do_nothing)
    assert hooks.wire_config()[event][0]["onFailure"] == "block"


def test_the_events_that_can_be_blocked_are_those_of_the_cli() -> None:
    assert {event for event in ACCEPTED if can_block(event)} == {
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "PermissionRequest",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "Stop",
        "SubagentStop",
        "PreCompact",
        "PreModelSwitch",
        "Elicitation",
        "ElicitationResult",
        "TeammateIdle",
        "TaskCreated",
        "TaskCompleted",
        "ConfigChange",
    }


def test_the_wire_names_no_matcher_as_null_and_gives_the_cli_more_time_than_us() -> None:
    hooks = Hooks()
    hooks.pre_tool_use(do_nothing)
    assert hooks.wire_config(5.0) == {
        "PreToolUse": [{"matcher": None, "hookCallbackIds": ["hook_0"], "timeout": 65.0}],
    }


def test_callbacks_with_equal_settings_share_an_entry_and_others_do_not() -> None:
    hooks = Hooks()
    hooks.pre_tool_use(matcher="Bash")(do_nothing)
    hooks.pre_tool_use(matcher="Edit")(do_nothing)
    hooks.pre_tool_use(matcher="Bash")(do_nothing)
    hooks.pre_tool_use(matcher="Bash", timeout=1)(do_nothing)
    hooks.pre_tool_use(matcher="Bash", on_failure="block")(do_nothing)
    hooks.stop(do_nothing)
    assert wire_config(hooks.registrations(), grace=2.0) == {
        "PreToolUse": [
            {"matcher": "Bash", "hookCallbackIds": ["hook_0", "hook_2"], "timeout": 62.0},
            {"matcher": "Edit", "hookCallbackIds": ["hook_1"], "timeout": 62.0},
            {"matcher": "Bash", "hookCallbackIds": ["hook_3"], "timeout": 3.0},
            {"matcher": "Bash", "hookCallbackIds": ["hook_4"], "timeout": 62.0, "onFailure": "block"},
        ],
        "Stop": [{"matcher": None, "hookCallbackIds": ["hook_5"], "timeout": 62.0}],
    }
