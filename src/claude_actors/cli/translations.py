"""The options whose translation needs more than one flag or looks at other options.

Each function takes the value and the draft, as `Custom` rows call them.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from claude_actors.cli.draft import Draft


def add_system_prompt(prompt: Any, draft: Draft) -> None:
    """Say the system prompt by initialize, or by private files where there is no initialize."""
    if prompt is None or isinstance(prompt, str):
        _replace_prompt(prompt or "", draft)
    elif prompt["type"] == "file":
        draft.value("--system-prompt-file", prompt["path"])
    elif prompt["type"] == "custom":
        _replace_prompt(prompt["prompt"], draft)
    elif prompt.get("append"):
        _append_prompt(prompt["append"], draft)
    if isinstance(prompt, Mapping):
        _add_prompt_switches(prompt, draft)


def _replace_prompt(text: str, draft: Draft) -> None:
    if not draft.one_shot:
        draft.initialize["systemPrompt"] = [text]
    elif text:
        draft.private("--system-prompt-file", "system-prompt.md", text)
    else:
        draft.value("--system-prompt", "")


def _append_prompt(text: str, draft: Draft) -> None:
    if draft.one_shot:
        draft.private("--append-system-prompt-file", "append-system-prompt.md", text)
    else:
        draft.initialize["appendSystemPrompt"] = text


def _add_prompt_switches(prompt: Mapping[str, Any], draft: Draft) -> None:
    if "snapshot" in prompt:
        if draft.one_shot:
            draft.value("--system-prompt-snapshot", "on" if prompt["snapshot"] else "off")
        else:
            draft.initialize["systemPromptSnapshot"] = bool(prompt["snapshot"])
    if prompt.get("exclude_dynamic_sections"):
        if draft.one_shot:
            draft.switch("--exclude-dynamic-system-prompt-sections")
        else:
            draft.initialize["excludeDynamicSections"] = True


def add_tools(tools: Sequence[str] | Mapping[str, Any], draft: Draft) -> None:
    """Name the base set of tools; an empty list is none at all."""
    draft.value("--tools", "default" if isinstance(tools, Mapping) else ",".join(tools))


def add_allowed_tools(tools: Sequence[str], draft: Draft) -> None:
    """Name the allowed tools, with the Skill rules that `skills` asks for."""
    rules = dict.fromkeys([*tools, *_skill_rules(draft.options.skills)])
    if rules:
        draft.value("--allowedTools", ",".join(rules))


def add_setting_sources(sources: Sequence[str] | None, draft: Draft) -> None:
    """Name the sources; with `skills` and no choice of one's own, those in which skills are found."""
    if sources is None and draft.options.skills is not None:
        sources = ("user", "project")
    if sources is not None:
        draft.value("--setting-sources", ",".join(sources))


def _skill_rules(skills: Sequence[str] | str | None) -> list[str]:
    if skills is None:
        return []
    return ["Skill"] if isinstance(skills, str) else [f"Skill({name})" for name in skills]


def add_skills(skills: Sequence[str] | str, draft: Draft) -> None:
    """Filter the skills; "all" is no filter."""
    if not isinstance(skills, str) and not draft.one_shot:
        draft.initialize["skills"] = list(skills)


def add_thinking(thinking: Mapping[str, Any], draft: Draft) -> None:
    """Say the kind of thinking; a fixed budget has its own flag."""
    if thinking["type"] == "enabled":
        draft.value("--max-thinking-tokens", thinking["budget_tokens"])
    else:
        draft.value("--thinking", thinking["type"])
    if "display" in thinking:
        draft.value("--thinking-display", thinking["display"])


def add_max_thinking_tokens(tokens: int, draft: Draft) -> None:
    """Say the older form of `thinking`, which yields to it."""
    if draft.options.thinking is None:
        draft.value("--max-thinking-tokens", tokens)


def add_settings(settings: Any, draft: Draft) -> None:
    """Name the settings file; settings given inline, or joined with `sandbox`, go into a private one."""
    sandbox = draft.options.sandbox
    if settings is None and sandbox is None:
        return
    if sandbox is None and not isinstance(settings, Mapping) and not _is_inline(settings):
        draft.value("--settings", settings)
        return
    content = dict(_loaded_settings(settings, draft))
    if sandbox is not None:
        content["sandbox"] = sandbox
    draft.private("--settings", "settings.json", draft.as_json(content))


def _is_inline(settings: object) -> bool:
    return isinstance(settings, str) and settings.lstrip().startswith("{")


def _loaded_settings(settings: Any, draft: Draft) -> Mapping[str, Any]:
    if settings is None or isinstance(settings, Mapping):
        return settings or {}
    try:
        # Read as the CLI does: relative to its working directory, with or without a byte order mark.
        path = Path(draft.options.cwd or "") / settings
        loaded = json.loads(settings if _is_inline(settings) else path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        # Without the settings the caller's own rules and hooks would be missing in silence.
        raise draft.refusal(f"cannot be read ({type(error).__name__})") from error
    if not isinstance(loaded, dict):
        raise draft.refusal("must be a JSON object")
    return loaded


def add_plugins(plugins: Sequence[Mapping[str, Any]], draft: Draft) -> None:
    """Name each plugin's directory."""
    for plugin in plugins:
        flag = "--plugin-dir-no-mcp" if plugin.get("skipMcpDiscovery") else "--plugin-dir"
        draft.value(flag, plugin["path"])


def add_agents_file(agents: Mapping[str, Any], draft: Draft) -> None:
    """Write the agents to a private file, for the form that has no initialize."""
    draft.private("--agents", "agents.json", draft.as_json(agent_definitions(agents)))


def agent_definitions(agents: Mapping[str, Any]) -> dict[str, Any]:
    """Return the agents as the CLI reads them; dataclasses, as the official SDK has them, lose their None fields."""
    return {name: _agent_definition(agent) for name, agent in agents.items()}


def _agent_definition(agent: Any) -> dict[str, Any]:
    if isinstance(agent, Mapping):
        return dict(agent)
    names = [f.name for f in dataclasses.fields(agent)] if dataclasses.is_dataclass(agent) else list(vars(agent))
    return {name: value for name in names if (value := getattr(agent, name)) is not None}


def add_json_schema(output_format: Mapping[str, Any], draft: Draft) -> None:
    """Put the schema on argv, for the form that has no initialize."""
    draft.value("--json-schema", draft.as_json(output_format["schema"]))


def add_hooks(hooks: Any, draft: Draft) -> None:
    """Register the hooks; their timeout on the wire is a grace above ours."""
    if config := hooks.wire_config(draft.options.callback_grace):
        draft.initialize["hooks"] = config


def add_debug(debug: bool | str, draft: Draft) -> None:
    """Switch debugging on, for some categories if they are named."""
    if isinstance(debug, str):
        draft.value("--debug", debug)
    else:
        draft.switch("--debug")


def add_session_state_events(wanted: bool, draft: Draft) -> None:
    """Ask for the frames that tell running, waiting and idle apart, unless the caller has set the variable."""
    name = "CLAUDE_CODE_SDK_READS_SESSION_STATE"
    if wanted and name not in draft.options.env:
        draft.env[name] = "1"


def add_extra_args(extra_args: Mapping[str, str | None], draft: Draft) -> None:
    """Pass flags that this library does not know."""
    for flag, value in extra_args.items():
        if value is None:
            draft.switch(f"--{flag}")
        else:
            draft.value(f"--{flag}", value)
