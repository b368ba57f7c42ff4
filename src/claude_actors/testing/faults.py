"""What only the fake CLI can do: faults, oddities, and requests made out of turn.

Each is a step: put it where it shall happen, in a `Reply` (in a turn, after the blocks that stand before it) or at one
of the points of a `Script` (`on_start`, `on_initialize`, `on_ready`, `on_eof`). The scripted Messages API refuses them.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Fault(msgspec.Struct, frozen=True, tag_field="step"):
    """Base of the fake-only steps."""


# --- output ---

FloodKind = Literal["stream_event", "assistant", "tool_result", "system", "mixed"]


class Flood(Fault, frozen=True, tag="flood"):
    """Write `count` conversation frames of about `size` bytes each, as fast as the pipe takes them."""

    count: int
    size: int = 250
    kind: FloodKind = "stream_event"


class Emit(Fault, frozen=True, tag="emit"):
    """Write `frame` as one line, as it is."""

    frame: dict[str, Any]


class Echo(Fault, frozen=True, tag="echo"):
    """Say what the prompt said, between two texts: a content block for scripts that answer any prompt."""

    before: str = ""
    after: str = ""


class Junk(Fault, frozen=True, tag="junk"):
    """Write something that is no frame: `text`, or `data` for bytes that are not UTF-8."""

    text: str = ""
    data: bytes = b""
    newline: bool = True


class HugeLine(Fault, frozen=True, tag="huge_line"):
    """Write one valid assistant frame whose line is exactly `size` bytes long, its newline not counted."""

    size: int


class Stderr(Fault, frozen=True, tag="stderr"):
    """Write lines on standard error."""

    lines: tuple[str, ...]


class CloseStdout(Fault, frozen=True, tag="close_stdout"):
    """Close standard output and live on; later frames go nowhere."""


class CloseStdin(Fault, frozen=True, tag="close_stdin"):
    """Close standard input and live on, so that a writer meets a broken pipe."""


# --- life and death ---


class Hang(Fault, frozen=True, tag="hang"):
    """Do nothing more: read nothing, write nothing. Signals still work, unless they are ignored."""


class StopReading(Fault, frozen=True, tag="stop_reading"):
    """Read nothing more from standard input until the gate opens (`None`: never), but go on working."""

    until: str | None = None


class Die(Fault, frozen=True, tag="die"):
    """Leave at once with an exit code, or by a signal that the process sends to itself."""

    code: int = 1
    signal: int | None = None


class IgnoreTerm(Fault, frozen=True, tag="ignore_term"):
    """From here on SIGTERM and SIGINT do nothing."""


class IgnoreEof(Fault, frozen=True, tag="ignore_eof"):
    """From here on the end of standard input does not end the process."""


class SpawnChild(Fault, frozen=True, tag="spawn_child"):
    """Start a child process that lives until it is killed; its pid is recorded in the transcript.

    It inherits standard error, and standard output too if `hold_stdout`, as a shell command of the real CLI could.
    """

    ignore_term: bool = False
    new_session: bool = False
    hold_stdout: bool = False


# --- requests out of turn ---


class CallHook(Fault, frozen=True, tag="call_hook"):
    """Send a hook_callback: to `callback_id`, or to each one registered for `event`.

    `wait=False` goes on with the next step at once; `label` names the request for `CancelRequest`.
    """

    event: str
    input: dict[str, Any] = {}
    callback_id: str | None = None
    tool_use_id: str | None = None
    wait: bool = True
    label: str = ""


class AskPermission(Fault, frozen=True, tag="ask_permission"):
    """Send a can_use_tool request; its answer is recorded and has no effect."""

    tool_name: str
    input: dict[str, Any] = {}
    tool_use_id: str | None = None
    extra: dict[str, Any] = {}
    wait: bool = True
    label: str = ""


class CallMcp(Fault, frozen=True, tag="call_mcp"):
    """Send a JSON-RPC message to an SDK MCP server; a notification carries no id."""

    server: str
    method: str
    params: dict[str, Any] = {}
    notification: bool = False
    wait: bool = True
    label: str = ""


class Elicit(Fault, frozen=True, tag="elicit"):
    """Send an elicitation request."""

    server: str
    message: str
    extra: dict[str, Any] = {}
    wait: bool = True
    label: str = ""


class Request(Fault, frozen=True, tag="request"):
    """Send any control request, known or not."""

    subtype: str
    fields: dict[str, Any] = {}
    wait: bool = True
    label: str = ""


class CancelRequest(Fault, frozen=True, tag="cancel_request"):
    """Send a control_cancel_request for every open request that was sent under `label`."""

    label: str


class AwaitAnswers(Fault, frozen=True, tag="await_answers"):
    """Wait until every request that was sent with `wait=False` (under `label`, or at all) has its answer."""

    label: str | None = None


class BackgroundTask(Fault, frozen=True, tag="background_task"):
    """Start a background task that ends (`status`) when the gate opens, be the turn over or not."""

    until: str
    task_id: str | None = None
    description: str = "a background task"
    status: Literal["completed", "failed", "stopped"] = "completed"


# --- answers to our requests ---


class AnswerControl(Fault, frozen=True, tag="answer_control"):
    """How control requests of one subtype are answered; a field of `Script`, not a step.

    `late` answers when the gate `until` opens, `twice` sends the same answer two times, `never` none, `error` answers
    with `error`; `die` exits with code 1 instead of answering. `payload` replaces the success payload. `times`: for so
    many requests of that subtype, then normal again (`None`: always). Use it on "initialize" to refuse the handshake.
    """

    subtype: str
    how: Literal["normal", "late", "twice", "never", "error", "die"] = "normal"
    error: str = "refused by the script"
    error_code: str | None = None
    payload: dict[str, Any] | None = None
    until: str = ""
    times: int | None = None


class VersionAnswer(Fault, frozen=True, tag="version_answer"):
    """What `--version` does: prints `text` and exits with `code`, after the gate `until` has opened if one is named."""

    text: str = "2.1.326 (Claude Code)"
    code: int = 0
    until: str | None = None


FaultStep = (
    Flood
    | Emit
    | Echo
    | Junk
    | HugeLine
    | Stderr
    | CloseStdout
    | CloseStdin
    | Hang
    | StopReading
    | Die
    | IgnoreTerm
    | IgnoreEof
    | SpawnChild
    | CallHook
    | AskPermission
    | CallMcp
    | Elicit
    | Request
    | CancelRequest
    | AwaitAnswers
    | BackgroundTask
)
