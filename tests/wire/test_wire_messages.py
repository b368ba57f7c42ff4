"""Every line becomes a message: of its class if it fits, salvaged if it nearly fits, else unknown; never an error."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.structs import filled

from claude_actors.wire import conversation, messages, notices, system
from claude_actors.wire.blocks import TextBlock, ToolUseBlock, UnknownBlock
from claude_actors.wire.codec import Conversation, decode_line
from claude_actors.wire.lazy import lazy
from claude_actors.wire.message import Message
from claude_actors.wire.messages import (
    AssistantMessage,
    RateLimitEvent,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    UnknownMessage,
    UserMessage,
    decode_message,
)
from claude_actors.wire.system import SYSTEM_MESSAGES, InitMessage, TaskStartedMessage, TaskUpdatedMessage

RECORDED = Path(__file__).parent / "data"
DEEP = b"[" * 100_000 + b"]" * 100_000
FLAT: list[type[Message]] = [ResultMessage, StreamEvent, *notices.NOTICES]


def line_of(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode()


def assistant(content: Any, **fields: Any) -> bytes:
    return line_of({"type": "assistant", "message": {"content": content, "model": "m", "id": "msg_1"}, **fields})


@pytest.mark.parametrize("kind", FLAT, ids=lambda kind: kind.__name__)
def test_a_filled_in_message_comes_back_as_it_was(kind: type[Message]) -> None:
    message = filled(kind)
    decoded = decode_message(msgspec.json.encode(message))
    assert type(decoded) is kind
    assert decoded == message
    assert decoded.type == decoded.raw["type"] == message.type


@pytest.mark.parametrize("subtype", SYSTEM_MESSAGES)
def test_a_filled_in_system_message_comes_back_as_it_was(subtype: str) -> None:
    message = filled(SYSTEM_MESSAGES[subtype], subtype=subtype)
    decoded = decode_message(msgspec.json.encode(message))
    assert type(decoded) is SYSTEM_MESSAGES[subtype]
    assert decoded == message
    assert isinstance(decoded, SystemMessage)
    assert decoded.data is decoded.raw


def test_a_filled_in_assistant_frame_comes_flat() -> None:
    frame = filled(conversation.AssistantFrame)
    decoded = decode_message(msgspec.json.encode(frame))
    assert isinstance(decoded, AssistantMessage)
    assert decoded == frame.flat()
    assert (decoded.model, decoded.message_id, decoded.content) == ("text", "text", frame.message.content)


def test_a_filled_in_user_frame_comes_flat() -> None:
    frame = filled(conversation.UserFrame)
    decoded = decode_message(msgspec.json.encode(frame))
    assert isinstance(decoded, UserMessage)
    assert decoded == frame.flat()
    assert (decoded.content, decoded.is_replay) == ("text", True)


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_recorded_conversation_frame_has_its_class_and_its_raw_frame(path: Path) -> None:
    for line in path.read_bytes().splitlines():
        if isinstance(decode_line(line), Conversation):
            message = decode_message(line)
            assert type(message) not in (UnknownMessage, SystemMessage, Message)
            assert message.raw == json.loads(line)
            assert (message.uuid, message.session_id) == (message.raw["uuid"], message.raw["session_id"])


def test_a_real_turn_reads_as_typed_messages() -> None:
    decoded = [decode_message(line) for line in (RECORDED / "tools.jsonl").read_bytes().splitlines()]
    answers = [message for message in decoded if isinstance(message, AssistantMessage)]
    tool_uses = [block for answer in answers for block in answer.content if isinstance(block, ToolUseBlock)]
    [result] = [m for m in decoded if isinstance(m, ResultMessage)]
    init = next(m for m in decoded if isinstance(m, InitMessage))
    assert [(block.name, block.input["description"]) for block in tool_uses] == [("Bash", "say hi")]
    assert (result.subtype, result.is_error, result.terminal_reason) == ("success", False, "completed")
    assert result.user_message_uuids == ["11111111-1111-4111-8111-111111111111"]
    assert result.model_usage is not None
    assert (init.permission_mode, init.claude_code_version) == ("default", "2.1.326")


def test_the_text_of_an_assistant_message_is_its_text_blocks() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "t"}, {"type": "text", "text": "b"}]
    message = decode_message(assistant(content))
    assert isinstance(message, AssistantMessage)
    assert message.text == "ab"


def test_a_task_update_tells_its_status() -> None:
    line = b'{"type":"system","subtype":"task_updated","task_id":"t","patch":{"status":"killed"}}'
    message = decode_message(line)
    assert isinstance(message, TaskUpdatedMessage)
    assert message.status == "killed"
    assert message.status in system.TERMINAL_TASK_STATUSES
    assert TaskUpdatedMessage(subtype="task_updated", task_id="t").status is None


def test_an_unknown_type_is_an_unknown_message_with_all_of_its_frame() -> None:
    message = decode_message(b'{"type":"brand_new","uuid":"u","session_id":7,"reason":"spoofed","x":[1]}')
    assert isinstance(message, UnknownMessage)
    assert (message.type, message.uuid, message.session_id, message.reason) == ("brand_new", "u", None, None)
    assert message.raw["x"] == [1]


def test_an_unknown_system_subtype_is_a_plain_system_message_with_all_of_its_frame() -> None:
    message = decode_message(b'{"type":"system","subtype":"brand_new","data":"spoofed","x":1}')
    assert type(message) is SystemMessage
    assert (message.subtype, message.data["x"], message.data["data"]) == ("brand_new", 1, "spoofed")


def test_an_unknown_block_costs_its_neighbours_nothing() -> None:
    odd = {"type": "brand_new", "x": 1}
    message = decode_message(assistant([{"type": "text", "text": "a"}, odd, "loose", {"type": "tool_use", "id": 7}]))
    assert isinstance(message, AssistantMessage)
    assert message.content == [
        TextBlock("a"),
        UnknownBlock("brand_new", odd),
        UnknownBlock("", "loose"),
        UnknownBlock("tool_use", {"type": "tool_use", "id": 7}),
    ]
    assert (message.model, message.message_id) == ("m", "msg_1")


def test_an_odd_field_costs_a_message_only_that_field() -> None:
    message = decode_message(assistant([{"type": "text", "text": "a"}], error={"odd": 1}, session_id="s"))
    assert isinstance(message, AssistantMessage)
    assert (message.content, message.error, message.session_id) == ([TextBlock("a")], None, "s")
    assert message.raw["error"] == {"odd": 1}


def test_a_user_message_with_an_odd_field_keeps_its_content() -> None:
    for content, expected in (("hi", "hi"), ([{"type": "text", "text": "a"}], [TextBlock("a")])):
        message = decode_message(line_of({"type": "user", "message": {"content": content}, "uuid": 7}))
        assert isinstance(message, UserMessage)
        assert (message.content, message.uuid) == (expected, None)


def test_a_result_is_a_result_whatever_its_fields() -> None:
    message = decode_message(b'{"type":"result","subtype":7,"num_turns":"x","duration_ms":1.5,"result":"r"}')
    assert isinstance(message, ResultMessage)
    assert (message.subtype, message.num_turns, message.duration_ms, message.result) == ("", 0, 0, "r")


def test_a_system_message_without_what_its_class_needs_is_a_plain_one() -> None:
    message = decode_message(b'{"type":"system","subtype":"task_started","description":"d"}')
    assert type(message) is SystemMessage
    assert message.data["description"] == "d"
    odd = decode_message(b'{"type":"system","subtype":"task_started","task_id":"t","description":7}')
    assert isinstance(odd, TaskStartedMessage)
    assert (odd.task_id, odd.description) == ("t", "")


def test_a_rate_limit_with_an_odd_field_is_still_read() -> None:
    line = b'{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":"soon","utilization":1}}'
    message = decode_message(line)
    assert isinstance(message, RateLimitEvent)
    info = message.rate_limit_info
    assert (info.status, info.resets_at, info.utilization) == ("rejected", None, 1.0)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "assistant"},
        {"type": "assistant", "message": "odd"},
        {"type": "assistant", "message": {"content": "text"}},
        {"type": "user", "message": {"content": 7}},
        {"type": "system"},
        {"type": "system", "subtype": 7},
        {"type": "stream_event", "event": []},
        {"type": "rate_limit_event", "rate_limit_info": {}},
        {"type": "command_lifecycle"},
    ],
)
def test_a_frame_that_does_not_fit_its_class_is_unknown_and_says_why(value: dict[str, Any]) -> None:
    message = decode_message(line_of(value))
    assert isinstance(message, UnknownMessage)
    assert message.reason == f"does not fit the type {value['type']}"
    assert message.raw == value


@pytest.mark.parametrize(
    "line", [b"", b"junk", b"[1]", b'{"x":1}', b'{"type":7}', b'{"type":"user","x":' + DEEP + b"}"]
)
def test_what_is_no_frame_is_an_unknown_message_too(line: bytes) -> None:
    message = decode_message(line)
    assert isinstance(message, UnknownMessage)
    assert message.reason
    assert message.line == line


def test_lone_surrogates_and_broken_utf8_are_replaced() -> None:
    for odd in (rb"\ud800", b"\xff"):
        message = decode_message(b'{"type":"user","uuid":"u","message":{"content":"a' + odd + b'b"}}')
        assert isinstance(message, UserMessage)
        assert (message.content, message.uuid) == ("a\ufffdb", "u")
        assert message.raw["message"]["content"] == "a\ufffdb"


def test_numbers_out_of_range_do_not_cost_a_message() -> None:
    message = decode_message(b'{"type":"stream_event","event":{"n":1e999}}')
    assert isinstance(message, StreamEvent)
    assert message.event == {"n": float("inf")}


def test_no_key_of_a_frame_reaches_what_is_kept_beside_the_fields() -> None:
    line = b'{"type":"result","subtype":"success","line":"spoofed","raw":{"a":1},"__dict__":{},"text":1}'
    message = decode_message(line)
    assert message.line == line
    assert message.raw["raw"] == {"a": 1}


def test_the_raw_frame_is_decoded_once_and_kept() -> None:
    message = decode_message(b'{"type":"stream_event","event":{}}')
    assert "raw" not in message.__dict__
    assert message.raw is message.raw
    assert isinstance(Message.__dict__["raw"], lazy)
    assert Message.raw.__doc__ is not None


LONG = "x" * messages.LARGE
LARGE_FRAMES: list[dict[str, Any]] = [
    {"type": "assistant", "uuid": "u", "message": {"content": [{"type": "text", "text": LONG}], "id": "m"}, "new": 1},
    {"type": "user", "message": {"content": LONG}, "isReplay": True, "tool_use_result": {"stdout": LONG}},
    {
        "type": "user",
        "message": {
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": LONG}]}]
        },
    },
]


@pytest.mark.parametrize("frame", LARGE_FRAMES, ids=["assistant", "prompt", "tool result"])
@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_a_large_message_is_what_it_would_be_if_it_were_small(
    frame: dict[str, Any], kind: type[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    large = decode_message(kind(line_of(frame)))
    monkeypatch.setattr(messages, "LARGE", 1 << 40)
    small = decode_message(line_of(frame))
    assert type(large) is type(small)
    assert msgspec.to_builtins(large) == msgspec.to_builtins(small)
    assert large.raw == small.raw == frame
    assert json.loads(large.line) == frame
    assert large == small == large


def test_a_large_message_is_kept_once() -> None:
    [frame, *_] = LARGE_FRAMES
    message = decode_message(line_of(frame))
    assert isinstance(message, AssistantMessage)
    [block] = message.content
    assert isinstance(block, TextBlock)
    assert block.text is message.raw["message"]["content"][0]["text"]
    assert not any(isinstance(value, bytes | bytearray) for value in vars(message).values())


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (line_of({"type": "result", "subtype": "success", "result": LONG}), ResultMessage),
        (line_of({"type": "system", "subtype": "init", "cwd": LONG}), SystemMessage),
        (assistant([{"type": "text", "text": "\ud800" + LONG}]), AssistantMessage),
        (assistant([{"type": "text", "text": LONG}], error=3), AssistantMessage),
        (b'"' + LONG.encode(), UnknownMessage),
    ],
)
def test_a_large_line_that_is_something_else_or_odd_is_read_as_a_small_one_is(line: bytes, kind: type[Message]) -> None:
    message = decode_message(bytearray(line))
    assert isinstance(message, kind)
    assert message.line == line
    assert type(message.line) is bytes


def test_a_message_cannot_be_changed() -> None:
    message = decode_message(b'{"type":"user","message":{"content":"a"}}')
    for name in ("content", "line", "raw", "brand_new"):
        with pytest.raises(AttributeError):
            setattr(message, name, "b")


def test_messages_from_the_wire_are_equal_if_their_frames_are() -> None:
    one = decode_message(b'{"type":"system","subtype":"brand_new","x":1}')
    spaced = decode_message(b'{"subtype":"brand_new", "x":1, "type":"system"}')
    other = decode_message(b'{"type":"system","subtype":"brand_new","x":2}')
    assert one == spaced
    assert hash(one) == hash(spaced)
    assert one != other
    assert one == copy.copy(one)
    assert (one == "text") is False
    assert one != "text"
    assert one != decode_message(b'{"type":"brand_new"}')


def test_a_message_made_by_hand_equals_one_from_the_wire_with_the_same_fields() -> None:
    made = ResultMessage(subtype="success", uuid="u", result="r")
    assert made == decode_message(b'{"type":"result","subtype":"success","uuid":"u","result":"r","brand_new":1}')
    assert made != ResultMessage(subtype="success", uuid="u", result="other")
    assert made.line == b""
    assert made.raw == {"type": "result", "subtype": "success", "uuid": "u", "result": "r"}


def test_a_message_shows_its_fields_and_not_its_line() -> None:
    message = decode_message(b'{"type":"user","message":{"content":"a"},"uuid":"u","x":"noise"}')
    assert repr(message) == "UserMessage(uuid='u', content='a')"


def test_every_public_class_is_described() -> None:
    classes = [getattr(messages, name) for name in messages.__all__ if name[0].isupper()]
    assert all(kind.__doc__ for kind in [*classes, *SYSTEM_MESSAGES.values()])
