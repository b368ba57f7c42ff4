"""One line to one frame and back; what cannot be read is a value that says why, never an exception."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_actors.errors import EncodingFailed
from claude_actors.wire.codec import (
    ControlCancel,
    ControlRequest,
    ControlResponse,
    Conversation,
    Frame,
    KeepAlive,
    Malformed,
    decode_line,
    encode_cancel,
    encode_error,
    encode_line,
    encode_success,
    encode_user,
)
from claude_actors.wire.control import CanUseTool, HookCallback, McpMessage

RECORDED = Path(__file__).parent / "data"
SUCCESS = b'{"type":"control_response","response":{"subtype":"success","request_id":"r"'
DEEP = b"[" * 100_000 + b"]" * 100_000

FRAMES: list[Frame] = [
    ControlResponse("r1", True, {"mode": "plan"}),
    ControlResponse("r1", True),
    ControlResponse("r1", True, {"a": 1}, pending_permission_requests=[{"request_id": "x"}]),
    ControlResponse("r1", False, error="no", error_code="unsupported_request", pending_permission_requests=[1]),
    ControlCancel("r1"),
    KeepAlive(),
    ControlRequest("r1", McpMessage("local", {"jsonrpc": "2.0", "id": "c7a2:0", "method": "tools/list"})),
]


def malformed(line: bytes) -> Malformed:
    frame = decode_line(line)
    assert isinstance(frame, Malformed)
    return frame


def conversation(line: bytes) -> Conversation:
    frame = decode_line(line)
    assert isinstance(frame, Conversation)
    return frame


def request(body: dict[str, Any]) -> bytes:
    return json.dumps({"type": "control_request", "request_id": "a1", "request": body}).encode()


@pytest.mark.parametrize("frame", FRAMES)
def test_a_control_frame_comes_back_as_it_was(frame: Frame) -> None:
    line = encode_line(frame)
    assert line.count(b"\n") == 1
    assert decode_line(line[:-1]) == frame


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_recorded_line_is_read_and_written_to_the_same_json(path: Path) -> None:
    for line in path.read_bytes().splitlines():
        frame = decode_line(line)
        assert not isinstance(frame, Malformed)
        if isinstance(frame, Conversation | ControlRequest | ControlCancel):
            assert json.loads(encode_line(frame)) == json.loads(line)


def test_the_envelope_of_a_conversation_frame_is_read_and_its_line_kept() -> None:
    line = (
        b'{"subtype":"success","user_message_uuids":["u1","u2"],"user_message_uuid":"u1","is_error":true,'
        b'"session_id":"s","uuid":"u","parent_tool_use_id":null,"terminal_reason":"completed","type":"result"}'
    )
    frame = conversation(line)
    assert (frame.type, frame.subtype, frame.uuid, frame.session_id) == ("result", "success", "u", "s")
    assert (frame.user_message_uuid, frame.user_message_uuids) == ("u1", ("u1", "u2"))
    assert (frame.is_error, frame.terminal_reason, frame.parent_tool_use_id) == (True, "completed", None)
    assert frame.line is line


def test_a_conversation_frame_is_written_as_it_came() -> None:
    line = b'{"type":"brand_new" , "x":1}'
    assert encode_line(decode_line(line)) == line + b"\n"


def test_a_field_of_a_wrong_type_costs_the_envelope_only_that_field() -> None:
    frame = conversation(b'{"type":"result","subtype":7,"session_id":"s","user_message_uuids":[1],"is_error":"x"}')
    assert (frame.type, frame.session_id) == ("result", "s")
    assert (frame.subtype, frame.user_message_uuids, frame.is_error) == (None, None, None)


def test_no_key_of_a_frame_can_take_the_place_of_its_line() -> None:
    for value in (b'"QUJD"', b"null", b'{"a":1}'):
        line = b'{"type":"user","session_id":"s","<line>":' + value + b"}"
        frame = conversation(line)
        assert frame.line == line
        assert frame.session_id == "s"


def test_an_envelope_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        conversation(b'{"type":"user"}').line = b""  # type: ignore[misc]


def test_a_hook_input_is_passed_on_undecoded() -> None:
    frame = decode_line(request({"subtype": "hook_callback", "callback_id": "hook_0", "input": {"a": [1]}}))
    assert isinstance(frame, ControlRequest)
    assert isinstance(frame.request, HookCallback)
    assert msgspec.json.decode(frame.request.input) == {"a": [1]}


def test_an_odd_optional_field_does_not_cost_a_permission_request() -> None:
    body = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"a": 1}, "permission_suggestions": ["odd"]}
    assert decode_line(request(body)) == ControlRequest("a1", CanUseTool("Bash", {"a": 1}))


def test_an_odd_optional_field_does_not_cost_a_hook_callback() -> None:
    body = {"subtype": "hook_callback", "callback_id": "h", "input": {"a": 1}, "tool_use_id": 7}
    assert decode_line(request(body)) == ControlRequest("a1", HookCallback("h", msgspec.Raw(b'{"a":1}')))


@pytest.mark.parametrize(
    "body",
    [
        {"subtype": "can_use_tool", "input": {}},
        {"subtype": "can_use_tool", "tool_name": "Bash", "input": None},
        {"subtype": "hook_callback"},
        {"subtype": 7},
        {},
    ],
)
def test_a_request_without_what_it_needs_is_malformed_with_its_id(body: dict[str, Any]) -> None:
    frame = malformed(request(body))
    assert (frame.kind, frame.request_id, frame.frame_type) == ("shape", "a1", "control_request")


@pytest.mark.parametrize(
    "line", [b'{"type":"control_request","request":{"subtype":"x"}}', b'{"type":"control_request"}']
)
def test_a_request_without_an_id_is_malformed_without_one(line: bytes) -> None:
    frame = malformed(line)
    assert (frame.kind, frame.request_id) == ("shape", None)


def test_the_request_id_of_a_response_is_the_inner_one_first() -> None:
    inner = b'{"type":"control_response","request_id":"outer","response":{"subtype":"success","request_id":"inner"}}'
    outer = b'{"type":"control_response","request_id":"outer","response":{"subtype":"success"}}'
    assert decode_line(inner) == ControlResponse("inner", True)
    assert decode_line(outer) == ControlResponse("outer", True)


def test_success_is_success_whatever_its_payload() -> None:
    def line(payload: bytes) -> bytes:
        return SUCCESS + b',"response":' + payload + b"}}"

    assert decode_line(line(b'{"a":1}')) == ControlResponse("r", True, {"a": 1})
    assert decode_line(line(b"null")) == ControlResponse("r", True)
    assert decode_line(line(b"[1]")) == ControlResponse("r", True, {"response": [1]})


@pytest.mark.parametrize(
    ("error", "text"), [(b'"no"', "no"), (b'{"a":1}', '{"a":1}'), (b"null", "no reason given")], ids=str
)
def test_an_error_response_has_a_reason_in_words(error: bytes, text: str) -> None:
    line = b'{"type":"control_response","response":{"subtype":"error","request_id":"r","error_code":7,"error":' + error
    assert decode_line(line + b"}}") == ControlResponse("r", False, error=text)


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b'{"type":"control_response","response":{"subtype":"perhaps","request_id":"r"}}', "r"),
        (b'{"type":"control_response","response":{"request_id":"r"}}', "r"),
        (b'{"type":"control_response","response":{"subtype":"success"}}', None),
        (b'{"type":"control_response","request_id":"r"}', "r"),
        (b'{"type":"control_response","request_id":"r","response":[]}', "r"),
        (b'{"type":"control_cancel_request"}', None),
        (b'{"type":"control_cancel_request","request_id":{}}', None),
        (b'{"request_id":"r","request":{}}', "r"),
        (b'{"type":7,"response":{"request_id":"r"}}', "r"),
        (b'["control_request"]', None),
        (b'"text"', None),
        (b"{}", None),
    ],
)
def test_json_of_a_wrong_shape_is_malformed_with_the_id_that_can_be_read(line: bytes, request_id: str | None) -> None:
    frame = malformed(line)
    assert (frame.kind, frame.request_id) == ("shape", request_id)


@pytest.mark.parametrize(
    "line",
    [b"", b" ", b"{", b"junk", b"[debug] {}", b'{"type":"user"} x', b'{"type":NaN}', b'{"type":"user","x":Infinity}'],
)
def test_what_is_no_json_is_malformed(line: bytes) -> None:
    frame = malformed(line)
    assert (frame.kind, frame.request_id, frame.line_start) == ("json", None, line)
    assert frame.reason


def test_a_malformed_line_is_kept_only_in_part() -> None:
    assert malformed(b"x" * 1000).line_start == b"x" * 200


@pytest.mark.parametrize(
    "head",
    [b'{"type":"control_request","request_id":"a1",', b' { "request_id" : "a1" , "type" : "control_request" ,'],
)
def test_the_request_id_of_a_cut_off_request_is_read_from_its_start(head: bytes) -> None:
    frame = malformed(head + b'"request":{"subtype":"can_use_')
    assert (frame.kind, frame.request_id, frame.frame_type) == ("json", "a1", "control_request")


def test_a_request_that_is_only_quoted_in_junk_lends_no_id() -> None:
    assert malformed(b'[debug] sent {"type":"control_request","request_id":"a1"}').request_id is None


def test_deep_nesting_is_malformed_with_the_id_at_its_start() -> None:
    frame = malformed(b'{"type":"control_request","request_id":"a1","request":' + DEEP + b"}")
    assert (frame.kind, frame.request_id) == ("nesting", "a1")
    assert malformed(b'{"type":"user","x":' + DEEP + b"}").kind == "nesting"


@pytest.mark.parametrize(
    "body",
    [b'"request":{"subtype":"hook_callback","callback_id":"h","input":"\xff"}', b'"x":"\xff","request":"\xed\xa0\x80"'],
)
def test_a_request_that_is_not_utf8_is_malformed_with_its_id(body: bytes) -> None:
    frame = malformed(b'{"type":"control_request","request_id":"a1",' + body + b"}")
    assert (frame.kind, frame.request_id, frame.frame_type) == ("utf8", "a1", "control_request")


def test_a_line_that_is_neither_utf8_nor_json_is_malformed() -> None:
    assert malformed(b"\xff\xfe{").kind == "utf8"
    assert malformed(b'{"type":"us\xffer"}').kind == "utf8"


def test_a_lone_surrogate_is_repaired_and_the_frame_read() -> None:
    frame = conversation(rb'{"type":"user","session_id":"s","x":"a\ud800b"}')
    assert frame.line == rb'{"type":"user","session_id":"s","x":"a\ufffdb"}'
    assert frame.session_id == "s"
    body = decode_line(request({"subtype": "hook_callback", "callback_id": "h", "input": "\ud800"}))
    assert body == ControlRequest("a1", HookCallback("h", msgspec.Raw('"\ufffd"'.encode())))
    body = decode_line(request({"subtype": "can_use_tool", "tool_name": "t", "input": {"k": "\udc00"}}))
    assert body == ControlRequest("a1", CanUseTool("t", {"k": "\ufffd"}))


def test_numbers_out_of_range_do_not_cost_a_control_frame() -> None:
    line = SUCCESS + b',"response":{"a":1e999,"b":1%s}}}'
    assert decode_line(line % (b"0" * 5000)) == ControlResponse("r", True, {"a": float("inf"), "b": float("inf")})
    assert decode_line(line % (b"0" * 30)) == ControlResponse("r", True, {"a": float("inf"), "b": 1e30})


def test_of_doubled_keys_the_last_one_counts() -> None:
    assert conversation(b'{"type":"a","type":"b"}').type == "b"


def test_keep_alive_may_carry_anything() -> None:
    assert decode_line(b'{"type":"keep_alive","x":"\\ud800","session_id":7}') == KeepAlive()


def test_a_cancel_with_odd_neighbours_is_a_cancel() -> None:
    assert decode_line(b'{"type":"control_cancel_request","request_id":"r","uuid":7}') == ControlCancel("r")


def test_the_examples_of_what_we_write_are_written_so() -> None:
    assert json.loads(encode_success("r", {"behavior": "allow", "updatedInput": {}})) == {
        "type": "control_response",
        "response": {
            "subtype": "success",
            "request_id": "r",
            "response": {"behavior": "allow", "updatedInput": {}},
        },
    }
    assert json.loads(encode_success("r"))["response"]["response"] == {}
    assert json.loads(encode_error("r", "no")) == {
        "type": "control_response",
        "response": {"subtype": "error", "request_id": "r", "error": "no"},
    }
    assert json.loads(encode_cancel("r")) == {"type": "control_cancel_request", "request_id": "r"}
    assert json.loads(encode_user("hi", "u")) == {
        "type": "user",
        "message": {"role": "user", "content": "hi"},
        "parent_tool_use_id": None,
        "session_id": "default",
        "uuid": "u",
    }
    blocks = [{"type": "text", "text": "hi"}]
    assert json.loads(encode_user(blocks, "u", "s", "t"))["message"]["content"] == blocks
    assert json.loads(encode_user("hi", "u", verbatim=True))["client_composed"] is True


@pytest.mark.parametrize("content", [None, 5, b"hi", bytearray(b"hi"), {"type": "text", "text": "hi"}, {"hi"}])
def test_what_is_no_prompt_is_not_sent(content: Any) -> None:
    with pytest.raises(EncodingFailed, match=f"text or a list of content blocks, not {type(content).__name__}"):
        encode_user(content, "u")


@pytest.mark.parametrize("ready", [b'{"a" :\n [1,\r\n 2]}', b'{"a":[1,2]}'])
def test_ready_json_with_white_space_is_written_as_one_line(ready: bytes) -> None:
    line = encode_success("r", msgspec.Raw(ready))
    assert line.count(b"\n") == 1
    assert b"\r" not in line
    assert json.loads(line)["response"]["response"] == {"a": [1, 2]}


def test_text_with_newlines_is_written_as_one_line() -> None:
    line = encode_user("a\nb\r\n\u2028c", "u")
    assert line.count(b"\n") == 1
    assert json.loads(line)["message"]["content"] == "a\nb\r\n\u2028c"


@pytest.mark.parametrize("content", [b"text", bytearray(b"text"), 5, {"type": "text"}, {"text"}, None])
def test_a_prompt_that_is_neither_text_nor_a_list_is_refused_by_its_type(content: Any) -> None:
    with pytest.raises(EncodingFailed, match=f"not {type(content).__name__}$"):
        encode_user(content, "u")


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "payload",
    [{"a": object()}, {"a": "\ud800"}, {(): 1}, {"a": nested(100_000)}, {"a": msgspec.Raw(b"[\n}")}],
    ids=["object", "lone surrogate", "odd key", "nesting", "broken ready JSON"],
)
def test_what_cannot_be_json_is_refused_before_it_is_sent(payload: dict[str, Any]) -> None:
    with pytest.raises(EncodingFailed):
        encode_success("r", payload)


@pytest.mark.parametrize("ready", [b"[}", b"", b'"\xff"', b'{"a":1} {"b":2}'])
def test_ready_json_that_is_broken_is_refused_before_it_is_sent(ready: bytes) -> None:
    with pytest.raises(EncodingFailed):
        encode_success("r", msgspec.Raw(ready))


def test_a_malformed_line_cannot_be_written() -> None:
    with pytest.raises(EncodingFailed):
        encode_line(Malformed("no", b""))
