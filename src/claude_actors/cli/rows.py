"""The heart of this layer: one row for each option that concerns the CLI, saying what it becomes.

argv, environment and initialize fields are built from these rows, and so is the table in docs/options.md; rows act in
this order. The options that only this library acts upon stand in `claude_actors.cli.own_rows`.
"""

from __future__ import annotations

from typing import Final

from claude_actors.cli import translations as t
from claude_actors.cli.routes import Custom, Field, Flag, Joined, Ours, Refused, Repeated, Route, Row, Switch, Variable
from claude_actors.cli.servers import add_servers

_HERE: Final[Route] = Ours()
_REFUSED: Final[Route] = Refused()

CLI_ROWS: Final[tuple[Row, ...]] = (
    # The program and its surroundings.
    Row("cli_path", Ours("the program"), "The `claude` to run; without it, it is looked for."),
    Row("cwd", Ours("the child's working directory"), "Where the session works; it must exist."),
    Row("env", Ours("the child's environment"), "Variables over the inherited ones; None removes one."),
    Row("inherit_env", Ours("the child's environment"), "False: the child gets `env` and what we set, nothing else."),
    Row("user", Ours("the child's user"), "The system user that the CLI runs as; needs the right to change to it."),
    Row("add_dirs", Repeated("--add-dir"), "More directories that the session may access."),
    Row("project_config_root", Flag("--project-config-root"), "The trusted checkout whose project settings apply."),
    Row(
        "client_app",
        Variable("CLAUDE_AGENT_SDK_CLIENT_APP"),
        "Your application's name in the user agent; `claude-actors/<version>` if unset.",
    ),
    Row("debug", Custom("`--debug` or `--debug=…`", t.add_debug), "Debug output; a string names categories."),
    Row("debug_file", Flag("--debug-file"), "Where debug output is written."),
    # The model and what it is told.
    Row("model", Flag("--model"), "The model, by name or alias."),
    Row("fallback_model", Flag("--fallback-model"), "Used when the model is overloaded; several with commas."),
    Row(
        "system_prompt",
        Custom(
            "initialize `systemPrompt` or `appendSystemPrompt` (`systemPromptSnapshot`, `excludeDynamicSections`); "
            "a file: `--system-prompt-file=…`",
            t.add_system_prompt,
        ),
        "A text; the preset `claude_code`, with `append`; or a file. Unset, as in the official SDK, it is empty.",
        query=Custom("the `--system-prompt…` flags, texts in private files", t.add_system_prompt),
        always=True,
    ),
    Row(
        "thinking",
        Custom("`--thinking=…` or `--max-thinking-tokens=…`; `--thinking-display=…`", t.add_thinking),
        "Adaptive, enabled with a budget, or disabled.",
    ),
    Row(
        "max_thinking_tokens",
        Custom("`--max-thinking-tokens=…`", t.add_max_thinking_tokens),
        "The older form of `thinking`; not looked at where that is set.",
    ),
    Row("effort", Flag("--effort"), "low, medium, high, xhigh or max."),
    Row("betas", Joined("--betas"), "Beta features of the API."),
    Row(
        "output_format",
        Field("jsonSchema", lambda value: value["schema"]),
        "`{'type': 'json_schema', 'schema': …}`: the shape of structured output.",
        query=Custom("`--json-schema=…`", t.add_json_schema),
    ),
    Row("plan_mode_instructions", Field("planModeInstructions"), "The workflow for plan mode.", query=_REFUSED),
    Row("max_turns", Flag("--max-turns"), "End with `error_max_turns` after so many turns of the agent."),
    Row("max_budget_usd", Flag("--max-budget-usd"), "End with `error_max_budget_usd` above this cost."),
    Row(
        "task_budget",
        Custom("`--task-budget=…`", lambda value, draft: draft.value("--task-budget", value["total"])),
        "`{'total': tokens}` that the model is told it may spend.",
    ),
    # What it may use.
    Row("tools", Custom("`--tools=a,b`", t.add_tools), "The built-in tools; an empty list is none."),
    Row(
        "allowed_tools",
        Custom("`--allowedTools=a,b`", t.add_allowed_tools),
        "Tools that need no permission.",
        always=True,
    ),
    Row("disallowed_tools", Joined("--disallowedTools"), "Tools that are taken away."),
    Row("tool_aliases", Field("toolAliases", dict), "Names under which other tools are called.", query=_REFUSED),
    Row(
        "mcp_servers",
        Custom("`--mcp-config=…`, external servers in a private file; initialize `sdkMcpServers`", add_servers),
        "`{name: ToolServer | handler | config}`, or a configuration file.",
        query=Custom("`--mcp-config=…`; servers of this process are not honoured", add_servers),
    ),
    Row("strict_mcp_config", Switch("--strict-mcp-config"), "Use no MCP servers but `mcp_servers`."),
    Row("agent", Flag("--agent"), "The agent that leads the session."),
    Row(
        "agents",
        Field("agents", t.agent_definitions),
        "Subagents by name.",
        query=Custom("`--agents=…`, a private file", t.add_agents_file),
    ),
    Row(
        "skills",
        Custom("initialize `skills`; `--allowedTools=Skill(…)`; `--setting-sources=user,project`", t.add_skills),
        "Skills to enable: names, or 'all'.",
        query=Custom("`--allowedTools=Skill(…)`; `--setting-sources=user,project`", t.add_skills),
    ),
    Row("plugins", Custom("`--plugin-dir=…`, once for each", t.add_plugins), "Plugins in local directories."),
    Row(
        "settings",
        Custom("`--settings=…`, a private file unless it is a path", t.add_settings),
        "More settings: a path, JSON, or a mapping.",
        always=True,
    ),
    Row(
        "setting_sources",
        Custom("`--setting-sources=a,b`", t.add_setting_sources),
        "Which settings files are read; an empty list is none.",
        always=True,
    ),
    Row("sandbox", Ours("a part of `settings`"), "Sandbox settings for commands."),
    # Who decides.
    Row("permission_mode", Flag("--permission-mode"), "default, acceptEdits, plan, bypassPermissions, dontAsk, auto."),
    Row(
        "allow_dangerously_skip_permissions",
        Switch("--allow-dangerously-skip-permissions"),
        "Let the session change to bypassPermissions later.",
    ),
    Row("permission_prompt_tool_name", Flag("--permission-prompt-tool"), "The MCP tool that is asked for permission."),
    Row(
        "can_use_tool",
        Custom(
            "`--permission-prompt-tool=stdio`",
            lambda value, draft: draft.value("--permission-prompt-tool", "stdio"),
        ),
        "Called for each tool that needs permission.",
        query=_REFUSED,
    ),
    Row("hooks", Custom("initialize `hooks`", t.add_hooks), "Callbacks at the session's events.", query=_REFUSED),
    Row("on_elicitation", _HERE, "Answers MCP servers that ask the user; declined without it.", query=_REFUSED),
    Row("on_user_dialog", _HERE, "Answers dialogs of the kinds in `supported_dialog_kinds`.", query=_REFUSED),
    Row("supported_dialog_kinds", Field("supportedDialogKinds", list), "Dialogs that you answer.", query=_REFUSED),
    Row("per_task_stop", Field("perTaskStopAffordance"), "An interrupt spares background tasks.", query=_REFUSED),
    # The conversation.
    Row("resume", Flag("--resume"), "The session to continue."),
    Row("continue_conversation", Switch("--continue"), "Continue the last conversation in cwd."),
    Row("fork_session", Switch("--fork-session"), "Continue under a new session id."),
    Row("session_id", Flag("--session-id"), "The id of the new session, a UUID."),
    Row("resume_session_at", Flag("--resume-session-at"), "Continue from this message of the session."),
    Row("resume_drops_turn", Flag("--resume-drops-turn"), "The turn that `resume_session_at` means to drop."),
    Row("persist_session", Switch("--no-session-persistence"), "False: the session is not written to disk."),
    Row("title", Field("title"), "The session's title.", query=Flag("--name")),
    Row(
        "enable_file_checkpointing",
        Variable("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true"),
        "Keep what `rewind_files` needs.",
    ),
    Row(
        "verbatim_prompts",
        Ours("`client_composed` in each user frame"),
        "Prompts as written: no @file, no slash command. Needs CLI 2.1.248; older ones expand them all the same.",
        query=_REFUSED,
    ),
    # What comes out.
    Row("include_partial_messages", Switch("--include-partial-messages"), "`StreamEvent`s while the model writes."),
    Row("include_hook_events", Switch("--include-hook-events"), "Messages about hooks as they run."),
    Row(
        "forward_subagent_text",
        Field("forwardSubagentText"),
        "Subagents' text and thinking too.",
        query=Switch("--forward-subagent-text"),
    ),
    Row("replay_user_messages", Switch("--replay-user-messages"), "Prompts come back as messages.", query=_REFUSED),
    Row("prompt_suggestions", Field("promptSuggestions"), "A suggested next prompt after each turn.", query=_REFUSED),
    Row("agent_progress_summaries", Field("agentProgressSummaries"), "Summaries of running subagents.", query=_REFUSED),
    Row(
        "session_state_events",
        Custom("environment `CLAUDE_CODE_SDK_READS_SESSION_STATE=1`", t.add_session_state_events),
        "Tell running, requires_action and idle apart.",
        query=_HERE,
        always=True,
    ),
    # Last, so that a caller can overrule.
    Row("extra_args", Custom("`--<key>=<value>`, or `--<key>` for None", t.add_extra_args), "Any other flag."),
)
