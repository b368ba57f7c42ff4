"""The real CLI takes every route of the table: flags, initialize fields, private files, a prompt on stdin."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from claude_actors.cli.prepare import prepare_launch
from claude_actors.cli.table import NOT_COVERED
from claude_actors.options import Options, option_names
from claude_actors.testing.real_cli import RealCLI
from claude_actors.testing.script import UseTool, reply

pytestmark = pytest.mark.real_cli

USER = {"type": "user", "message": {"role": "user", "content": "hello"}, "parent_tool_use_id": None}
UUID = "123e4567-e89b-42d3-a456-426614174000"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
NAMED = reply(UseTool("StructuredOutput", {"name": "Ada"}))
# Answers the handshake of an MCP server, and shows that it got the secret of its configuration.
SERVER = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "external", "version": "1"}}
    else:
        result = {"tools": [{"name": os.environ["SECRET_NAME"], "inputSchema": {"type": "object"}}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def run(options: Options, *, prompt: str | None = None) -> list[dict[str, Any]]:
    """Run the CLI to its end, as a session of one prompt or, with `prompt`, as a query; give the frames it wrote."""
    launch, _ = prepare_launch(options, streaming_input=prompt is None, prompt=prompt)
    initialize = {"subtype": "initialize", **launch.initialize}
    opening = {"type": "control_request", "request_id": "req_1", "request": initialize}
    said = launch.stdin or "".join(json.dumps(line) + "\n" for line in (opening, USER)).encode()
    try:
        done = subprocess.run(
            launch.argv, input=said, env=launch.env, cwd=launch.cwd, capture_output=True, timeout=60, check=False
        )
    finally:
        launch.cleanup()
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def initial(frames: list[dict[str, Any]]) -> dict[str, Any]:
    return next(frame for frame in frames if frame.get("subtype") == "init")


def result(frames: list[dict[str, Any]]) -> dict[str, Any]:
    return next(frame for frame in frames if frame["type"] == "result")


def system_texts(real: RealCLI) -> str:
    return "\n".join(block["text"] for block in real.api.requests[0].body["system"])


def test_every_flag_at_once_is_accepted_by_a_session() -> None:
    with RealCLI("done") as real:
        frames = run(
            real.options(
                model="claude-sonnet-5",
                fallback_model="claude-haiku-4-5",
                thinking={"type": "adaptive", "display": "omitted"},
                effort="low",
                betas=["context-1m-2025-08-07"],
                max_turns=3,
                max_budget_usd=0.5,
                task_budget={"total": 50_000},
                tools={"type": "preset", "preset": "claude_code"},
                allowed_tools=["Bash(git log:*)", "Edit"],
                disallowed_tools=["Write"],
                tool_aliases={"Shell": "Bash"},
                skills=["pdf"],
                setting_sources=["user"],
                permission_mode="plan",
                can_use_tool=print,
                add_dirs=["/usr", "/etc"],
                project_config_root=real.cwd,
                session_id=UUID,
                title="-a title",
                include_partial_messages=True,
                include_hook_events=True,
                replay_user_messages=True,
                forward_subagent_text=True,
                prompt_suggestions=True,
                agent_progress_summaries=True,
                enable_file_checkpointing=True,
                plan_mode_instructions="think first",
                per_task_stop=True,
                on_user_dialog=print,
                supported_dialog_kinds=["refusal_fallback_prompt"],
                debug_file=real.home / "debug.log",
                strict_mcp_config=True,
                extra_args={"exclude-dynamic-system-prompt-sections": None},
            )
        )
    init = initial(frames)
    assert (init["session_id"], init["permissionMode"], init["model"]) == (UUID, "plan", "claude-sonnet-5")
    assert "Write" not in init["tools"]
    assert result(frames)["result"] == "done"


def test_initialize_carries_prompt_schema_and_agents_of_any_length() -> None:
    long = "Be brief. " * 30_000
    with RealCLI(NAMED, "done") as real:
        frames = run(
            real.options(
                system_prompt=long,
                output_format={"type": "json_schema", "schema": SCHEMA},
                agents={"reviewer": {"description": "reviews", "prompt": long}},
            )
        )
        assert long.strip() in system_texts(real)
    assert "reviewer" in initial(frames)["agents"]
    assert result(frames)["structured_output"] == {"name": "Ada"}


def test_a_query_takes_prompt_schema_and_agents_from_stdin_argv_and_private_files() -> None:
    long = "Be brief. " * 30_000
    with RealCLI(NAMED, "done") as real:
        frames = run(
            real.options(
                system_prompt={"type": "preset", "preset": "claude_code", "append": long, "snapshot": False},
                output_format={"type": "json_schema", "schema": SCHEMA},
                agents={"reviewer": {"description": "reviews", "prompt": long}},
                title="-a title",
                forward_subagent_text=True,
            ),
            prompt="--model=none is what I say",
        )
        assert long.strip() in system_texts(real)
        assert "--model=none is what I say" in json.dumps(real.api.requests[0].body["messages"])
    assert "reviewer" in initial(frames)["agents"]
    assert result(frames)["structured_output"] == {"name": "Ada"}


def test_an_empty_system_prompt_is_the_default_as_in_the_official_sdk() -> None:
    with RealCLI("done") as real:
        run(real.options())
        assert "interactive" not in system_texts(real)
        assert len(system_texts(real)) < 500


def test_servers_and_settings_are_read_from_private_files() -> None:
    server = {"command": sys.executable, "args": ["-c", SERVER], "env": {"SECRET_NAME": "whispered"}}
    with RealCLI("done") as real:
        frames = run(
            real.options(
                mcp_servers={"external": server},
                settings={"permissions": {"deny": ["Bash"]}},
                sandbox={"enabled": False},
                tools=["Bash", "Read"],
            )
        )
    tools = initial(frames)["tools"]
    assert "mcp__external__whispered" in tools
    assert "Bash" not in tools


def test_a_plugin_a_resumed_session_and_a_fork_are_taken(tmp_path: Path) -> None:
    manifest = tmp_path / "plugin" / ".claude-plugin" / "plugin.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('{"name": "mine", "version": "1.0.0"}')
    with RealCLI("one", "two", "three") as real:
        options = real.options(plugins=[{"type": "local", "path": str(tmp_path / "plugin")}])
        first = initial(run(options.replace(session_id=UUID)))
        again = initial(run(options.replace(resume=UUID)))
        forked = initial(run(options.replace(resume=UUID, fork_session=True)))
        assert len(real.api.requests[2].body["messages"]) > len(real.api.requests[0].body["messages"])
    assert "mine" in [plugin["name"] for plugin in first["plugins"]]
    assert (first["session_id"], again["session_id"]) == (UUID, UUID)
    assert forked["session_id"] != UUID


def test_an_unknown_flag_is_passed_on_and_refused_by_the_cli() -> None:
    with RealCLI("unused") as real, pytest.raises(AssertionError, match="unknown option '--no-such-flag'"):
        run(real.options(extra_args={"no-such-flag": None}))


def test_every_option_of_the_official_sdk_is_covered_or_said_to_be_not() -> None:
    spec = importlib.util.find_spec("claude_agent_sdk")
    assert spec is not None
    assert spec.origin is not None
    module = ast.parse(Path(spec.origin).with_name("types.py").read_text(encoding="utf-8"))
    official = next(n for n in module.body if isinstance(n, ast.ClassDef) and n.name == "ClaudeAgentOptions")
    names = {n.target.id for n in official.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    assert names - set(option_names()) == set(NOT_COVERED)
