"""Which check each option goes through, and which options exclude each other.

`check_options` is called once, when Options are made, so that a mistake is met where it was made and not in a child's
stderr. An option without a rule cannot be set.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, get_args

from claude_actors.errors import InvalidOptions
from claude_actors.options import checks as c
from claude_actors.options.types import EffortLevel, OverflowPolicy, PermissionMode, SettingSource

if TYPE_CHECKING:
    from claude_actors.options.model import Options

_texts, _flag = c.list_of(c.is_text), c.is_bool
_text, _path, _call = c.optional(c.is_text), c.optional(c.is_path), c.optional(c.is_callable)
_wait, _forever, _size = c.is_positive, c.optional(c.is_positive), c.is_count(1)
_preset = c.with_keys(preset=c.one_of("claude_code"))

RULES: Final[Mapping[str, c.Check]] = {
    "cli_path": _path,
    "cwd": _path,
    "env": c.mapping_of(c.is_env_name, c.optional(c.is_string)),
    "inherit_env": _flag,
    "user": _text,
    "add_dirs": c.list_of(c.is_path),
    "project_config_root": _path,
    "extra_args": c.mapping_of(c.is_flag_name, c.optional(c.is_string)),
    "skip_version_check": _flag,
    "client_app": c.optional(c.is_string),
    "debug": c.either(c.is_bool, c.is_text),
    "debug_file": _path,
    "port_factory": _call,
    "model": _text,
    "fallback_model": _text,
    "system_prompt": c.optional(
        c.either(
            c.is_string,
            c.by_type(preset=_preset, custom=c.with_keys(prompt=c.is_text), file=c.with_keys(path=c.is_path)),
        )
    ),
    "thinking": c.optional(
        c.by_type(adaptive=c.anything, enabled=c.with_keys(budget_tokens=_size), disabled=c.anything)
    ),
    "max_thinking_tokens": c.optional(c.is_count(0)),
    "effort": c.optional(c.one_of(*get_args(EffortLevel))),
    "betas": _texts,
    "output_format": c.optional(c.by_type(json_schema=c.with_keys(schema=c.is_mapping))),
    "plan_mode_instructions": _text,
    "max_turns": c.optional(c.is_count(1)),
    "max_budget_usd": c.optional(c.is_positive),
    "task_budget": c.optional(c.with_keys(total=_size)),
    "tools": c.optional(c.either(_texts, c.by_type(preset=_preset))),
    "allowed_tools": _texts,
    "disallowed_tools": _texts,
    "tool_aliases": c.mapping_of(c.is_text, c.is_text),
    "mcp_servers": c.is_mcp_servers,
    "strict_mcp_config": _flag,
    "agent": _text,
    "agents": c.optional(c.mapping_of(c.is_text, c.is_agent)),
    "skills": c.optional(c.either(c.one_of("all"), c.list_of(c.is_skill_name))),
    "plugins": c.list_of(c.by_type(local=c.with_keys(path=c.is_path))),
    "settings": c.optional(c.either(c.is_mapping, c.is_path)),
    "setting_sources": c.optional(c.list_of(c.one_of(*get_args(SettingSource)))),
    "sandbox": c.optional(c.is_mapping),
    "permission_mode": c.optional(c.one_of(*get_args(PermissionMode))),
    "allow_dangerously_skip_permissions": _flag,
    "permission_prompt_tool_name": _text,
    "can_use_tool": c.optional(c.is_callback),
    "hooks": c.optional(c.is_hooks),
    "on_elicitation": c.optional(c.is_callback),
    "on_user_dialog": c.optional(c.is_callback),
    "supported_dialog_kinds": _texts,
    "per_task_stop": _flag,
    "resume": _text,
    "continue_conversation": _flag,
    "fork_session": _flag,
    "session_id": c.optional(c.is_uuid),
    "resume_session_at": _text,
    "resume_drops_turn": _text,
    "persist_session": _flag,
    "title": _text,
    "enable_file_checkpointing": _flag,
    "verbatim_prompts": _flag,
    "include_partial_messages": _flag,
    "include_hook_events": _flag,
    "forward_subagent_text": _flag,
    "replay_user_messages": _flag,
    "prompt_suggestions": _flag,
    "agent_progress_summaries": _flag,
    "session_state_events": _flag,
    "stderr": _call,
    "stderr_lines": c.is_count(0),
    "stderr_events": _flag,
    "stall_after": _forever,
    "messages_overflow": c.one_of(*get_args(OverflowPolicy)),
    # Events are objects, which cannot be spilled.
    "events_overflow": c.one_of("drop_oldest", "fail"),
    "mailbox_max_items": _size,
    "mailbox_max_bytes": _size,
    "mailbox_max_spill_bytes": c.optional(_size),
    "spill_directory": _path,
    "initialize_timeout": _wait,
    "control_timeout": _wait,
    "rewind_timeout": _wait,
    "permission_timeout": _forever,
    "mcp_timeout": _forever,
    "elicitation_timeout": _forever,
    "callback_grace": c.is_duration,
    "eof_grace": c.is_duration,
    "term_grace": c.is_duration,
    "kill_grace": c.is_duration,
    "write_timeout": _wait,
    "max_queued_operations": c.is_count(0),
    "max_pending_requests": _size,
    "max_pending_callbacks": _size,
    "max_abandoned_callbacks": _size,
    "max_buffer_size": _size,
    "buffer_warning_size": _size,
    "write_limit_bytes": _size,
}

# The operating system's own names, which need not be UTF-8.
NATIVE_TEXT: Final = frozenset(
    {"cwd", "cli_path", "add_dirs", "debug_file", "env", "project_config_root", "spill_directory"}
)


def check_options(options: Options, changed: Iterable[str]) -> None:
    """Raise InvalidOptions for the first of the `changed` options that is unsound, by itself or beside another."""
    for name in changed:
        value = getattr(options, name)
        if complaint := RULES[name](value) or _bad_text(value, native=name in NATIVE_TEXT):
            raise InvalidOptions(f"{name}: {complaint}")
    for names, complaint in _conflicts(options):
        raise InvalidOptions(f"{names}: {complaint}")


def _conflicts(options: Options) -> Iterator[tuple[str, str]]:
    resuming = options.resume is not None or options.continue_conversation
    if options.resume is not None and options.continue_conversation:
        yield "resume, continue_conversation", "use one of them"
    if options.session_id is not None and resuming and not options.fork_session:
        yield "session_id", "a resumed conversation keeps its id, unless fork_session is set"
    if options.resume_session_at is not None and options.resume is None:
        yield "resume_session_at", "needs resume"
    if options.resume_drops_turn is not None and options.resume_session_at is None:
        yield "resume_drops_turn", "needs resume_session_at"
    if options.can_use_tool is not None and options.permission_prompt_tool_name is not None:
        yield "can_use_tool, permission_prompt_tool_name", "only one of them can be asked"
    if options.supported_dialog_kinds and options.on_user_dialog is None:
        yield "supported_dialog_kinds", "needs on_user_dialog, which answers them"
    if options.model is not None and options.model == options.fallback_model:
        yield "fallback_model", "is the same as model"


def _bad_text(value: object, *, native: bool) -> c.Complaint:
    """Find text, however deep, that no argument, environment or JSON line could carry."""
    if value is None or isinstance(value, int | float) or callable(value):
        return None
    if isinstance(value, str | os.PathLike):
        return _bad_string(os.fspath(value), native=native)
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return next((said for item in value if (said := _bad_text(item, native=native))), None)
    return None


def _bad_string(value: str | bytes, *, native: bool) -> c.Complaint:
    if isinstance(value, bytes):
        return "contains a NUL byte" if b"\0" in value else None
    if "\0" in value:
        return "contains a NUL byte"
    try:
        value.encode("utf-8", "surrogateescape" if native else "strict")
    except UnicodeEncodeError:
        return "contains a character that is not valid Unicode (a lone surrogate)"
    return None
