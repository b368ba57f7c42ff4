"""A scripted reply as the Messages API would send it: the stream's events, or one whole message.

Pure: it says what to send and where to stand still, and knows no socket. What a reply may hold is checked here too.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any, Final, TypeGuard

import msgspec

from claude_actors.testing.replies import split_text
from claude_actors.testing.script import (
    ApiError,
    BrokenStream,
    Pause,
    RawBlock,
    Reply,
    Say,
    Script,
    Step,
    Think,
    UseTool,
    WaitFor,
)

JsonObject = dict[str, Any]


class Send(msgspec.Struct, frozen=True):
    """Send this event of the stream."""

    event: JsonObject


class Break(msgspec.Struct, frozen=True):
    """Cut the connection here."""


Action = Send | Break | WaitFor | Pause

_MODEL_STEPS = Say | Think | UseTool | RawBlock | WaitFor | Pause | ApiError | BrokenStream


def check_script(script: Script) -> None:
    """Raise `ValueError` for what only the fake CLI can do, or for an API error that does not stand first."""
    if script.on_start or script.on_initialize or script.on_ready or script.on_eof or script.controls:
        raise ValueError("on_start, on_initialize, on_ready, on_eof and controls work on the fake CLI only")
    for reply in script.replies:
        _check_reply(reply)


def _check_reply(reply: Reply) -> None:
    if reply.after_turn:
        raise ValueError("after_turn works on the fake CLI only")
    for index, step in enumerate(reply.steps):
        if not isinstance(step, _MODEL_STEPS):
            raise ValueError(f"{type(step).__name__} works on the fake CLI only")
        if isinstance(step, ApiError) and not all(map(_is_wait, reply.steps[:index])):
            raise ValueError("an ApiError must come before every block of its reply")


def split_waits(reply: Reply) -> tuple[tuple[WaitFor | Pause, ...], Reply]:
    """Give the waits that stand before the reply's first block, and the reply without them."""
    waits = tuple(step for step in takewhile(_is_wait, reply.steps) if _is_wait(step))
    return waits, msgspec.structs.replace(reply, steps=reply.steps[len(waits) :])


def _is_wait(step: Step) -> TypeGuard[WaitFor | Pause]:
    return isinstance(step, WaitFor | Pause)


def stream_actions(reply: Reply, *, model: str) -> Iterator[Action]:
    """Give the events of a streamed answer in order, with the waits and the break between them."""
    yield Send({"type": "message_start", "message": _envelope(reply, model)})
    index = 0
    for step in reply.steps:
        match step:
            case WaitFor() | Pause():
                yield step
            case BrokenStream():
                yield Break()
                return
            case _:
                yield from _block_actions(step, index)
                index += 1
    delta = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
    yield Send({"type": "message_delta", "delta": delta, "usage": {"output_tokens": reply.output_tokens}})
    yield Send({"type": "message_stop"})


def whole_message(reply: Reply, *, model: str) -> JsonObject:
    """Give the same answer for a request that does not stream."""
    steps = [step for step in reply.steps if isinstance(step, Say | Think | UseTool | RawBlock)]
    message = _envelope(reply, model)
    message["content"] = [_block(step) for step in steps]
    message["stop_reason"] = _stop_reason(reply)
    message["usage"]["output_tokens"] = reply.output_tokens
    return message


def error_body(error: ApiError) -> JsonObject:
    """Give the body of a refused request."""
    return {"type": "error", "error": {"type": error.error_type, "message": error.message or "refused by the script"}}


def sse(event: Mapping[str, Any]) -> bytes:
    """Write one event as the stream carries it."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _block_actions(step: Step, index: int) -> Iterator[Action]:
    block = _block(step)
    # A raw block comes whole with its start: how its kind is cut into deltas is not known here.
    start = block if isinstance(step, RawBlock) else _empty(block)
    yield Send({"type": "content_block_start", "index": index, "content_block": start})
    for number, delta in enumerate(_deltas(step, block)):
        yield Send({"type": "content_block_delta", "index": index, "delta": delta})
        if number == 0 and isinstance(step, Say) and step.wait_for is not None:
            yield WaitFor(step.wait_for)
    yield Send({"type": "content_block_stop", "index": index})


def _block(step: Step) -> JsonObject:
    match step:
        case Say():
            return {"type": "text", "text": step.text}
        case Think():
            return {"type": "thinking", "thinking": step.text, "signature": step.signature}
        case UseTool():
            made = step.id or f"toolu_{uuid.uuid4().hex[:20]}"
            return {"type": "tool_use", "id": made, "name": step.name, "input": step.input}
        case RawBlock():
            return step.block
    raise ValueError(f"{type(step).__name__} is no content block")


_BLANKS: Final[Mapping[str, JsonObject]] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}


def _empty(block: JsonObject) -> JsonObject:
    return block | _BLANKS.get(block["type"], {})


def _deltas(step: Step, block: JsonObject) -> Iterator[JsonObject]:
    match step:
        case Say():
            for piece in split_text(step.text, step.chunks):
                yield {"type": "text_delta", "text": piece}
        case Think():
            yield {"type": "thinking_delta", "thinking": step.text}
            yield {"type": "signature_delta", "signature": step.signature}
        case UseTool():
            yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


def _stop_reason(reply: Reply) -> str:
    uses_tool = any(isinstance(step, UseTool) for step in reply.steps)
    return reply.stop_reason or ("tool_use" if uses_tool else "end_turn")


def _envelope(reply: Reply, model: str) -> JsonObject:
    return {
        "id": f"msg_{uuid.uuid4().hex[:20]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.input_tokens,
            "output_tokens": 1,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }
