"""Content blocks are read as their classes, inside assistant and user messages alike."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from support.structs import filled

from claude_actors.wire.blocks import KnownBlock, ServerToolResultBlock, TextBlock, ToolResultBlock, UnknownBlock
from claude_actors.wire.messages import AssistantMessage, UserMessage, decode_message


def frame(kind: str, blocks: list[Any]) -> bytes:
    return msgspec.json.encode({"type": kind, "message": {"content": blocks}})


@pytest.mark.parametrize("kind", get_args(KnownBlock), ids=lambda kind: kind.__name__)
def test_a_filled_in_block_comes_back_as_it_was(kind: type[Any]) -> None:
    block = filled(kind)
    assert block.type == msgspec.to_builtins(block)["type"]
    assistant = decode_message(frame("assistant", [block]))
    assert isinstance(assistant, AssistantMessage)
    assert assistant.content == [block]
    user = decode_message(frame("user", [block]))
    assert isinstance(user, UserMessage)
    assert user.content == [block]


@pytest.mark.parametrize("kind", get_args(KnownBlock), ids=lambda kind: kind.__name__)
def test_a_block_beside_an_unknown_one_is_read_as_well(kind: type[Any]) -> None:
    block = filled(kind)
    message = decode_message(frame("assistant", [block, {"type": "brand_new"}]))
    assert isinstance(message, AssistantMessage)
    assert message.content == [block, UnknownBlock("brand_new", {"type": "brand_new"})]


def test_an_odd_optional_field_of_a_block_is_left_out() -> None:
    message = decode_message(frame("user", [{"type": "tool_result", "tool_use_id": "t", "is_error": "odd"}]))
    assert isinstance(message, UserMessage)
    assert message.content == [ToolResultBlock("t")]


def test_results_of_the_apis_own_tools_share_a_base() -> None:
    content = {"type": "web_search_tool_result", "tool_use_id": "t", "content": [{"url": "u"}]}
    message = decode_message(frame("assistant", [content]))
    assert isinstance(message, AssistantMessage)
    [block] = message.content
    assert isinstance(block, ServerToolResultBlock)
    assert (block.type, block.content) == ("web_search_tool_result", [{"url": "u"}])


def test_a_block_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        TextBlock("a").text = "b"  # type: ignore[misc]
