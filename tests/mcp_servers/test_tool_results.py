"""What tools return, and what the model gets."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import enum
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import pytest

from claude_actors.callbacks.context import CallbackContext
from claude_actors.mcp.content import Audio, Image, Resource, ResourceLink, Text, ToolResult
from claude_actors.mcp.host import host_for
from claude_actors.mcp.server import ToolServer

DATA = b"\x89PNG\x00\xff"
ENCODED = base64.b64encode(DATA).decode()


class Color(enum.Enum):
    RED = "red"


class Point(msgspec.Struct):
    x: int
    label: str = "a"


class Row(msgspec.Struct, array_like=True):
    a: int


@dataclasses.dataclass
class Size:
    width: float


class Reading(TypedDict):
    celsius: float


def result_of(value: object, returns: Any = None) -> dict[str, Any]:
    """Give the result of a tool that returns this value and declares this type."""

    def tool() -> Any:
        return value

    if returns is not None:
        tool.__annotations__["return"] = returns
    return call(tool)


def call(tool: Callable[..., Any]) -> dict[str, Any]:
    server = ToolServer("s")
    server.tool(name="tool")(tool)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tool"}}
    reply = host_for("s", server).handle(message, CallbackContext())
    assert isinstance(reply, dict)
    json.dumps(reply).encode()
    msgspec.json.encode(reply)
    result: dict[str, Any] = reply["result"]
    return result


@pytest.mark.parametrize(
    ("value", "block"),
    [
        ("hello", {"type": "text", "text": "hello"}),
        (Text("hello"), {"type": "text", "text": "hello"}),
        (Image(DATA), {"type": "image", "data": ENCODED, "mimeType": "image/png"}),
        (Image(DATA, "image/webp"), {"type": "image", "data": ENCODED, "mimeType": "image/webp"}),
        (Audio(DATA), {"type": "audio", "data": ENCODED, "mimeType": "audio/wav"}),
        (Resource("a:b", "text", "text/plain"),
         {"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "text"}}),
        (Resource("a:b", DATA), {"type": "resource", "resource": {"uri": "a:b", "blob": ENCODED}}),
        (ResourceLink("a:b", "b"), {"type": "resource_link", "uri": "a:b", "name": "b"}),
        (ResourceLink("a:b", "b", "d", "text/plain"),
         {"type": "resource_link", "uri": "a:b", "name": "b", "description": "d", "mimeType": "text/plain"}),
        (3, {"type": "text", "text": "3"}),
        (True, {"type": "text", "text": "true"}),
        (Color.RED, {"type": "text", "text": '"red"'}),
        (datetime.date(2026, 1, 2), {"type": "text", "text": '"2026-01-02"'}),
        (["a", "b"], {"type": "text", "text": '["a","b"]'}),
        ([Point(1)], {"type": "text", "text": '[{"x":1,"label":"a"}]'}),
        (Row(1), {"type": "text", "text": "[1]"}),
        ([], {"type": "text", "text": "[]"}),
    ],
)  # fmt: skip
def test_a_value_becomes_one_block(value: object, block: dict[str, Any]) -> None:
    assert result_of(value) == {"content": [block]}


def test_nothing_is_no_content() -> None:
    assert result_of(None) == {"content": []}


def test_a_list_with_content_in_it_is_content_item_by_item() -> None:
    blocks = result_of(["look:", Image(DATA), Point(1)])["content"]
    assert [block["type"] for block in blocks] == ["text", "image", "text"]
    assert blocks[2]["text"] == '{"x":1,"label":"a"}'


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Point(1), {"x": 1, "label": "a"}),
        (Size(1.5), {"width": 1.5}),
        ({"a": [1, None]}, {"a": [1, None]}),
        ({1: "one"}, {"1": "one"}),
        ({"when": datetime.date(2026, 1, 2)}, {"when": "2026-01-02"}),
    ],
)
def test_records_are_structured_content_and_the_same_as_text(value: object, plain: dict[str, Any]) -> None:
    result = result_of(value)
    assert result["structuredContent"] == plain
    (block,) = result["content"]
    assert json.loads(block["text"]) == plain


def test_a_result_can_be_spelt_out() -> None:
    value = ToolResult(["a", Image(DATA)], structured={"b": Color.RED}, is_error=True, meta={"c": 1})
    assert result_of(value) == {
        "content": [{"type": "text", "text": "a"}, {"type": "image", "data": ENCODED, "mimeType": "image/png"}],
        "structuredContent": {"b": "red"},
        "isError": True,
        "_meta": {"c": 1},
    }


def test_lone_surrogates_in_text_are_replaced() -> None:
    assert result_of("a\ud800b")["content"] == [{"type": "text", "text": "a?b"}]


@pytest.mark.parametrize(
    "value", [object(), Path("x"), {"a": object()}, [Image(DATA), object()], {"a": "\ud800"}, {(1, 2): 3}, Image("no")]  # type: ignore[arg-type]
)  # fmt: skip
def test_what_has_no_json_is_told_to_the_model(value: object) -> None:
    result = result_of(value)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("tool returned something that cannot be sent: ")


@pytest.mark.parametrize(
    ("value", "returns"),
    [(Point(1), Point), ({"x": 1}, Point), (Size(2), Size), ({"celsius": 3}, Reading), ({"celsius": 3.5}, Reading)],
)
def test_a_declared_record_is_sent_as_structured_content(value: object, returns: Any) -> None:
    assert "structuredContent" in result_of(value, returns)


@pytest.mark.parametrize(
    ("value", "returns", "said"),
    [
        ("text", Point, "Expected `object`, got `str`"),
        (None, Point, "Expected `object`, got `null`"),
        ({"y": 1}, Point, "missing required field `x`"),
        ({"celsius": "warm"}, Reading, "$.celsius"),
        (Point(1), Size, "missing required field `width`"),
    ],
)
def test_what_is_not_the_declared_record_is_told_to_the_model(value: object, returns: Any, said: str) -> None:
    result = result_of(value, returns)
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert said in result["content"][0]["text"]


def test_an_instance_of_the_declared_class_is_not_made_twice() -> None:
    made = []

    @dataclasses.dataclass
    class Counted:
        a: int

        def __post_init__(self) -> None:
            made.append(self.a)

    assert result_of(Counted(1), Counted)["structuredContent"] == {"a": 1}
    assert made == [1]


def test_a_tool_with_a_declared_record_may_still_spell_out_an_error() -> None:
    assert result_of(ToolResult(["no"], is_error=True), Point)["isError"] is True
