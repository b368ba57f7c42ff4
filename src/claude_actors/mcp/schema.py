"""From a Python signature to a JSON schema and back from JSON arguments to Python values, with msgspec.

JSON types are taken strictly (`"3"` is no integer): the model was told the types, and a refusal that names the field
lets it repair its call, where a silent conversion would run the tool on a guess. It must not know what a tool does.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Union

import msgspec

from claude_actors.callbacks.context import CallbackContext
from claude_actors.errors import InvalidOptions
from claude_actors.mcp.content import CONTENT_TYPES, ToolResult

JsonObject = dict[str, Any]
_REFERENCE = "#/$defs/{name}"


class Arguments(msgspec.Struct, frozen=True):
    """How the arguments of one tool are described to the model and given to its function."""

    schema: JsonObject
    type: Any
    """What the JSON object is converted to: the tool's own Struct, or one made of the parameters."""
    whole: str | None
    """The parameter that takes the converted object as it is, or None if its fields are the parameters."""
    context: str | None
    """The parameter that gets the CallbackContext."""

    def bind(self, arguments: Mapping[str, Any], ctx: CallbackContext) -> dict[str, Any]:
        """Convert JSON arguments to keyword arguments; raises `msgspec.ValidationError`."""
        value = msgspec.convert(arguments, self.type)
        if self.whole is not None:
            keywords = {self.whole: value}
        else:
            keywords = {name: getattr(value, name) for name in value.__struct_fields__}
        return keywords if self.context is None else {**keywords, self.context: ctx}


class Output(msgspec.Struct, frozen=True):
    """The declared record that a tool returns."""

    schema: JsonObject
    type: Any

    def conforming(self, value: object) -> object:
        """Give the value back if it is what was declared; raises `msgspec.ValidationError`, or `TypeError` for no JSON.

        The CLI refuses a result that does not fit its schema, in words that help nobody.
        """
        # An instance is believed: converting it again would run its __post_init__ twice.
        plain = typing.get_origin(self.type) or self.type
        if typing.is_typeddict(plain) or not isinstance(value, plain):
            msgspec.convert(msgspec.to_builtins(value, str_keys=True), self.type)
        return value


def signature_of(tool: str, function: Callable[..., Any]) -> inspect.Signature:
    """Read a function's signature with its annotations evaluated; raises `InvalidOptions`."""
    try:
        return inspect.signature(function, eval_str=True)
    except NameError as error:
        raise InvalidOptions(
            f"tool {tool!r}: {error}; types in a tool's signature must be importable when it is registered "
            "(module level, not only under TYPE_CHECKING)"
        ) from error
    except (TypeError, ValueError) as error:
        raise InvalidOptions(f"tool {tool!r}: its signature cannot be read: {error}") from error


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """Say whether calling this gives a coroutine; sees through partials and objects with `async def __call__`."""
    if inspect.iscoroutinefunction(function):
        return True
    return inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def arguments_of(tool: str, signature: inspect.Signature) -> Arguments:
    """Derive what a tool takes; raises `InvalidOptions` for parameters that JSON cannot fill."""
    context, parameters = None, []
    for parameter in signature.parameters.values():
        if _is_context(parameter):
            context = parameter.name
        else:
            _check_parameter(tool, parameter)
            parameters.append(parameter)
    if len(parameters) == 1 and _is_whole(parameters[0]):
        whole = parameters[0]
        return Arguments(_root_schema(whole.annotation), whole.annotation, whole.name, context)
    made = _struct_of(parameters)
    return Arguments(_with_defaults(_root_schema(made), parameters), made, None, context)


def output_of(tool: str, signature: inspect.Signature) -> Output | None:
    """Derive what a tool returns if that is declared as a Struct, dataclass or TypedDict; raises `InvalidOptions`."""
    annotation = _bare(signature.return_annotation)
    if not _is_record(annotation):
        return None
    try:
        schema = _root_schema(annotation)
    except TypeError as error:
        raise _unsupported(tool, "its return type", annotation, error) from error
    return Output(schema, annotation) if schema.get("type") == "object" else None


