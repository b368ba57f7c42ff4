"""What callbacks answer, as small values: one class for each thing that can be said.

Which of them an event can honour stands in `callbacks/outcomes.py`, their form on the wire in `callbacks/translate.py`;
here they only carry data. All of them are immutable and may be shared between threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from claude_actors.wire.permissions import PermissionUpdate

# --- any hook ---


class Continue(msgspec.Struct, frozen=True):
    """Go on as if there were no hook, perhaps with a message shown to the user."""

    system_message: str | None = None
    suppress_output: bool = False


class StopTurn(msgspec.Struct, frozen=True):
    """End the running turn; the session goes on and takes the next prompt.

    On `PreToolUse` the tool that was asked about still runs: `Deny(message, interrupt=True)` prevents that too.
    """

    reason: str
    system_message: str | None = None


class Deferred(msgspec.Struct, frozen=True):
    """Let the CLI go on without an answer; `timeout` in seconds bounds what it may still wait in the background."""

    timeout: float | None = None


# --- decisions ---


class Allow(msgspec.Struct, frozen=True):
    """Let the tool run without asking anybody else, with `updated_input` instead of its own input if given.

    `updated_permissions` changes the rules from now on (pass suggestions of the request back to accept them); only
    permission requests carry it. `additional_context` reaches the model and is for `PreToolUse` only.
    """

    updated_input: Mapping[str, Any] | None = None
    updated_permissions: Sequence[PermissionUpdate | Mapping[str, Any]] | None = None
    reason: str | None = None
    additional_context: str | None = None


class Deny(msgspec.Struct, frozen=True):
    """Refuse; the model reads `message`. With `interrupt` the turn ends too."""

    message: str = "denied"
    interrupt: bool = False


class Ask(msgspec.Struct, frozen=True):
    """Have the permission asked for, even where a rule would allow it."""

    reason: str | None = None


class Block(msgspec.Struct, frozen=True):
    """Do not let it happen (a tool, a prompt, a compaction); the model or the user reads `reason`.

    On `Stop` the model goes on instead of ending its turn; after a tool has run, `reason` is feedback to the model; on
    `PostToolBatch` the turn ends.
    """

    reason: str
    system_message: str | None = None


# --- changes ---


class AddContext(msgspec.Struct, frozen=True):
    """Go on, and give the model this text to read."""

    text: str
    system_message: str | None = None


class ReplaceInput(msgspec.Struct, frozen=True):
    """Change a tool's input and leave the decision to the usual permission rules."""

    updated_input: Mapping[str, Any]
    additional_context: str | None = None


class ReplaceOutput(msgspec.Struct, frozen=True):
    """Give the model `output` instead of what the tool returned; built-in tools need the shape of their own output."""

    output: Any
    additional_context: str | None = None


class Retry(msgspec.Struct, frozen=True):
    """Tell the model that it may try the denied tool call again."""


class UseWorktree(msgspec.Struct, frozen=True):
    """Name the directory of the worktree that the hook has made."""

    path: str


class WatchPaths(msgspec.Struct, frozen=True):
    """Have `FileChanged` reported for these absolute paths, in place of those watched so far."""

    paths: Sequence[str]


class Display(msgspec.Struct, frozen=True):
    """Show this text instead of the message's own, in its result too; the conversation stays as it is."""

    text: str


# --- elicitation and dialogs ---


class Accept(msgspec.Struct, frozen=True):
    """Answer an MCP server's question with these values.

    For `on_elicitation`. The CLI (2.1.326) does not heed it from a hook, and asks all the same.
    """

    content: Mapping[str, Any] | None = None


class Decline(msgspec.Struct, frozen=True):
    """Refuse to answer an MCP server's question."""


class Cancel(msgspec.Struct, frozen=True):
    """Dismiss an MCP server's question without an answer; the CLI takes it for a decline if it comes from a hook."""


class Completed(msgspec.Struct, frozen=True):
    """Finish a dialog with its result."""

    result: Any = None


class Cancelled(msgspec.Struct, frozen=True):
    """Dismiss a dialog."""
