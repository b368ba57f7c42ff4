"""What a conversation looked like, without what differs from run to run: ids, times, costs, paths, wordings of its own.

The scripted fake and a real CLI must look the same in this form; a test compares them, and so keeps the fake honest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from claude_actors import Message, ResultMessage
from claude_actors.testing.conformance.talk import Talk

#: What differs between one CLI and the next, or comes when a timer says so.
_PASSING: Final = frozenset({"keep_alive", "tool_progress", "thinking_tokens", "task_progress"})
_STATES: Final = frozenset({"command_lifecycle", "session_state_changed"})
_RACING: Final = frozenset({"queued", "idle", "running"})
_SYSTEM_FIELDS: Final = ("state", "permissionMode", "status", "tag", "tool_name", "subagent_type", "error_status")


def look(talk: Talk) -> list[str]:
    """Describe the conversation message by message, to its last result: what follows that depends on who is faster."""
    results = [number for number, message in enumerate(talk.said) if isinstance(message, ResultMessage)]
    heard = talk.said[: results[-1] + 1] if results else []
    return [shape(message.raw) for message in heard if not _passes(message)]


def _passes(message: Message) -> bool:
    frame = message.raw
    kinds = {frame.get("type"), frame.get("subtype")}
    if frame.get("type") == "result" and frame.get("num_turns") == 0 and frame.get("is_error"):
        return True  # a resume that was refused; whether there was anything to resume depends on who is faster
    # When a prompt is read, and whether the CLI was idle before, depends on who is faster.
    return bool(kinds & _PASSING or (kinds & _STATES and frame.get("state") in _RACING))


def shape(frame: Mapping[str, Any]) -> str:
    """Describe one frame in a line."""
    kind = str(frame.get("type"))
    describe = _SHAPES.get(kind)
    return kind if describe is None else f"{kind} {describe(frame)}".rstrip()


def _spoken(frame: Mapping[str, Any]) -> str:
    content = frame.get("message", {}).get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    return " ".join(_block(block) for block in blocks)


def _block(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "tool_use":
            return f"uses {block.get('name')}"
        case "tool_result":
            return "failed" if block.get("is_error") else "worked"
        case "text":
            # The beginning tells which of its sentences the CLI has said; the rest is wording.
            return str(block.get("text"))[:20]
        case kind:
            return str(kind)


def _result(frame: Mapping[str, Any]) -> str:
    denied = [denial.get("tool_name") for denial in frame.get("permission_denials") or ()]
    told = [frame.get("subtype"), frame.get("terminal_reason"), frame.get("api_error_status"), frame.get("num_turns")]
    return " ".join(map(str, [*told, "error" if frame.get("is_error") else "ok", *denied]))


def _system(frame: Mapping[str, Any]) -> str:
    told = [f"{name}={frame[name]}" for name in _SYSTEM_FIELDS if frame.get(name) is not None]
    return " ".join([str(frame.get("subtype")), *told])


def _stream_event(frame: Mapping[str, Any]) -> str:
    event = frame.get("event", {})
    return f"{event.get('type')} {event.get('delta', {}).get('type', '')}"


_SHAPES: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "assistant": _spoken,
    "user": _spoken,
    "result": _result,
    "system": _system,
    "stream_event": _stream_event,
    "command_lifecycle": lambda frame: str(frame.get("state")),
}
