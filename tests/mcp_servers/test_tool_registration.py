"""What registering a function says about a tool, and which functions are refused."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
import pytest

from claude_actors.errors import InvalidOptions
from claude_actors.mcp.server import ToolServer
from claude_actors.mcp.tool import ToolAnnotations

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForTheTypeChecker

T = TypeVar("T")


class Point(msgspec.Struct):
    x: int


class Page(msgspec.Struct, Generic[T]):
    items: list[T]


class Loose(msgspec.Struct):
    a: int


class Looser(msgspec.Struct):
    a: int


def listing_of(function: Callable[..., Any], **settings: Any) -> dict[str, Any]:
    server = ToolServer("s")
    server.tool(**settings)(function)
    return server.tools[0].listing


def one(annotation: Any) -> Callable[..., Any]:
    """Make a function with one parameter of this type."""

    def tool(value: Any) -> None: ...

    tool.__annotations__["value"] = annotation
    return tool


def test_the_name_and_the_first_paragraph_describe_a_tool() -> None:
    def look_up() -> None:
        """Look a word up
        in the dictionary.

        Not for the model.
        """

    listing = listing_of(look_up)
    assert listing["name"] == "look_up"
    assert listing["description"] == "Look a word up in the dictionary."


def test_what_the_decorator_says_goes_before_the_function() -> None:
    def tool() -> Point:
        return Point(1)

    hints = ToolAnnotations(read_only=True, title="T")
    listing = listing_of(
        tool, name="other", title="Other", description="Does.", annotations=hints, structured_output=False,
        always_load=True, meta={"anthropic/maxResultSizeChars": 9},
    )  # fmt: skip
    assert listing == {
        "name": "other",
        "title": "Other",
        "description": "Does.",
        "annotations": {"title": "T", "readOnlyHint": True},
        "inputSchema": listing_of(tool)["inputSchema"],
        "_meta": {"anthropic/maxResultSizeChars": 9, "anthropic/alwaysLoad": True},
    }


def test_annotations_can_be_a_plain_mapping() -> None:
    def tool() -> None: ...

    assert listing_of(tool, annotations={"destructiveHint": False})["annotations"] == {"destructiveHint": False}


def test_methods_partials_and_callable_objects_are_functions_too() -> None:
    class Adder:
        def __call__(self, a: int) -> int:
            """Call it."""
            return a

        def method(self, b: int) -> int:
            return b

    def tool(a: int, b: int) -> None: ...

    assert set(listing_of(Adder(), name="adder")["inputSchema"]["properties"]) == {"a"}
    assert set(listing_of(Adder().method)["inputSchema"]["properties"]) == {"b"}
    assert set(listing_of(functools.partial(tool, 1), name="partial")["inputSchema"]["properties"]) == {"b"}


def takes_args(*values: int) -> None: ...
def takes_kwargs(**values: int) -> None: ...
def positional_only(a: int, /) -> None: ...
def untyped(a) -> None: ...  # type: ignore[no-untyped-def]
def unresolved(a: OnlyForTheTypeChecker) -> None: ...
def returns_functions() -> Page[Callable[[], int]]:
    return Page([])


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (takes_args, r"takes_args.*\*values.*by name"),
        (takes_kwargs, r"\*\*values.*by name"),
        (positional_only, "a: .*by name"),
        (untyped, "'a' needs a type annotation"),
        (unresolved, "OnlyForTheTypeChecker.*TYPE_CHECKING"),
        (one(Callable[[], int]), "'value' has a type that JSON arguments cannot carry"),
        (one(complex), "complex"),
        (one(Loose | Looser), "tagged"),
        (returns_functions, "return type"),
        (3, "name"),
        (int, "'int'"),
        (lambda: None, "<lambda>"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_when_it_is_registered(function: Any, said: str) -> None:
    server = ToolServer("s")
    with pytest.raises(InvalidOptions, match=said):
        server.tool(function)
    assert server.tools == ()


@pytest.mark.parametrize("name", ["", "two words", "ä", "x" * 65])
def test_a_name_that_the_api_would_refuse_is_refused(name: str) -> None:
    with pytest.raises(InvalidOptions, match="name"):
        ToolServer("s").tool(name=name)(takes_args)


def test_two_tools_of_one_name_are_refused() -> None:
    server = ToolServer("s")
    server.tool(name="a")(one(int))
    with pytest.raises(InvalidOptions, match="already has a tool 'a'"):
        server.tool(name="a")(one(str))
