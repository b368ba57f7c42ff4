"""Every example of the wire as we know it is read and written to the same JSON value, by the type made for it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from support.wire_examples import (
    ANSWERS,
    EVENTS,
    FROM_THE_CLI,
    ID,
    MESSAGES,
    OTHER_CONTROL,
    OURS,
    SUBTYPES,
    SUGGESTIONS,
    USER,
    UUID,
    request,
)

from claude_actors.wire import control
from claude_actors.wire.codec import (
    ControlRequest,
    Conversation,
    Frame,
    Malformed,
    decode_line,
    encode_line,
    encode_request,
    encode_user,
)
from claude_actors.wire.control import OpenRequest, ServerInfo, TypedRequest, UnknownRequest
from claude_actors.wire.hooks import EVENT_TYPES
from claude_actors.wire.messages import SystemMessage, UnknownMessage, decode_message
from claude_actors.wire.permissions import UnknownUpdate, decode_update
from claude_actors.wire.system import SYSTEM_MESSAGES


def name(value: Any) -> str:
    return str(value.get("subtype") or value.get("type") or next(iter(value))) if isinstance(value, dict) else "type"


def read(value: dict[str, Any]) -> Frame:
    frame = decode_line(json.dumps(value).encode())
    assert not isinstance(frame, Malformed)
    return frame


TYPED: dict[str, type[TypedRequest]] = {
    str(kind.__struct_config__.tag): kind
    for kind in vars(control).values()
    if isinstance(kind, type) and issubclass(kind, TypedRequest)
}


@pytest.mark.parametrize("body", OURS, ids=name)
def test_a_request_of_ours_is_written_by_its_own_type_and_by_the_open_form(body: dict[str, Any]) -> None:
    typed = msgspec.convert(body, TYPED[body["subtype"]])
    fields = {key: value for key, value in body.items() if key != "subtype"}
    for made in (typed, OpenRequest(body["subtype"], fields)):
        assert json.loads(encode_request(ID, made)) == request(**body)


@pytest.mark.parametrize("value", FROM_THE_CLI, ids=lambda value: name(value["request"]))
def test_a_request_of_the_cli_has_its_own_type_and_is_written_as_it_came(value: dict[str, Any]) -> None:
    frame = read(value)
    assert isinstance(frame, ControlRequest)
    assert not isinstance(frame.request, UnknownRequest)
    assert json.loads(encode_line(frame)) == value


@pytest.mark.parametrize("value", OTHER_CONTROL, ids=name)
def test_any_other_control_frame_is_written_as_it_came(value: dict[str, Any]) -> None:
    frame = read(value)
    assert not isinstance(frame, Conversation)
    assert json.loads(encode_line(frame)) == value


@pytest.mark.parametrize("value", MESSAGES, ids=name)
def test_a_message_has_its_own_type_and_is_written_as_it_came(value: dict[str, Any]) -> None:
    frame = read(value)
    assert isinstance(frame, Conversation)
    assert json.loads(encode_line(frame)) == value
    message = decode_message(frame.line)
    assert type(message) not in (UnknownMessage, SystemMessage)
    assert message.raw == value
    assert message.type == value["type"]


def test_the_prompt_that_we_write_is_the_example() -> None:
    assert json.loads(encode_user("hello", UUID)) == USER


def test_every_system_subtype_and_every_hook_event_that_is_known_has_its_own_class() -> None:
    assert set(SUBTYPES) <= set(SYSTEM_MESSAGES)
    assert len(set(SYSTEM_MESSAGES.values())) == len(SYSTEM_MESSAGES)
    assert set(EVENTS) == set(EVENT_TYPES)


@pytest.mark.parametrize(("kind", "value"), ANSWERS, ids=name)
def test_an_answer_of_ours_is_written_as_the_example(kind: Any, value: dict[str, Any]) -> None:
    assert msgspec.convert(value, kind).to_wire() == value


@pytest.mark.parametrize("value", SUGGESTIONS, ids=name)
def test_a_suggestion_is_read_as_its_type_and_passed_back_as_it_came(value: dict[str, Any]) -> None:
    update = decode_update(value)
    assert not isinstance(update, UnknownUpdate)
    assert json.loads(msgspec.json.encode(update)) == update.raw == value


def test_the_answer_to_initialize_is_read_and_kept() -> None:
    payload = {
        "commands": [],
        "agents": [],
        "output_style": "default",
        "available_output_styles": ["default"],
        "models": [],
        "account": {},
        "pid": 7,
        "claude_code_version": "2.1.326",
        "current_permission_mode": "default",
        "hooks_applied": True,
        "hook_on_failure_supported": True,
        "session_state": "idle",
        "capabilities": ["a", "b"],
    }
    info = ServerInfo.read(payload)
    read = {key: getattr(info, key) for key in payload}
    assert read == {**payload, "capabilities": ("a", "b")}
    assert info.raw == payload
