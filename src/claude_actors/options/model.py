"""`Options`: everything that can be set for one session, as one immutable value.

Names and meanings are those of the official Python SDK wherever it has the option. This module knows the values only:
what each becomes for the CLI stands in `claude_actors.cli.rows`, whether it is sound in `claude_actors.options.rules`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from claude_actors.errors import InvalidOptions
from claude_actors.options.rules import check_options
from claude_actors.options.shown import describe_option
from claude_actors.options.types import (
    AgentDefinition,
    DialogCallback,
    EffortLevel,
    ElicitationCallback,
    OutputFormat,
    OverflowPolicy,
    PermissionMode,
    PluginConfig,
    SettingSource,
    StderrCallback,
    SystemPrompt,
    TaskBudget,
    Thinking,
    ToolsPreset,
)

if TYPE_CHECKING:
    from claude_actors.callbacks.hooks import Hooks
    from claude_actors.callbacks.policies import PermissionCallback

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Options:
    """The settings of one session; keyword only, immutable, checked when made.

    Raises InvalidOptions, which names the option. Nothing here touches the file system: paths are looked at when a
    session starts.
    """

    # The program and its surroundings.
    cli_path: str | PathLike[str] | None = None
    cwd: str | PathLike[str] | None = None
    env: Mapping[str, str | None] = field(default_factory=dict)
    inherit_env: bool = True
    user: str | None = None
    add_dirs: Sequence[str | PathLike[str]] = ()
    project_config_root: str | PathLike[str] | None = None
    extra_args: Mapping[str, str | None] = field(default_factory=dict)
    skip_version_check: bool = False
    client_app: str | None = None
    debug: bool | str = False
    debug_file: str | PathLike[str] | None = None
    port_factory: Callable[..., Any] | None = None

    # The model and what it is told.
    model: str | None = None
    fallback_model: str | None = None
    system_prompt: SystemPrompt | None = None
    thinking: Thinking | None = None
    max_thinking_tokens: int | None = None
    effort: EffortLevel | None = None
    betas: Sequence[str] = ()
    output_format: OutputFormat | Mapping[str, Any] | None = None
    plan_mode_instructions: str | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    task_budget: TaskBudget | None = None

    # What it may use.
    tools: Sequence[str] | ToolsPreset | None = None
    allowed_tools: Sequence[str] = ()
    disallowed_tools: Sequence[str] = ()
    tool_aliases: Mapping[str, str] = field(default_factory=dict)
    mcp_servers: Mapping[str, Any] | str | PathLike[str] = field(default_factory=dict)
    strict_mcp_config: bool = False
    agent: str | None = None
    agents: Mapping[str, AgentDefinition | Mapping[str, Any] | Any] | None = None
    skills: Sequence[str] | Literal["all"] | None = None
    plugins: Sequence[PluginConfig] = ()
    settings: str | PathLike[str] | Mapping[str, Any] | None = None
    setting_sources: Sequence[SettingSource] | None = None
    sandbox: Mapping[str, Any] | None = None

    # Who decides.
    permission_mode: PermissionMode | None = None
    allow_dangerously_skip_permissions: bool = False
    permission_prompt_tool_name: str | None = None
    can_use_tool: PermissionCallback | None = None
    hooks: Hooks | None = None
    on_elicitation: ElicitationCallback | None = None
    on_user_dialog: DialogCallback | None = None
    supported_dialog_kinds: Sequence[str] = ()
    per_task_stop: bool = False

    # The conversation.
    resume: str | None = None
    continue_conversation: bool = False
    fork_session: bool = False
    session_id: str | None = None
    resume_session_at: str | None = None
    resume_drops_turn: str | None = None
    persist_session: bool = True
    title: str | None = None
    enable_file_checkpointing: bool = False
    verbatim_prompts: bool = False

    # What comes out.
    include_partial_messages: bool = False
    include_hook_events: bool = False
    forward_subagent_text: bool = False
    replay_user_messages: bool = False
    prompt_suggestions: bool = False
    agent_progress_summaries: bool = False
    session_state_events: bool = True
    stderr: StderrCallback | None = None
    stderr_lines: int = 100
    stderr_events: bool = False
    stall_after: float | None = None

    # Mailboxes.
    messages_overflow: OverflowPolicy = "spill"
    events_overflow: OverflowPolicy = "drop_oldest"
    mailbox_max_items: int = 10_000
    mailbox_max_bytes: int = 64 * MIB
    mailbox_max_spill_bytes: int | None = None
    spill_directory: str | PathLike[str] | None = None

    # Timeouts, in seconds; None waits for ever.
    initialize_timeout: float = 10.0
    control_timeout: float = 5.0
    rewind_timeout: float = 30.0
    permission_timeout: float | None = 60.0
    mcp_timeout: float | None = 60.0
    elicitation_timeout: float | None = 60.0
    callback_grace: float = 5.0
    eof_grace: float = 2.0
    term_grace: float = 2.0
    kill_grace: float = 1.0
    write_timeout: float = 30.0

    # Limits.
    max_queued_operations: int = 16
    max_pending_requests: int = 64
    max_pending_callbacks: int = 32
    max_abandoned_callbacks: int = 32
    max_buffer_size: int = 16 * MIB
    buffer_warning_size: int = 1 * MIB
    write_limit_bytes: int = 64 * MIB

    def __post_init__(self) -> None:
        # Most of the many options are the very object that is their default: nothing to copy, nothing to check.
        self._take(given_names(self))

    def replace(self, **changes: Any) -> Options:
        """Return a copy with `changes`; raises InvalidOptions for an unsound value, TypeError for an unknown name."""
        names, _defaults, values = _all_options()
        if unknown := changes.keys() - set(names):
            raise TypeError(f"there is no such option: {', '.join(sorted(unknown))}")
        copy = object.__new__(Options)
        for name, value in zip(names, values(self), strict=True):
            object.__setattr__(copy, name, value)
        for name, value in changes.items():
            object.__setattr__(copy, name, value)
        copy._take(changes)
        return copy

    def _take(self, names: Iterable[str]) -> None:
        """Freeze and check these options; the others are sound already."""
        for name in names:
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        check_options(self, names)

    def __repr__(self) -> str:
        changed = (f for f in dataclasses.fields(self) if not _is_default(f, getattr(self, f.name)))
        return f"Options({', '.join(f'{f.name}={describe_option(f.name, getattr(self, f.name))}' for f in changed)})"


def given_options(options: Options | None) -> Options:
    """Return what a caller gave as options, the defaults for None; raises InvalidOptions for anything else."""
    if options is None:
        return Options()
    if not isinstance(options, Options):
        raise InvalidOptions(f"options: must be an Options, not {type(options).__name__}")
    return options


@cache
def option_names() -> tuple[str, ...]:
    """Return the names of all options, in the order of their declaration."""
    return tuple(f.name for f in dataclasses.fields(Options))


def given_names(options: Options) -> list[str]:
    """Name the options whose values are not the very objects that are their defaults."""
    names, defaults, values = _all_options()
    return [name for name, default, value in zip(names, defaults, values(options), strict=True) if value is not default]


@cache
def _all_options() -> tuple[tuple[str, ...], tuple[object, ...], Callable[[Options], tuple[object, ...]]]:
    """Return the names of all options, their plain defaults, and what reads their values off an Options in one go."""
    names = option_names()
    return names, tuple(f.default for f in dataclasses.fields(Options)), attrgetter(*names)


@cache
def option_default(name: str) -> object:
    """Return the default value of the option `name`, to be compared with and not to be changed."""
    return _default(next(f for f in dataclasses.fields(Options) if f.name == name))


def _frozen(value: object) -> object:
    """Copy what the caller could still change."""
    if isinstance(value, Mapping):
        return MappingProxyType(dict(value))
    return tuple(value) if isinstance(value, list) else value


def _default(option: dataclasses.Field[Any]) -> object:
    factory = option.default_factory
    return option.default if factory is dataclasses.MISSING else factory()


def _is_default(option: dataclasses.Field[Any], value: object) -> bool:
    return value is option.default or value == _default(option)
