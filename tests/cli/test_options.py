"""Options as a value: immutable, checked when made, and discreet when shown."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from claude_actors.callbacks.hooks import Hooks
from claude_actors.errors import ClaudeActorsError, InvalidOptions
from claude_actors.options import Options, option_default, option_names
from claude_actors.options.rules import RULES

UUID = "123e4567-e89b-42d3-a456-426614174000"


def answer(*_: object) -> Any:
    raise AssertionError("never called here")


UNSOUND: list[tuple[str, Any]] = [
    ("permission_mode", "yolo"),
    ("effort", "extreme"),
    ("messages_overflow", "block"),
    ("events_overflow", "spill"),
    ("setting_sources", ["global"]),
    ("setting_sources", "user"),
    ("max_turns", 0),
    ("max_turns", True),
    ("max_turns", 1.5),
    ("max_budget_usd", -1),
    ("max_budget_usd", float("nan")),
    ("max_thinking_tokens", -1),
    ("task_budget", {"total": 0}),
    ("task_budget", 5),
    ("initialize_timeout", 0),
    ("control_timeout", -1.0),
    ("control_timeout", float("inf")),
    ("permission_timeout", 0),
    ("callback_grace", -0.1),
    ("eof_grace", "2"),
    ("max_pending_requests", 0),
    ("max_queued_operations", -1),
    ("max_buffer_size", 0),
    ("stderr_lines", -1),
    ("session_id", "my session"),
    ("session_id", UUID.replace("-", "")),
    ("model", ""),
    ("model", 5),
    ("model", "opus\0--dangerously-skip-permissions"),
    ("model", "\ud800"),
    ("cwd", "/tmp\0x"),
    ("cwd", ""),
    ("add_dirs", "/tmp"),
    ("add_dirs", ["/tmp\0x"]),
    ("allowed_tools", "Bash"),
    ("allowed_tools", [1]),
    ("allowed_tools", [""]),
    ("env", {"A=B": "c"}),
    ("env", {"A": 1}),
    ("env", {"A": "b\0c"}),
    ("env", {"A\0": "b"}),
    ("env", ["A"]),
    ("extra_args", {"--model": "x"}),
    ("extra_args", {"model x": None}),
    ("extra_args", {"a=b": None}),
    ("extra_args", {"": None}),
    ("extra_args", {"p": None}),
    ("extra_args", {"future": 5}),
    ("extra_args", {"input-format": "text"}),
    ("extra_args", {"output-format": "text"}),
    ("extra_args", {"print": None}),
    ("mcp_servers", {"a": None}),
    ("mcp_servers", {"a": "server.py"}),
    ("mcp_servers", {"a": ["node", "server.js"]}),
    ("mcp_servers", {"a": {}}),
    ("mcp_servers", {"a": {"type": "http"}}),
    ("mcp_servers", {"a": {"type": "sdk", "name": "a"}}),
    ("mcp_servers", {"": answer}),
    ("mcp_servers", 5),
    ("agents", {"reviewer": "reviews"}),
    ("skills", "pdf"),
    ("skills", ["pdf,Bash"]),
    ("skills", ["*"]),
    ("skills", ["pdf)"]),
    ("skills", [" pdf"]),
    ("skills", ["/pdf"]),
    ("plugins", [{"type": "remote", "path": "/p"}]),
    ("plugins", [{"type": "local"}]),
    ("system_prompt", 5),
    ("system_prompt", {"type": "preset", "preset": "other"}),
    ("system_prompt", {"type": "file"}),
    ("thinking", {"type": "enabled"}),
    ("thinking", "adaptive"),
    ("output_format", {"type": "xml"}),
    ("output_format", {"type": "json_schema"}),
    ("tools", "Bash"),
    ("settings", 5),
    ("hooks", {"PreToolUse": []}),
    ("can_use_tool", "allow"),
    ("strict_mcp_config", 1),
    ("debug", ""),
]

CONFLICTS: list[tuple[str, dict[str, Any]]] = [
    ("resume, continue_conversation", {"resume": UUID, "continue_conversation": True}),
    ("session_id", {"resume": "other", "session_id": UUID}),
    ("session_id", {"continue_conversation": True, "session_id": UUID}),
    ("resume_session_at", {"resume_session_at": UUID}),
    ("resume_drops_turn", {"resume": UUID, "resume_drops_turn": UUID}),
    ("can_use_tool, permission_prompt_tool_name", {"can_use_tool": answer, "permission_prompt_tool_name": "mcp__a__b"}),
    ("supported_dialog_kinds", {"supported_dialog_kinds": ["a"]}),
    ("fallback_model", {"model": "opus", "fallback_model": "opus"}),
]


@pytest.mark.parametrize(("name", "value"), UNSOUND)
def test_an_unsound_value_is_refused_by_the_options_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidOptions, match=f"^{name}: ") as caught:
        Options(**{name: value})
    assert isinstance(caught.value, ClaudeActorsError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mcp_servers": {"a": {}}}, 'mcp_servers: \'a\' must have a "command" or a "url"'),
        ({"mcp_servers": 5}, "mcp_servers: must be a mapping of names to servers, or a configuration file's path"),
        (
            {"can_use_tool": lambda name, given, context: None},
            "can_use_tool: is called with (request, ctx), but takes (name, given, context)",
        ),
        ({"on_elicitation": lambda: None}, "on_elicitation: is called with (request, ctx), but takes ()"),
        (
            {"on_user_dialog": lambda request: None},
            "on_user_dialog: is called with (request, ctx), but takes (request)",
        ),
        (
            {"hooks": {"PreToolUse": [answer]}},
            "hooks: must be a Hooks, on which callbacks are registered (@hooks.pre_tool_use, …)",
        ),
    ],
)
def test_a_refusal_says_what_would_do_instead(values: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidOptions) as caught:
        Options(**values)
    assert str(caught.value) == words


@pytest.mark.parametrize(("names", "values"), CONFLICTS)
def test_options_that_exclude_each_other_are_refused(names: str, values: dict[str, Any]) -> None:
    with pytest.raises(InvalidOptions, match=f"^{names}: "):
        Options(**values)


def test_a_forked_session_may_choose_its_id() -> None:
    assert Options(resume="a", fork_session=True, session_id=UUID).session_id == UUID


def test_what_people_write_is_accepted() -> None:
    Options(
        cwd=Path("/tmp"),
        env={"A": "b", "GONE": None},
        hooks=Hooks(),
        can_use_tool=answer,
        mcp_servers={"f": answer, "e": {"command": "x"}, "h": {"type": "http", "url": "http://localhost"}},
        system_prompt="",
        permission_timeout=None,
        skills=["plugin:skill"],
        extra_args={"future-flag": None, "other": "-v"},
        settings='{"a": 1}',
    )


def test_every_option_has_a_rule_and_no_rule_is_without_its_option() -> None:
    assert set(RULES) == set(option_names())


def test_options_are_keyword_only_and_immutable() -> None:
    with pytest.raises(TypeError):
        Options("claude")  # type: ignore[call-arg]
    with pytest.raises(dataclasses.FrozenInstanceError):
        Options().model = "opus"  # type: ignore[misc]


def test_changing_what_was_passed_in_changes_no_options() -> None:
    env, tools = {"A": "1"}, ["Bash"]
    options = Options(env=env, allowed_tools=tools)
    env["A"] = "2"
    tools.append("Write")
    assert options.env == {"A": "1"}
    assert list(options.allowed_tools) == ["Bash"]
    with pytest.raises(TypeError):
        options.env["A"] = "3"  # type: ignore[index]


def test_every_default_is_sound() -> None:
    # Options that are left at their default are not looked at when Options are made.
    for name in option_names():
        assert RULES[name](option_default(name)) is None, name


def test_replace_makes_a_checked_copy() -> None:
    options = Options(model="opus", max_turns=3)
    assert options.replace(model="sonnet") == Options(model="sonnet", max_turns=3)
    assert options.model == "opus"
    with pytest.raises(InvalidOptions, match=r"^max_turns: "):
        options.replace(max_turns=0)
    with pytest.raises(TypeError):
        options.replace(modle="opus")


def test_repr_shows_what_was_set_and_no_secret() -> None:
    secret = "sk-secret"
    options = Options(
        model="opus",
        env={"TOKEN": secret},
        settings={"apiKeyHelper": secret},
        sandbox={"secret": secret},
        extra_args={"token": secret},
        mcp_servers={"a": {"command": "x", "env": {"K": secret}}, "b": {"url": "u", "headers": {"K": secret}}},
        agents={"a": {"description": "d", "prompt": secret}},
        can_use_tool=answer,
    )
    shown = repr(options)
    assert secret not in shown
    assert secret not in repr(options.replace(settings=f'{{"k": "{secret}"}}', mcp_servers=f'{{"k": "{secret}"}}'))
    for part in ("model='opus'", "TOKEN", "can_use_tool=<answer>", "'b'"):
        assert part in shown
    assert "max_turns" not in shown


def test_repr_of_a_long_prompt_is_short() -> None:
    assert len(repr(Options(system_prompt="x" * 100_000))) < 200
