"""The lines that the emitter writes: made once, before anything is timed, the same for both sides."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

SESSION = "0b5e2d6c-5d3f-4f0e-9d55-6f3f0f0c1a11"
# Of every 25 messages: 20 deltas, 3 assistant messages, 2 tool results.
_MIX = ["delta"] * 20 + ["assistant"] * 3 + ["tool_result"] * 2


def _frame(**fields: Any) -> dict[str, Any]:
    return {**fields, "session_id": SESSION, "uuid": "9c1f2d6c-5d3f-4f0e-9d55-6f3f0f0c1a15"}


def _filled(frame: dict[str, Any], hole: dict[str, Any], key: str, size: int) -> bytes:
    """Encode the frame with so much text under `key` that the line has `size` bytes."""
    hole[key] = ""
    text = "The quick brown fox jumps over the lazy dog. " * (size // 40 + 1)
    hole[key] = text[: max(1, size - len(_encoded(frame)) - 1)]
    return _encoded(frame) + b"\n"


def _encoded(frame: dict[str, Any]) -> bytes:
    return json.dumps(frame, separators=(",", ":")).encode()


def delta(size: int = 250) -> bytes:
    """Make a piece of streamed text."""
    piece: dict[str, Any] = {"type": "text_delta"}
    event = {"type": "content_block_delta", "index": 0, "delta": piece}
    return _filled(_frame(type="stream_event", event=event, parent_tool_use_id=None), piece, "text", size)


def assistant(size: int = 1700) -> bytes:
    """Make an assistant message of one text block."""
    block: dict[str, Any] = {"type": "text"}
    message = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-bench",
        "content": [block],
        "stop_reason": None,
        "usage": {"input_tokens": 12, "cache_read_input_tokens": 5000, "output_tokens": 300},
    }
    return _filled(_frame(type="assistant", message=message, parent_tool_use_id=None), block, "text", size)


def tool_result(size: int = 4000) -> bytes:
    """Make a user message that carries the result of a tool."""
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": "toolu_01"}
    frame = _frame(type="user", message={"role": "user", "content": [block]}, parent_tool_use_id=None)
    return _filled(frame, block, "content", size)


def write_mixed(path: Path, count: int) -> Path:
    """Write `count` messages in the issue's proportions, in an order that is the same every time."""
    kinds = {"delta": delta(), "assistant": assistant(), "tool_result": tool_result()}
    order = (_MIX * (count // len(_MIX) + 1))[:count]
    random.Random(7).shuffle(order)
    path.write_bytes(b"".join(kinds[kind] for kind in order))
    return path


def write_large(path: Path, size: int, count: int) -> Path:
    """Write `count` tool results of `size` bytes."""
    path.write_bytes(tool_result(size) * count)
    return path
