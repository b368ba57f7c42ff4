"""Control requests of both directions travel under their wire names and come back as they were."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from support.structs import filled

from claude_actors.errors import EncodingFailed
from claude_actors.wire import control
from claude_actors.wire.codec import ControlRequest, decode_line, encode_line, encode_request
from claude_actors.wire.control import OpenRequest, ServerInfo, TypedRequest, UnknownRequest
from claude_actors.wire.encode import frozen_request

OUTBOUND = [
    (control.Interrupt(), {"subtype": "interrupt"}),
    (control.SetPermissionMode("plan"), {"subtype": "set_permission_mode", "mode": "plan"}),
    (control.SetModel("sonnet"), {"subtype": "set_model", "model": "sonnet"}),
    (control.SetModel(), {"subtype": "set_model", "model": None}),
    (control.SetMaxThinkingTokens(), {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": None}),
    (control.RewindFiles("u"), {"subtype": "rewind_files", "user_message_id": "u"}),
    (control.RewindFiles("u", True), {"subtype": "rewind_files", "user_message_id": "u", "dry_run": True}),
    (control.McpStatus(), {"subtype": "mcp_status"}),
    (control.McpReconnect("s"), {"subtype": "mcp_reconnect", "serverName": "s"}),
    (control.McpToggle("s", False), {"subtype": "mcp_toggle", "serverName": "s", "enabled": False}),
    (control.McpSetServers({"s": {}}), {"subtype": "mcp_set_servers", "servers": {"s": {}}}),
    (control.McpReadResource("s", "a:b"), {"subtype": "mcp_read_resource", "serverName": "s", "uri": "a:b"}),
    (control.GetContextUsage(), {"subtype": "get_context_usage"}),
    (control.StopTask("t"), {"subtype": "stop_task", "task_id": "t"}),
    (control.BackgroundTasks(), {"subtype": "background_tasks"}),
    (control.ApplyFlagSettings({"a": 1}), {"subtype": "apply_flag_settings", "settings": {"a": 1}}),
    (control.GetSettings(), {"subtype": "get_settings"}),
    (control.ListModels(), {"subtype": "list_models"}),
    (control.ReloadPlugins(), {"subtype": "reload_plugins"}),
    (control.ReloadSkills(), {"subtype": "reload_skills"}),
    (control.ReadFile("/a"), {"subtype": "read_file", "path": "/a"}),
    (control.CancelAsyncMessage("m"), {"subtype": "cancel_async_message", "message_uuid": "m"}),
    (control.GetTaskOutput("t"), {"subtype": "get_task_output", "task_id": "t"}),
    (control.RenameSession("n"), {"subtype": "rename_session", "title": "n"}),
    (control.GetUsage(), {"subtype": "get_usage"}),
    (control.GetSessionCost(), {"subtype": "get_session_cost"}),
    (OpenRequest("brand_new", {"a": [1]}), {"subtype": "brand_new", "a": [1]}),
    (OpenRequest("brand_new"), {"subtype": "brand_new"}),
    (
        control.Initialize(hooks={"Stop": []}, sdk_mcp_servers=["local"], exclude_dynamic_sections=True),
        {"subtype": "initialize", "hooks": {"Stop": []}, "sdkMcpServers": ["local"], "excludeDynamicSections": True},
    ),
    (control.Initialize(), {"subtype": "initialize", "hooks": None}),
]
TYPED = [kind for kind in vars(control).values() if isinstance(kind, type) and issubclass(kind, TypedRequest)]
INBOUND = [
    control.HookCallback,
    control.CanUseTool,
    control.McpMessage,
    control.ElicitationRequest,
    control.DialogRequest,
]


@pytest.mark.parametrize(("request_", "wire"), OUTBOUND)
def test_a_request_travels_under_its_wire_names(request_: control.OutboundRequest, wire: dict[str, Any]) -> None:
    line = encode_request("req_1_0a1b2c3d", request_)
    assert line.endswith(b"\n")
    assert json.loads(line) == {"type": "control_request", "request_id": "req_1_0a1b2c3d", "request": wire}


def test_every_typed_request_is_among_the_examples() -> None:
    shown = {type(request_) for request_, _ in OUTBOUND}
    assert set(TYPED) - shown == {TypedRequest}


@pytest.mark.parametrize("kind", [kind for kind in TYPED if kind is not TypedRequest])
def test_a_filled_in_request_of_ours_comes_back_as_it_was(kind: type[TypedRequest]) -> None:
    request = filled(kind)
    assert msgspec.json.decode(msgspec.json.encode(request), type=kind) == request
    assert msgspec.to_builtins(request)["subtype"] == request.subtype


@pytest.mark.parametrize(("request_", "wire"), OUTBOUND)
def test_a_frozen_request_travels_as_the_request_itself(
    request_: control.OutboundRequest, wire: dict[str, Any]
) -> None:
    assert json.loads(encode_request("r", frozen_request(request_)))["request"] == wire


def test_a_frozen_request_does_not_change_with_what_it_was_made_from() -> None:
    settings: dict[str, Any] = {"a": [1]}
    frozen = frozen_request(control.ApplyFlagSettings(settings))
    settings["a"].append(2)
    assert json.loads(encode_request("r", frozen))["request"]["settings"] == {"a": [1]}


def test_a_request_that_cannot_be_written_cannot_be_frozen() -> None:
    with pytest.raises(EncodingFailed):
        frozen_request(OpenRequest("odd", {"value": object()}))


def test_the_fields_of_an_open_request_cannot_change_its_subtype() -> None:
    line = encode_request("r", OpenRequest("mine", {"subtype": "other"}))
    assert json.loads(line)["request"] == {"subtype": "mine"}


@pytest.mark.parametrize("kind", INBOUND)
def test_a_filled_in_request_of_the_cli_comes_back_as_it_was(kind: type[Any]) -> None:
    frame = ControlRequest("a1", filled(kind))
    assert decode_line(encode_line(frame).rstrip()) == frame


def test_an_unknown_request_keeps_all_that_it_came_with() -> None:
    line = b'{"type":"control_request","request_id":"a1","request":{"subtype":"brand_new","x":[1,{}]}}'
    frame = decode_line(line)
    assert frame == ControlRequest("a1", UnknownRequest("brand_new", {"subtype": "brand_new", "x": [1, {}]}))
    assert encode_line(frame) == line + b"\n"


@pytest.mark.parametrize("odd", [b"", b',"title":7'])
@pytest.mark.parametrize(
    "fields", [b'"subtype":"elicitation","mcp_server_name":"s"', b'"subtype":"request_user_dialog","dialog_kind":"k"']
)
def test_what_users_are_asked_keeps_fields_without_a_name_here(fields: bytes, odd: bytes) -> None:
    frame = decode_line(
        b'{"type":"control_request","request_id":"a1","request":{' + fields + odd + b',"brand_new":[1]}}'
    )
    assert isinstance(frame, ControlRequest)
    assert isinstance(frame.request, control.WholeRequest)
    assert frame.request.raw["brand_new"] == [1]


def test_server_info_reads_what_is_there_and_keeps_the_rest() -> None:
    payload = {"pid": 7, "capabilities": ["a", "b"], "models": "odd", "brand_new": 1, "<raw>": "spoofed"}
    info = ServerInfo.read(payload)
    assert (info.pid, info.capabilities, info.models, info.account) == (7, ("a", "b"), None, None)
    assert info.raw == payload


def test_server_info_of_no_payload_is_empty() -> None:
    assert ServerInfo.read(None) == ServerInfo()
