"""What each option becomes: arguments, environment variables, initialize fields, in a session and in a query."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from claude_actors.callbacks.hooks import Hooks
from claude_actors.cli.launch import Launch, build_launch
from claude_actors.cli.routes import Ours, Refused
from claude_actors.cli.rows import CLI_ROWS
from claude_actors.cli.table import unsupported_in_query
from claude_actors.errors import InvalidOptions
from claude_actors.options import Options

UUID = "123e4567-e89b-42d3-a456-426614174000"
CLI = Path("/usr/bin/claude")
SCHEMA = {"type": "object"}
PRESET = {"type": "preset", "preset": "claude_code"}


def answer(*_: object) -> Any:
    raise AssertionError("never called here")


def launch(*, one_shot: bool = False, **values: Any) -> Launch:
    options = Options(inherit_env=False, **values)
    built = build_launch(options, cli=CLI, streaming_input=not one_shot, prompt="hello" if one_shot else None)
    built.cleanup()
    return built


def arguments(built: Launch) -> list[str]:
    return list(built.argv[4:])


BARE = launch()
BARE_QUERY = launch(one_shot=True)

# option, value, arguments in both forms
FLAGS: list[tuple[str, Any, list[str]]] = [
    ("add_dirs", ["/a", Path("/b")], ["--add-dir=/a", "--add-dir=/b"]),
    ("project_config_root", "/a", ["--project-config-root=/a"]),
    ("debug", True, ["--debug"]),
    ("debug", "api,hooks", ["--debug=api,hooks"]),
    ("debug_file", "/a", ["--debug-file=/a"]),
    ("model", "opus", ["--model=opus"]),
    ("fallback_model", "a,b", ["--fallback-model=a,b"]),
    ("thinking", {"type": "adaptive", "display": "omitted"}, ["--thinking=adaptive", "--thinking-display=omitted"]),
    ("thinking", {"type": "enabled", "budget_tokens": 9}, ["--max-thinking-tokens=9"]),
    ("thinking", {"type": "disabled"}, ["--thinking=disabled"]),
    ("max_thinking_tokens", 0, ["--max-thinking-tokens=0"]),
    ("effort", "low", ["--effort=low"]),
    ("betas", ["a", "b"], ["--betas=a,b"]),
    ("max_turns", 3, ["--max-turns=3"]),
    ("max_budget_usd", 0.5, ["--max-budget-usd=0.5"]),
    ("task_budget", {"total": 9}, ["--task-budget=9"]),
    ("tools", ["Bash", "Read"], ["--tools=Bash,Read"]),
    ("tools", [], ["--tools="]),
    ("tools", PRESET, ["--tools=default"]),
    ("allowed_tools", ["Bash(git log:*)", "Read"], ["--allowedTools=Bash(git log:*),Read"]),
    ("disallowed_tools", ["Write"], ["--disallowedTools=Write"]),
    ("mcp_servers", "/etc/mcp.json", ["--mcp-config=/etc/mcp.json"]),
    ("strict_mcp_config", True, ["--strict-mcp-config"]),
    ("agent", "reviewer", ["--agent=reviewer"]),
    ("plugins", [{"type": "local", "path": "/p"}], ["--plugin-dir=/p"]),
    ("plugins", [{"type": "local", "path": "/p", "skipMcpDiscovery": True}], ["--plugin-dir-no-mcp=/p"]),
    ("settings", "/etc/settings.json", ["--settings=/etc/settings.json"]),
    ("setting_sources", ["user", "local"], ["--setting-sources=user,local"]),
    ("setting_sources", [], ["--setting-sources="]),
    ("permission_mode", "plan", ["--permission-mode=plan"]),
    ("allow_dangerously_skip_permissions", True, ["--allow-dangerously-skip-permissions"]),
    ("permission_prompt_tool_name", "mcp__a__b", ["--permission-prompt-tool=mcp__a__b"]),
    ("resume", UUID, [f"--resume={UUID}"]),
    ("continue_conversation", True, ["--continue"]),
    ("fork_session", True, ["--fork-session"]),
    ("session_id", UUID, [f"--session-id={UUID}"]),
    ("persist_session", False, ["--no-session-persistence"]),
    ("include_partial_messages", True, ["--include-partial-messages"]),
    ("include_hook_events", True, ["--include-hook-events"]),
    ("extra_args", {"future": None, "other": "-x"}, ["--future", "--other=-x"]),
]

# option, value, initialize fields in a session, arguments in a query (None: not honoured)
FIELDS: list[tuple[str, Any, dict[str, Any], list[str] | None]] = [
    (
        "output_format",
        {"type": "json_schema", "schema": SCHEMA},
        {"jsonSchema": SCHEMA},
        ['--json-schema={"type": "object"}'],
    ),
    ("plan_mode_instructions", "think", {"planModeInstructions": "think"}, None),
    ("tool_aliases", {"A": "B"}, {"toolAliases": {"A": "B"}}, None),
    ("per_task_stop", True, {"perTaskStopAffordance": True}, None),
    ("title", "-t", {"title": "-t"}, ["--name=-t"]),
    ("forward_subagent_text", True, {"forwardSubagentText": True}, ["--forward-subagent-text"]),
    ("prompt_suggestions", True, {"promptSuggestions": True}, None),
    ("agent_progress_summaries", True, {"agentProgressSummaries": True}, None),
]

TESTED_APART = {
    "can_use_tool",
    "client_app",
    "hooks",
    "agents",
    "skills",
    "system_prompt",
    "supported_dialog_kinds",
    "session_state_events",
    "enable_file_checkpointing",
    "resume_session_at",
    "resume_drops_turn",
    "replay_user_messages",
}


@pytest.mark.parametrize("one_shot", [False, True])
@pytest.mark.parametrize(("name", "value", "expected"), FLAGS)
def test_an_option_becomes_its_flags(name: str, value: Any, expected: list[str], one_shot: bool) -> None:
    built, bare = launch(one_shot=one_shot, **{name: value}), BARE_QUERY if one_shot else BARE
    assert [argument for argument in arguments(built) if argument not in arguments(bare)] == expected
    assert (built.env, built.initialize) == (bare.env, bare.initialize)


@pytest.mark.parametrize(("name", "value", "fields", "in_query"), FIELDS)
def test_an_option_becomes_initialize_fields(
    name: str, value: Any, fields: dict[str, Any], in_query: list[str] | None
) -> None:
    built = launch(**{name: value})
    assert built.initialize == {**BARE.initialize, **fields}
    assert built.argv == BARE.argv
    query = launch(one_shot=True, **{name: value})
    assert not query.initialize
    assert [argument for argument in query.argv if argument not in BARE_QUERY.argv] == (in_query or [])
    assert (name in unsupported_in_query(Options(**{name: value}))) is (in_query is None)


def test_every_row_that_does_something_is_tested_here() -> None:
    tested = {name for name, *_ in FLAGS} | {name for name, *_ in FIELDS} | TESTED_APART
    acting = {row.name for row in CLI_ROWS if not isinstance(row.session, Ours | Refused)}
    assert acting == tested


def test_a_session_speaks_stream_json_both_ways_and_a_query_only_outwards() -> None:
    assert BARE.argv[:4] == (str(CLI), "--output-format=stream-json", "--input-format=stream-json", "--verbose")
    assert BARE_QUERY.argv[:4] == (str(CLI), "--output-format=stream-json", "--print", "--verbose")


def test_a_permission_callback_makes_the_cli_ask_us() -> None:
    assert "--permission-prompt-tool=stdio" in launch(can_use_tool=answer).argv
    assert not any("permission" in argument for argument in launch(one_shot=True, can_use_tool=answer).argv)


def test_hooks_are_registered_with_a_grace_above_their_timeout() -> None:
    hooks = Hooks()
    hooks.on("Stop", timeout=7.0)(answer)
    registered = launch(hooks=hooks, callback_grace=2.0).initialize["hooks"]
    assert registered["Stop"][0]["timeout"] == 9.0
    assert "hooks" not in launch(hooks=Hooks()).initialize


def test_thinking_overrules_its_older_form() -> None:
    assert arguments(launch(thinking={"type": "disabled"}, max_thinking_tokens=5)) == ["--thinking=disabled"]


def test_a_point_in_the_session_to_resume_at_is_passed_on() -> None:
    built = launch(resume="a", resume_session_at="b", resume_drops_turn="c")
    assert arguments(built) == ["--resume=a", "--resume-session-at=b", "--resume-drops-turn=c"]


def test_user_messages_are_replayed_in_a_session_only() -> None:
    assert "--replay-user-messages" in launch(replay_user_messages=True).argv
    assert "--replay-user-messages" not in launch(one_shot=True, replay_user_messages=True).argv


def test_dialogs_are_declared_to_the_cli() -> None:
    built = launch(on_user_dialog=answer, supported_dialog_kinds=["a", "b"])
    assert built.initialize["supportedDialogKinds"] == ["a", "b"]


@pytest.mark.parametrize(
    ("prompt", "fields"),
    [
        (None, {"systemPrompt": [""]}),
        ("Be brief", {"systemPrompt": ["Be brief"]}),
        (
            {"type": "custom", "prompt": "Hi", "snapshot": False},
            {"systemPrompt": ["Hi"], "systemPromptSnapshot": False},
        ),
        (PRESET, {}),
        ({**PRESET, "append": "More"}, {"appendSystemPrompt": "More"}),
        ({**PRESET, "exclude_dynamic_sections": True}, {"excludeDynamicSections": True}),
    ],
)
def test_a_system_prompt_travels_in_initialize(prompt: Any, fields: dict[str, Any]) -> None:
    built = launch(system_prompt=prompt)
    assert built.initialize == fields
    assert arguments(built) == []


def test_a_system_prompt_file_is_read_by_the_cli_itself() -> None:
    built = launch(system_prompt={"type": "file", "path": "prompt.md"})
    assert (arguments(built), dict(built.initialize)) == (["--system-prompt-file=prompt.md"], {})


def test_agents_travel_in_initialize_whatever_their_form() -> None:
    @dataclasses.dataclass
    class Agent:
        description: str
        prompt: str
        model: str | None = None

    built = launch(agents={"a": Agent("d", "p"), "b": {"description": "d", "prompt": "p", "future": 1}})
    assert built.initialize["agents"] == {
        "a": {"description": "d", "prompt": "p"},
        "b": {"description": "d", "prompt": "p", "future": 1},
    }
    assert built.argv == BARE.argv


def test_skills_bring_the_rules_and_sources_that_they_need() -> None:
    built = launch(skills=["pdf"], allowed_tools=["Read"])
    assert arguments(built) == ["--allowedTools=Read,Skill(pdf)", "--setting-sources=user,project"]
    assert built.initialize["skills"] == ["pdf"]


def test_all_skills_are_no_filter_and_chosen_sources_stay() -> None:
    built = launch(skills="all", setting_sources=["local"])
    assert arguments(built) == ["--allowedTools=Skill", "--setting-sources=local"]
    assert "skills" not in built.initialize


def test_no_skills_hide_them_all() -> None:
    assert launch(skills=[]).initialize["skills"] == []


def test_servers_of_this_process_are_named_twice_and_only_in_a_session() -> None:
    servers = {"here": answer, "official": {"type": "sdk", "name": "x", "instance": answer}}
    built = launch(mcp_servers=servers)
    config = {"mcpServers": {name: {"type": "sdk", "name": name} for name in servers}}
    assert [json.loads(argument.partition("=")[2]) for argument in arguments(built)] == [config]
    assert built.initialize["sdkMcpServers"] == ["here", "official"]
    assert launch(one_shot=True, mcp_servers=servers).argv == BARE_QUERY.argv


def test_a_query_names_the_options_that_it_cannot_honour() -> None:
    options = Options(
        can_use_tool=answer, hooks=Hooks(), on_elicitation=answer, mcp_servers={"a": answer}, model="opus", cwd="/"
    )
    assert unsupported_in_query(options) == ["can_use_tool", "hooks", "on_elicitation", "mcp_servers"]
    assert unsupported_in_query(Options(mcp_servers={"a": {"command": "x"}}, stall_after=None)) == []


def test_a_value_too_long_for_a_command_line_is_refused_by_the_options_name() -> None:
    with pytest.raises(InvalidOptions, match=r"^output_format: too long.*--json-schema"):
        launch(one_shot=True, output_format={"type": "json_schema", "schema": {"description": "x" * 200_000}})
