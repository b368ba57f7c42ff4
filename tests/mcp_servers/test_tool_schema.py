"""From signatures to JSON schemas, of what goes in and of what comes out."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import uuid
from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, TypedDict, TypeVar

import msgspec
import pytest

from claude_actors.callbacks.context import CallbackContext
from claude_actors.mcp.content import Image, ToolResult
from claude_actors.mcp.server import ToolServer

T = TypeVar("T")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(msgspec.Struct):
    """A place."""

    x: int
    y: Annotated[int, msgspec.Meta(description="downwards")] = 0


class Node(msgspec.Struct):
    value: int
    children: list[Node] = []


class Page(msgspec.Struct, Generic[T]):
    items: list[T]


class Row(msgspec.Struct, array_like=True):
    a: int


@dataclasses.dataclass
class Size:
    width: float
    height: float = 1.0


class Reading(TypedDict):
    celsius: float


POINT_SCHEMA = {
    "title": "Point",
    "description": "A place.",
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"description": "downwards", "type": "integer", "default": 0}},
    "required": ["x"],
}


def schema_of(function: Callable[..., Any], **settings: Any) -> dict[str, Any]:
    server = ToolServer("s")
    server.tool(**settings)(function)
    schema: dict[str, Any] = server.tools[0].listing["inputSchema"]
    return schema


def listing_of(function: Callable[..., Any], **settings: Any) -> dict[str, Any]:
    server = ToolServer("s")
    server.tool(**settings)(function)
    return server.tools[0].listing


def one(annotation: Any) -> Callable[..., Any]:
    """Make a function with one parameter of this type."""

    def tool(value: Any) -> None: ...

    tool.__annotations__["value"] = annotation
    return tool


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (Any, {}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (datetime.date, {"type": "string", "format": "date"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (bytes, {"type": "string", "contentEncoding": "base64"}),
        (Annotated[int, msgspec.Meta(ge=1, description="how many")],
         {"type": "integer", "minimum": 1, "description": "how many"}),
        (Color, {"$ref": "#/$defs/Color"}),
        (list[Point], {"type": "array", "items": {"$ref": "#/$defs/Point"}}),
        (Size, {"$ref": "#/$defs/Size"}),
        (Reading, {"$ref": "#/$defs/Reading"}),
    ],
)  # fmt: skip
def test_a_parameters_type_becomes_its_schema(annotation: Any, expected: dict[str, Any]) -> None:
    schema = schema_of(one(annotation))
    assert schema["properties"] == {"value": expected}
    assert schema["required"] == ["value"]


def test_what_a_schema_refers_to_stands_beside_it() -> None:
    schema = schema_of(one(list[Point]))
    assert schema["type"] == "object"
    assert schema["$defs"] == {"Point": POINT_SCHEMA}


def test_parameters_with_defaults_are_optional_and_say_their_default() -> None:
    def tool(a: int, b: str = "x", *, c: Color = Color.RED, d: int | None = None, e: list[int] = [1]) -> None:  # noqa: B006
        ...

    schema = schema_of(tool)
    assert schema["required"] == ["a"]
    assert {name: field.get("default") for name, field in schema["properties"].items()} == {
        "a": None, "b": "x", "c": "red", "d": None, "e": [1]
    }  # fmt: skip


def test_a_default_that_has_no_json_is_not_shown() -> None:
    def tool(a: int | None = object()) -> None:  # type: ignore[assignment]
        ...

    assert schema_of(tool)["properties"] == {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}


def test_unknown_arguments_are_declared_as_refused() -> None:
    assert schema_of(one(int))["additionalProperties"] is False


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def tool() -> None: ...

    assert schema_of(tool) == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def test_a_single_struct_parameter_is_the_whole_argument_object() -> None:
    schema = schema_of(one(Point))
    assert schema == {key: value for key, value in POINT_SCHEMA.items() if key != "title"}


def test_a_recursive_struct_keeps_its_own_definition() -> None:
    schema = schema_of(one(Node))
    assert set(schema["properties"]) == {"value", "children"}
    assert schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert set(schema["$defs"]) == {"Node"}


def test_a_generic_struct_is_the_whole_argument_object_too() -> None:
    assert schema_of(one(Page[int]))["properties"] == {"items": {"type": "array", "items": {"type": "integer"}}}


@pytest.mark.parametrize("annotation", [Row, Point | None, Size])
def test_other_single_parameters_are_a_field_like_any(annotation: Any) -> None:
    assert set(schema_of(one(annotation))["properties"]) == {"value"}


def test_the_context_is_not_shown_to_the_model() -> None:
    def annotated(point: Point, context: CallbackContext) -> None: ...
    def optional(a: int, context: CallbackContext | None = None) -> None: ...
    def by_name(a: int, ctx) -> None: ...  # type: ignore[no-untyped-def]

    assert set(schema_of(annotated)["properties"]) == {"x", "y"}
    assert set(schema_of(optional)["properties"]) == {"a"}
    assert set(schema_of(by_name)["properties"]) == {"a"}


def test_a_parameter_called_ctx_of_another_type_is_an_argument() -> None:
    def tool(ctx: str) -> None: ...

    assert set(schema_of(tool)["properties"]) == {"ctx"}


@pytest.mark.parametrize(
    ("annotation", "properties"),
    [(Point, {"x", "y"}), (Size, {"width", "height"}), (Reading, {"celsius"}), (Page[int], {"items"})],
)
def test_a_declared_record_becomes_the_output_schema(annotation: Any, properties: set[str]) -> None:
    def tool() -> Any: ...

    tool.__annotations__["return"] = annotation
    output = listing_of(tool)["outputSchema"]
    assert output["type"] == "object"
    assert set(output["properties"]) == properties


@pytest.mark.parametrize("annotation", [None, str, dict[str, int], list[Point], Point | None, Image, ToolResult, Row])
def test_other_return_types_have_no_output_schema(annotation: Any) -> None:
    def tool() -> Any: ...

    tool.__annotations__["return"] = annotation
    assert "outputSchema" not in listing_of(tool)
