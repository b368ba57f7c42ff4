"""The vocabulary of scripts: what the model says, step by step, as plain data.

One script drives both harnesses: the fake CLI, and the scripted Messages API behind the real CLI. Everything here can
be written as JSON. The steps in `faults` work on the fake CLI only.
"""

from __future__ import annotations

from typing import Any

import msgspec

from claude_actors.testing.faults import AnswerControl, FaultStep, VersionAnswer
from claude_actors.testing.replies import error_type


class ModelStep(msgspec.Struct, frozen=True, tag_field="step"):
    """Base of the steps that both harnesses know."""


# --- content blocks ---


class Say(ModelStep, frozen=True, tag="say"):
    """A text block, streamed in `chunks` pieces.

    With `wait_for` the stream stands still after its first piece until that gate opens.
    """

    text: str
    chunks: int = 1
    wait_for: str | None = None


class Think(ModelStep, frozen=True, tag="think"):
    """A thinking block."""

    text: str
    signature: str = "c2lnbmF0dXJl"


class UseTool(ModelStep, frozen=True, tag="use_tool"):
    """A tool_use block.

    The real CLI runs the tool. The fake writes files for Write and Edit, reads them for Read, calls
    `mcp__server__tool` on the SDK's server, and gives `result` for everything else (Bash is never run), as a failure if
    `is_error`. `id=None` makes one. `run_until`: the fake's tool runs until that gate opens.
    """

    name: str
    input: dict[str, Any] = {}
    id: str | None = None
    result: str | list[dict[str, Any]] | None = None
    is_error: bool = False
    run_until: str | None = None


class RawBlock(ModelStep, frozen=True, tag="raw_block"):
    """Any other content block, as it is (redacted_thinking, server_tool_use, a kind not known yet)."""

    block: dict[str, Any]


# --- pace ---


class WaitFor(ModelStep, frozen=True, tag="wait_for"):
    """Stand still until the test opens the gate of this name (`harness.gates.open(name)`), or a turn is interrupted.

    A gate stays open. `harness.gates.wait_reached(name)` tells the test that somebody stands before it.
    """

    gate: str


class Pause(ModelStep, frozen=True, tag="pause"):
    """Stand still for some seconds: for demos and load, never for tests, which use gates."""

    seconds: float


# --- API failures ---


class ApiError(ModelStep, frozen=True, tag="api_error"):
    """The API refuses this request; must be the reply's first block (a gate may stand before it).

    A retry is a request of its own and takes the next reply.
    """

    status: int
    type: str = ""
    message: str = ""
    retry_after: float | None = None

    @property
    def error_type(self) -> str:
        """Give the API's name of the error: `type`, or what the status implies."""
        return self.type or error_type(self.status)


class BrokenStream(ModelStep, frozen=True, tag="broken_stream"):
    """The connection to the API breaks here, after the blocks that stand before it."""


Block = Say | Think | UseTool | RawBlock
Step = Say | Think | UseTool | RawBlock | WaitFor | Pause | ApiError | BrokenStream | FaultStep


class Reply(msgspec.Struct, frozen=True):
    """What the model answers to one API request: its blocks, with waits and faults between them.

    Replies are used in the order of the script. One with `when` answers only a request whose last user message contains
    that text (others pass over it); it may be used `times` times, `None` for ever. `stop_reason=None` means tool_use if
    a tool is used and else end_turn. `after_turn`: fake-only steps after the result of the turn that this reply ended.
    """

    steps: tuple[Step, ...] = ()
    when: str | None = None
    times: int | None = 1
    stop_reason: str | None = None
    input_tokens: int = 10
    output_tokens: int = 5
    after_turn: tuple[Step, ...] = ()


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """A whole script: replies for both harnesses, and for the fake CLI what it does besides.

    `on_start`: before stdin is read. `on_initialize`: initialize has come, its answer has not been sent. `on_ready`:
    just after that answer. `on_eof`: stdin has ended. A request without a reply left is answered with `ApiError(400)`.
    `headers`: of the API's answers to the conversation (rate limits are told there; only subscribers, who have a
    `CLAUDE_CODE_OAUTH_TOKEN`, are told of them). `unknown_options`: flags that this CLI refuses as if it were older.
    `record_env`: names of variables to be recorded.
    """

    replies: tuple[Reply, ...] = ()
    on_start: tuple[Step, ...] = ()
    on_initialize: tuple[Step, ...] = ()
    on_ready: tuple[Step, ...] = ()
    on_eof: tuple[Step, ...] = ()
    controls: tuple[AnswerControl, ...] = ()
    version: VersionAnswer = VersionAnswer()
    headers: dict[str, str] = {}
    unknown_options: tuple[str, ...] = ()
    record_env: tuple[str, ...] = ()
    model: str = "claude-opus-5-5"
    initialize_extra: dict[str, Any] = {}


Scripted = str | Step | Reply


def reply(
    *steps: str | Step,
    when: str | None = None,
    times: int | None = 1,
    stop_reason: str | None = None,
    after_turn: tuple[Step, ...] = (),
    input_tokens: int = 10,
    output_tokens: int = 5,
) -> Reply:
    """Make a `Reply` of these steps; a plain string is something said."""
    return Reply(
        steps=tuple(Say(step) if isinstance(step, str) else step for step in steps),
        when=when,
        times=times,
        stop_reason=stop_reason,
        after_turn=after_turn,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
    )


def script(*replies: Scripted, **besides: Any) -> Script:
    """Make a `Script` of these replies; a string or a single step stands for a reply of its own.

    `besides` are the other fields of `Script`.
    """
    return Script(replies=tuple(item if isinstance(item, Reply) else reply(item) for item in replies), **besides)


def encode_script(given: Script) -> bytes:
    """Write a script as JSON, defaults included, so that a reader need not know them."""
    return msgspec.json.encode(given)


def decode_script(data: bytes | str) -> Script:
    """Read a script; raises `msgspec.ValidationError` when it is none."""
    return msgspec.json.decode(data, type=Script)
