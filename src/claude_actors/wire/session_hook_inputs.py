"""The inputs of the hook events about the session and its surroundings, beside those about tools and turns."""

from __future__ import annotations

from claude_actors.wire.hook_inputs import HookEvent


class SessionStart(HookEvent, frozen=True, kw_only=True):
    """A session begins, resumes, or goes on after a compaction, as `source` says."""

    hook_event_name: str = "SessionStart"
    source: str = ""
    model: str | None = None
    session_title: str | None = None
    seconds_since_last_response: float | None = None
    context_tokens: float | None = None
    prompt_cache_likely_expired: bool | None = None
    estimated_cache_write_usd: float | None = None


class SessionEnd(HookEvent, frozen=True, kw_only=True):
    """The session ends."""

    hook_event_name: str = "SessionEnd"
    reason: str = ""


class Setup(HookEvent, frozen=True, kw_only=True):
    """The CLI sets itself up, `trigger` being `init` or `maintenance`."""

    hook_event_name: str = "Setup"
    trigger: str = ""


class Notification(HookEvent, frozen=True, kw_only=True):
    """The CLI has something to tell the user."""

    hook_event_name: str = "Notification"
    message: str = ""
    title: str | None = None
    notification_type: str = ""


class _ModelSwitch(HookEvent, frozen=True, kw_only=True):
    from_model: str = ""
    to_model: str = ""
    requested_model: str | None = None
    source: str = ""
    context_tokens: float = 0
    prompt_cache_warm: bool = False
    cache_ttl: str = ""
    estimated_cache_write_usd: float = 0
    pricing: str = ""


class PreModelSwitch(_ModelSwitch, frozen=True):
    """The model is about to be changed."""

    hook_event_name: str = "PreModelSwitch"


class PostModelSwitch(_ModelSwitch, frozen=True):
    """The model has been changed."""

    hook_event_name: str = "PostModelSwitch"


class TeammateIdle(HookEvent, frozen=True, kw_only=True):
    """A teammate has nothing to do."""

    hook_event_name: str = "TeammateIdle"
    teammate_name: str = ""
    team_name: str | None = None


class _TaskEvent(HookEvent, frozen=True, kw_only=True):
    task_id: str = ""
    task_subject: str = ""
    task_description: str | None = None
    teammate_name: str | None = None
    team_name: str | None = None


class TaskCreated(_TaskEvent, frozen=True):
    """A task is put on the list."""

    hook_event_name: str = "TaskCreated"


class TaskCompleted(_TaskEvent, frozen=True):
    """A task is marked as done."""

    hook_event_name: str = "TaskCompleted"


class ConfigChange(HookEvent, frozen=True, kw_only=True):
    """A settings file has changed while the session runs."""

    hook_event_name: str = "ConfigChange"
    source: str = ""
    file_path: str | None = None


class InstructionsLoaded(HookEvent, frozen=True, kw_only=True):
    """A file of instructions has been read into the conversation."""

    hook_event_name: str = "InstructionsLoaded"
    file_path: str = ""
    memory_type: str = ""
    load_reason: str = ""
    globs: tuple[str, ...] = ()
    trigger_file_path: str | None = None
    parent_file_path: str | None = None


class WorktreeCreate(HookEvent, frozen=True, kw_only=True):
    """A worktree is wanted; the hook makes it and answers with its path."""

    hook_event_name: str = "WorktreeCreate"
    name: str


class WorktreeRemove(HookEvent, frozen=True, kw_only=True):
    """A worktree is no longer wanted."""

    hook_event_name: str = "WorktreeRemove"
    worktree_path: str


class CwdChanged(HookEvent, frozen=True, kw_only=True):
    """The session works in another directory now."""

    hook_event_name: str = "CwdChanged"
    old_cwd: str = ""
    new_cwd: str = ""


class FileChanged(HookEvent, frozen=True, kw_only=True):
    """A watched file was changed, added or unlinked, as `event` says."""

    hook_event_name: str = "FileChanged"
    file_path: str
    event: str = ""


class DirectoryAdded(HookEvent, frozen=True, kw_only=True):
    """The session may work in one more directory."""

    hook_event_name: str = "DirectoryAdded"
    directory: str
    source: str = ""


class MessageDisplay(HookEvent, frozen=True, kw_only=True):
    """Some more lines of an assistant message are about to be shown."""

    hook_event_name: str = "MessageDisplay"
    turn_id: str = ""
    message_id: str = ""
    index: int = 0
    final: bool = False
    delta: str = ""