def _check_parameter(tool: str, parameter: inspect.Parameter) -> None:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise InvalidOptions(f"tool {tool!r}: parameter {parameter} cannot be given by name; the model names arguments")
    if parameter.annotation is parameter.empty:
        raise InvalidOptions(f"tool {tool!r}: parameter {parameter.name!r} needs a type annotation")
    try:
        msgspec.json.schema_components([parameter.annotation])
    except TypeError as error:
        raise _unsupported(tool, f"parameter {parameter.name!r}", parameter.annotation, error) from error


def _unsupported(tool: str, what: str, annotation: object, error: TypeError) -> InvalidOptions:
    reason = str(error).strip().splitlines()[-1]
    return InvalidOptions(
        f"tool {tool!r}: {what} has a type that JSON arguments cannot carry: {annotation} ({reason}); use a JSON type, "
        "a Struct, dataclass, TypedDict, Enum, Literal or datetime, or convert a str in the function"
    )


def _is_context(parameter: inspect.Parameter) -> bool:
    if parameter.annotation is parameter.empty:
        return parameter.name == "ctx" and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    bare = _bare(parameter.annotation)
    return bare is CallbackContext or (_is_union(bare) and CallbackContext in typing.get_args(bare))


def _is_whole(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and _is_object_struct(_bare(parameter.annotation))


def _is_object_struct(annotation: Any) -> bool:
    plain = typing.get_origin(annotation) or annotation
    return isinstance(plain, type) and issubclass(plain, msgspec.Struct) and not plain.__struct_config__.array_like


def _is_record(annotation: Any) -> bool:
    plain = typing.get_origin(annotation) or annotation
    if not isinstance(plain, type) or issubclass(plain, (*CONTENT_TYPES, ToolResult)):
        return False
    return issubclass(plain, msgspec.Struct) or dataclasses.is_dataclass(plain) or typing.is_typeddict(plain)


def _bare(annotation: Any) -> Any:
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is Annotated else annotation


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (Union, types.UnionType)


def _struct_of(parameters: list[inspect.Parameter]) -> type[msgspec.Struct]:
    # Unknown names are refused: a misspelt optional argument would else be ignored, and the model not told.
    fields = [(parameter.name, parameter.annotation, _field(parameter)) for parameter in parameters]
    return msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=True, module=__name__)


def _field(parameter: inspect.Parameter) -> Any:
    if parameter.default is parameter.empty:
        return msgspec.field()
    # A factory, since msgspec allows no mutable default as such while a Python parameter does.
    return msgspec.field(default_factory=functools.partial(_same, parameter.default))


def _same(value: Any) -> Any:
    return value


def _root_schema(annotation: Any) -> JsonObject:
    """Write a record's schema with itself at the root, as MCP wants it, and what it refers to under `$defs`."""
    (root,), components = msgspec.json.schema_components([annotation], ref_template=_REFERENCE)
    name = root["$ref"].rpartition("/")[2]
    schema = {key: value for key, value in components[name].items() if key != "title"}
    if not _refers_to(root["$ref"], components):
        del components[name]
    return {**schema, "$defs": components} if components else schema


def _refers_to(reference: str, schema: object) -> bool:
    if isinstance(schema, dict):
        return schema.get("$ref") == reference or any(_refers_to(reference, part) for part in schema.values())
    return isinstance(schema, list | tuple) and any(_refers_to(reference, part) for part in schema)


def _with_defaults(schema: JsonObject, parameters: list[inspect.Parameter]) -> JsonObject:
    for parameter in parameters:
        if parameter.default is not parameter.empty:
            try:
                schema["properties"][parameter.name]["default"] = msgspec.to_builtins(parameter.default)
            except TypeError:
                pass  # a default without JSON still works; the model just does not see it
    return schema
