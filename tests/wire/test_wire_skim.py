"""Which lines are left unread until a consumer takes them, and which never are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_actors.wire.codec import Conversation, Malformed, decode_line
from claude_actors.wire.messages import AssistantMessage, UnknownMessage, decode_message
from claude_actors.wire.skim import skim_lines

FLOOD = ("stream_event", "assistant", "user")


def compact(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


@pytest.mark.parametrize("kind", FLOOD)
def test_a_line_of_a_flood_stays_as_it_came(kind: str) -> None:
    line = compact({"type": kind, "uuid": "u"})
    assert skim_lines([line]) == [[line]]


@pytest.mark.parametrize(
    "line",
    [
        compact({"type": "result", "uuid": "u"}),
        compact({"type": "system", "subtype": "init"}),
        compact({"type": "command_lifecycle", "state": "started"}),
        compact({"type": "control_cancel_request", "request_id": "r"}),
        compact({"type": "keep_alive"}),
        compact({"type": "user_dialog"}),
        compact({"uuid": "u", "type": "assistant"}),
        b'{"type": "assistant", "uuid": "u"}',
        b'{"type":"assistant","message":{"content":[]',
        b'{"type":"assistant"',
        b"debug: on",
    ],
)
def test_any_other_line_is_read_at_once(line: bytes) -> None:
    assert skim_lines([line]) == [decode_line(line)]


def test_what_is_no_line_stays_in_its_place() -> None:
    report = object()
    line = compact({"type": "user", "uuid": "u"})
    assert skim_lines([report, line, line, b"junk"]) == [report, [line, line], decode_line(b"junk")]
    assert skim_lines([line, line, report, line]) == [[line, line], report, [line]]


def test_a_flood_line_that_is_damaged_inside_comes_to_the_consumer_as_unknown() -> None:
    line = b'{"type":"assistant","message":{"content":[}}'
    assert isinstance(decode_line(line), Malformed)
    assert skim_lines([line]) == [[line]]
    assert isinstance(decode_message(line), UnknownMessage)


def test_a_flood_line_with_a_lone_surrogate_is_mended_where_it_is_read() -> None:
    line = b'{"type":"assistant","message":{"content":[{"type":"text","text":"a\\ud800b"}],"model":"m"}}'
    ((kept,),) = skim_lines([line])
    message = decode_message(kept)
    assert isinstance(message, AssistantMessage)
    assert message.text == "a\ufffdb"


@given(st.dictionaries(st.text(max_size=4), st.none() | st.text(max_size=4)), st.sampled_from([*FLOOD, "result", "x"]))
def test_only_lines_that_steer_no_session_stay_unread(fields: dict[str, Any], kind: str) -> None:
    line = compact({"type": kind, **fields})
    (skimmed,) = skim_lines([line])
    frame = decode_line(line)
    if isinstance(skimmed, list):
        assert skimmed == [line]
        assert isinstance(frame, Conversation)
        assert frame.type in FLOOD
    else:
        assert skimmed == frame
