"""Permission types: what the CLI suggests can be read, made, and passed back without a loss."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from claude_actors.wire.codec import ControlRequest, decode_line
from claude_actors.wire.control import CanUseTool
from claude_actors.wire.permissions import (
    AddDirectories,
    AddRules,
    PermissionRule,
    PermissionUpdate,
    RemoveDirectories,
    RemoveRules,
    ReplaceRules,
    SetMode,
    ToolPermissionRequest,
    UnknownUpdate,
    decode_update,
    decode_updates,
    read_permission_request,
)

RULES = {"rules": [{"toolName": "Bash", "ruleContent": "touch x *"}, {"toolName": "Read"}], "behavior": "allow"}
TYPED_RULES = (PermissionRule("Bash", "touch x *"), PermissionRule("Read"))
FORMS: list[tuple[dict[str, Any], PermissionUpdate]] = [
    ({"type": "addRules", **RULES, "destination": "localSettings"}, AddRules(TYPED_RULES, "allow", "localSettings")),
    ({"type": "replaceRules", **RULES, "destination": "session"}, ReplaceRules(TYPED_RULES, "allow")),
    ({"type": "removeRules", **RULES, "destination": "cliArg"}, RemoveRules(TYPED_RULES, "allow", "cliArg")),
    ({"type": "setMode", "mode": "acceptEdits", "destination": "session"}, SetMode("acceptEdits")),
    ({"type": "addDirectories", "directories": ["/a"], "destination": "session"}, AddDirectories(("/a",))),
    (
        {"type": "removeDirectories", "directories": ["/a"], "destination": "userSettings"},
        RemoveDirectories(("/a",), "userSettings"),
    ),
]
REQUEST: dict[str, Any] = {
    "subtype": "can_use_tool",
    "tool_name": "Bash",
    "display_name": "Bash",
    "input": {"command": "touch x"},
    "description": "make a file",
    "title": "Claude wants to run touch",
    "permission_suggestions": [form for form, _ in FORMS],
    "blocked_path": "/srv/x",
    "decision_reason": "outside",
    "decision_reason_type": "workingDir",
    "tool_use_id": "toolu_1",
    "agent_id": "a1",
    "requires_user_interaction": True,
    "brand_new": 1,
}


@pytest.mark.parametrize(("form", "typed"), FORMS, ids=lambda value: type(value).__name__)
def test_updates_are_the_same_from_the_wire_and_made_by_hand(form: dict[str, Any], typed: PermissionUpdate) -> None:
    assert decode_update(form) == typed
    assert decode_update(typed.raw) == typed
    assert msgspec.json.decode(msgspec.json.encode(typed.raw)) == form


def test_a_suggestion_goes_back_with_fields_that_are_not_known_here() -> None:
    form = {**FORMS[0][0], "brand_new": True}
    assert decode_update(form).raw == form


@pytest.mark.parametrize(
    "form",
    [
        {"type": "grantEverything", "destination": "session"},
        {"type": "setMode", "mode": "yolo", "destination": "session"},
        {"type": "addRules", "rules": "all", "behavior": "allow"},
        {},
    ],
)
def test_an_update_of_an_unknown_form_is_kept_as_it_came(form: dict[str, Any]) -> None:
    assert decode_update(form) == UnknownUpdate(form)
    assert decode_update(form).raw == form


@pytest.mark.parametrize("raw", [None, "addRules", 3, {"type": "setMode"}])
def test_what_is_no_list_of_updates_is_none(raw: object) -> None:
    assert decode_updates(raw) == ()


def test_what_is_no_object_is_left_out_of_a_list_of_updates() -> None:
    assert decode_updates([FORMS[3][0], "x", None]) == (SetMode("acceptEdits"),)


def test_a_request_has_everything_that_the_cli_sent() -> None:
    request = read_permission_request(REQUEST)
    assert request.suggestions == tuple(typed for _, typed in FORMS)
    assert [update.raw for update in request.suggestions] == REQUEST["permission_suggestions"]
    assert request.raw == REQUEST
    same = ("tool_name", "input", "title", "display_name", "description", "blocked_path", "decision_reason")
    more = ("decision_reason_type", "tool_use_id", "agent_id", "requires_user_interaction")
    assert {name: getattr(request, name) for name in same + more} == {name: REQUEST[name] for name in same + more}


def test_the_frame_of_the_codec_brings_every_field_even_unknown_ones_and_odd_ones() -> None:
    for form in (REQUEST, {**REQUEST, "title": 3}, {**REQUEST, "description": "\ud800"}):
        line = json.dumps({"type": "control_request", "request_id": "r1", "request": form}).encode()
        frame = decode_line(line)
        assert isinstance(frame, ControlRequest)
        assert isinstance(frame.request, CanUseTool)
        request = read_permission_request(frame.request)
        assert request.requires_user_interaction
        assert request.raw["brand_new"] == 1


def test_a_request_with_a_number_out_of_range_can_be_read_to_the_end() -> None:
    line = (
        b'{"type":"control_request","request_id":"r1",'
        b'"request":{"subtype":"can_use_tool","tool_name":"T","input":{"n":1e999}}}'
    )
    frame = decode_line(line)
    assert isinstance(frame, ControlRequest)
    assert isinstance(frame.request, CanUseTool)
    assert read_permission_request(frame.request).input == {"n": float("inf")}


def test_a_request_can_be_read_from_a_frame_made_by_hand() -> None:
    frame = CanUseTool(tool_name="Bash", input={"command": "ls"}, tool_use_id="toolu_1", blocked_path="/x")
    request = read_permission_request(frame)
    assert (request.tool_name, request.input, request.tool_use_id) == ("Bash", {"command": "ls"}, "toolu_1")
    assert (request.blocked_path, request.description, request.suggestions) == ("/x", None, ())
    assert request.raw["tool_use_id"] == "toolu_1"


def test_a_field_of_a_wrong_type_counts_as_missing() -> None:
    request = read_permission_request({**REQUEST, "title": 3, "permission_suggestions": "x", "agent_id": None})
    assert (request.title, request.suggestions, request.agent_id) == (None, (), None)
    assert request.tool_name == "Bash"


def test_a_request_without_its_essentials_can_still_be_denied() -> None:
    request = read_permission_request({"tool_name": "Bash", "input": "ls"})
    assert (request.tool_name, request.input) == ("Bash", {})
    assert request.raw == {"tool_name": "Bash", "input": "ls"}


def test_a_request_made_by_hand_has_a_wire_form() -> None:
    request = ToolPermissionRequest(tool_name="Bash", input={"command": "ls"})
    assert read_permission_request(request.raw) == request
    assert request.raw["subtype"] == "can_use_tool"


def test_a_plan_is_there_only_where_one_is_up_for_approval() -> None:
    plan = {"plan": "# first, think", "planFilePath": "/p.md"}
    assert ToolPermissionRequest(tool_name="ExitPlanMode", input=plan).plan == "# first, think"
    assert ToolPermissionRequest(tool_name="ExitPlanMode", input={}).plan is None
    assert ToolPermissionRequest(tool_name="ExitPlanMode", input={"plan": 3}).plan is None
    assert ToolPermissionRequest(tool_name="Bash", input=plan).plan is None
