"""No value can become another flag: whatever text an option holds, argv has the same elements with the same flags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_actors.cli.launch import Launch, build_launch
from claude_actors.errors import InvalidOptions
from claude_actors.options import Options

CLI = Path("/usr/bin/claude")

# Text as an attacker would write it, among text of every other kind.
HOSTILE = st.sampled_from(
    [
        "--dangerously-skip-permissions",
        "-p",
        "--",
        "a --model x",
        "x\n--debug",
        "=--debug",
        '"--debug"',
        ",--debug",
        " ",
    ]
)
TEXT = st.one_of(HOSTILE, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))

PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "model": lambda text: {"model": text},
    "fallback_model": lambda text: {"fallback_model": text},
    "resume": lambda text: {"resume": text},
    "resume_session_at": lambda text: {"resume": "a", "resume_session_at": text},
    "agent": lambda text: {"agent": text},
    "title": lambda text: {"title": text},
    "debug": lambda text: {"debug": text},
    "debug_file": lambda text: {"debug_file": text},
    "permission_prompt_tool_name": lambda text: {"permission_prompt_tool_name": text},
    "betas": lambda text: {"betas": [text]},
    "tools": lambda text: {"tools": [text, text]},
    "allowed_tools": lambda text: {"allowed_tools": [text]},
    "disallowed_tools": lambda text: {"disallowed_tools": [text]},
    "add_dirs": lambda text: {"add_dirs": [text, text]},
    "plugins": lambda text: {"plugins": [{"type": "local", "path": text}]},
    "project_config_root": lambda text: {"project_config_root": text},
    "system_prompt": lambda text: {"system_prompt": text},
    "system_prompt_append": lambda text: {"system_prompt": {"type": "preset", "preset": "claude_code", "append": text}},
    "system_prompt_file": lambda text: {"system_prompt": {"type": "file", "path": text}},
    "settings": lambda text: {"settings": text},
    "mcp_config": lambda text: {"mcp_servers": text},
    "mcp_server_name": lambda text: {"mcp_servers": {text: len}},
    "extra_args": lambda text: {"extra_args": {"future": text}},
}


def build(values: dict[str, Any], *, one_shot: bool) -> Launch:
    built = build_launch(
        Options(inherit_env=False, **values), cli=CLI, streaming_input=not one_shot, prompt="-p" if one_shot else None
    )
    built.cleanup()
    return built


def flags(built: Launch) -> list[str]:
    """Read argv as the CLI does: a flag is what stands before the first `=` of its own element."""
    return [argument.partition("=")[0] for argument in built.argv]


@pytest.mark.parametrize("one_shot", [False, True])
@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=25)
@given(text=TEXT)
def test_no_text_adds_or_changes_a_flag(place: str, one_shot: bool, text: str) -> None:
    harmless = build(PLACES[place]("harmless"), one_shot=one_shot)
    assert flags(build(PLACES[place](text), one_shot=one_shot)) == flags(harmless)
    assert all(flag.startswith("--") for flag in flags(harmless)[1:])


@given(name=st.text(), value=st.one_of(st.none(), TEXT))
def test_an_extra_argument_is_one_long_flag_or_refused(name: str, value: str | None) -> None:
    bare = build({}, one_shot=False)
    try:
        built = build({"extra_args": {name: value}}, one_shot=False)
    except InvalidOptions:
        return
    assert built.argv == (*bare.argv, f"--{name}" if value is None else f"--{name}={value}")


@given(prompt=TEXT)
def test_a_prompt_is_never_an_argument(prompt: str) -> None:
    built = build_launch(Options(inherit_env=False), cli=CLI, streaming_input=False, prompt=prompt)
    assert built.argv == build({}, one_shot=True).argv
    assert built.stdin == prompt.encode()
