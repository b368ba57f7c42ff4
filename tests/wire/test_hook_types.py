"""Hook inputs and outputs: every event has a type, nothing that the CLI sends raises, and raw is always there."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from claude_actors.wire.hook_inputs import (
    BatchToolCall,
    Effort,
    Elicitation,
    HookEvent,
    McpProvenance,
    PermissionRequest,
    PostToolBatch,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    Stop,
    UnknownHookEvent,
    UserPromptSubmit,
)
from claude_actors.wire.hooks import EVENT_TYPES, AsyncHookOutput, HookOutput, decode_hook_input
from claude_actors.wire.permissions import SetMode
from claude_actors.wire.session_hook_inputs import MessageDisplay, PreModelSwitch

COMMON: dict[str, Any] = {
    "session_id": "8f1f",
    "transcript_path": "/home/me/.claude/projects/x/8f1f.jsonl",
    "cwd": "/work",
    "permission_mode": "default",
    "prompt_id": "11aa",
    "agent_id": "a1",
    "agent_type": "general-purpose",
    "effort": {"level": "high"},
}
TOOL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_1"}
SWITCH: dict[str, Any] = {
    "from_model": "a",
    "to_model": "b",
    "requested_model": None,
    "source": "sdk",
    "context_tokens": 12,
    "prompt_cache_warm": True,
    "cache_ttl": "5m",
    "estimated_cache_write_usd": 0.5,
    "pricing": "catalog",
}
FIELDS: dict[str, dict[str, Any]] = {
    "PreToolUse": {**TOOL, "mcp_server": {"name": "local", "source": "sdk"}},
    "PostToolUse": {**TOOL, "tool_response": {"stdout": "x"}, "duration_ms": 12},
    "PostToolUseFailure": {**TOOL, "error": "Exit code 3", "is_interrupt": True, "duration_ms": 3.5},
    "PostToolBatch": {"tool_calls": [{**TOOL, "tool_response": "ok"}]},
    "PermissionRequest": {
        **TOOL,
        "permission_suggestions": [{"type": "setMode", "mode": "plan", "destination": "session"}],
    },
    "PermissionDenied": {**TOOL, "reason": "classifier"},
    "UserPromptSubmit": {"prompt": "hello", "source": "sdk", "session_title": "t"},
    "UserPromptExpansion": {
        "prompt": "/x y",
        "expansion_type": "slash_command",
        "command_name": "x",
        "command_args": "y",
        "command_source": "user",
    },
    "Stop": {
        "stop_hook_active": True,
        "last_assistant_message": "done",
        "background_tasks": [{"id": "b1"}],
        "session_crons": [{"id": "c1"}],
    },
    "StopFailure": {"error": "overloaded", "error_details": "529", "last_assistant_message": "so far"},
    "SubagentStart": {},
    "SubagentStop": {"stop_hook_active": False, "agent_transcript_path": "/t.jsonl"},
    "PreCompact": {"trigger": "manual", "custom_instructions": None},
    "PostCompact": {"trigger": "auto", "compact_summary": "short"},
    "Elicitation": {
        "mcp_server_name": "local",
        "message": "who?",
        "mode": "form",
        "url": "http://x",
        "elicitation_id": "e1",
        "requested_schema": {"type": "object"},
    },
    "ElicitationResult": {
        "mcp_server_name": "local",
        "action": "accept",
        "mode": "form",
        "elicitation_id": "e1",
        "content": {"name": "me"},
    },
    "SessionStart": {
        "source": "compact",
        "model": "m",
        "session_title": "t",
        "seconds_since_last_response": 3,
        "context_tokens": 10,
        "prompt_cache_likely_expired": False,
        "estimated_cache_write_usd": 0.1,
    },
    "SessionEnd": {"reason": "other"},
    "Setup": {"trigger": "init"},
    "Notification": {"message": "waiting", "title": "t", "notification_type": "idle"},
    "PreModelSwitch": SWITCH,
    "PostModelSwitch": SWITCH,
    "TeammateIdle": {"teammate_name": "t", "team_name": "n"},
    "TaskCreated": {
        "task_id": "1",
        "task_subject": "s",
        "task_description": "d",
        "teammate_name": "t",
        "team_name": "n",
    },
    "TaskCompleted": {"task_id": "1", "task_subject": "s"},
    "ConfigChange": {"source": "user_settings", "file_path": "/s.json"},
    "InstructionsLoaded": {
        "file_path": "/CLAUDE.md",
        "memory_type": "Project",
        "load_reason": "session_start",
        "globs": ["*.py"],
        "trigger_file_path": "/a.py",
        "parent_file_path": "/b.md",
    },
    "WorktreeCreate": {"name": "w"},
    "WorktreeRemove": {"worktree_path": "/w"},
    "CwdChanged": {"old_cwd": "/a", "new_cwd": "/b"},
    "FileChanged": {"file_path": "/a", "event": "change"},
    "DirectoryAdded": {"directory": "/a", "source": "slash_command"},
    "MessageDisplay": {"turn_id": "t", "message_id": "m", "index": 0, "final": True, "delta": "hi"},
}


def sample(event: str) -> dict[str, Any]:
    return {**COMMON, "hook_event_name": event, **FIELDS[event]}


def test_every_event_of_the_protocol_has_a_type() -> None:
    assert EVENT_TYPES.keys() == FIELDS.keys()


@pytest.mark.parametrize("event", sorted(FIELDS))
def test_an_event_decodes_to_its_type_with_every_field_of_the_wire(event: str) -> None:
    form = sample(event)
    decoded = decode_hook_input(msgspec.json.encode(form))
    assert type(decoded) is EVENT_TYPES[event]
    assert decoded.raw == form
    assert decoded.effort == Effort("high")
    typed = msgspec.json.decode(msgspec.json.encode(msgspec.structs.asdict(decoded)))
    assert {name: typed[name] for name in form} == form


@pytest.mark.parametrize("event", sorted(FIELDS))
def test_only_what_an_event_cannot_do_without_is_required(event: str) -> None:
    required = {field.name for field in msgspec.structs.fields(EVENT_TYPES[event]) if field.required}
    least = {"hook_event_name": event, **{name: FIELDS[event][name] for name in required}}
    assert type(decode_hook_input(least)) is EVENT_TYPES[event]
    assert required <= {
        "tool_name",
        "tool_input",
        "prompt",
        "mcp_server_name",
        "name",
        "worktree_path",
        "file_path",
        "directory",
    }


@pytest.mark.parametrize("event", sorted(FIELDS))
def test_an_event_made_by_hand_knows_its_name_and_its_wire_form(event: str) -> None:
    required = {
        field.name: FIELDS[event][field.name] for field in msgspec.structs.fields(EVENT_TYPES[event]) if field.required
    }
    made = EVENT_TYPES[event](**required)
    assert made.hook_event_name == event
    assert made.raw == {"hook_event_name": event, **required}


def test_the_input_may_come_as_bytes_as_raw_or_as_a_mapping() -> None:
    form = sample("Stop")
    line = msgspec.json.encode(form)
    assert decode_hook_input(line) == decode_hook_input(msgspec.Raw(line)) == decode_hook_input(form)


def test_nested_parts_are_typed() -> None:
    batch = decode_hook_input(sample("PostToolBatch"))
    assert isinstance(batch, PostToolBatch)
    assert batch.tool_calls == (
        BatchToolCall(tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="toolu_1", tool_response="ok"),
    )
    asked = decode_hook_input(sample("PermissionRequest"))
    assert isinstance(asked, PermissionRequest)
    assert asked.suggestions == (SetMode("plan"),)
    used = decode_hook_input(sample("PreToolUse"))
    assert isinstance(used, PreToolUse)
    assert used.mcp_server == McpProvenance("local", "sdk")


def test_unknown_fields_are_ignored_and_stay_in_raw() -> None:
    event = decode_hook_input({**sample("Stop"), "brand_new": [1]})
    assert isinstance(event, Stop)
    assert event.raw["brand_new"] == [1]


def test_an_event_without_a_type_keeps_its_common_fields_and_its_raw_input() -> None:
    form = {**COMMON, "hook_event_name": "SomethingNew", "detail": 7}
    event = decode_hook_input(form)
    assert type(event) is UnknownHookEvent
    assert (event.hook_event_name, event.cwd, event.agent_id) == ("SomethingNew", "/work", "a1")
    assert event.raw == form


def test_an_essential_field_of_a_wrong_type_gives_the_generic_event_and_not_an_empty_one() -> None:
    event = decode_hook_input({**sample("PreToolUse"), "tool_input": "rm -rf /"})
    assert type(event) is UnknownHookEvent
    assert event.hook_event_name == "PreToolUse"
    assert event.raw["tool_input"] == "rm -rf /"


def test_a_lesser_field_of_a_wrong_type_does_not_hide_the_event() -> None:
    event = decode_hook_input({**sample("PreToolUse"), "effort": "high", "session_id": 7, "mcp_server": []})
    assert isinstance(event, PreToolUse)
    assert (event.tool_name, event.tool_input, event.effort, event.session_id) == ("Bash", {"command": "ls"}, None, "")
    assert event.raw["effort"] == "high"


@pytest.mark.parametrize(
    "line",
    [b"", b"[]", b"null", b"{", b"\xff\xfe", b'{"hook_event_name": 3}', b'"x"', b"[" * 100_000, b'{"cwd": [[]]}'],
)
def test_what_is_no_hook_input_gives_the_generic_event(line: bytes) -> None:
    event = decode_hook_input(line)
    assert type(event) is UnknownHookEvent
    assert isinstance(event.raw, dict)


def test_deep_nesting_in_a_mapping_does_not_raise() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert isinstance(decode_hook_input({"hook_event_name": "Stop", "background_tasks": deep}), HookEvent)


def test_events_are_immutable() -> None:
    event = UserPromptSubmit(prompt="hello")
    with pytest.raises(AttributeError):
        event.prompt = "other"  # type: ignore[misc]


def test_numbers_may_be_whole_or_not() -> None:
    assert isinstance(used := decode_hook_input({**sample("PostToolUse"), "duration_ms": 1.5}), PostToolUse)
    assert used.duration_ms == 1.5
    assert isinstance(failed := decode_hook_input(sample("PostToolUseFailure")), PostToolUseFailure)
    assert failed.is_interrupt
    assert isinstance(switch := decode_hook_input(sample("PreModelSwitch")), PreModelSwitch)
    assert switch.context_tokens == 12
    assert isinstance(shown := decode_hook_input(sample("MessageDisplay")), MessageDisplay)
    assert shown.index == 0
    assert isinstance(asked := decode_hook_input(sample("Elicitation")), Elicitation)
    assert asked.requested_schema == {"type": "object"}


def test_outputs_have_the_exact_names_of_the_wire() -> None:
    output = HookOutput(
        continue_=False,
        stop_reason="s",
        suppress_output=True,
        decision="block",
        reason="r",
        system_message="m",
        hook_specific_output={"hookEventName": "Stop"},
    )
    assert output.to_wire() == {
        "continue": False,
        "stopReason": "s",
        "suppressOutput": True,
        "decision": "block",
        "reason": "r",
        "systemMessage": "m",
        "hookSpecificOutput": {"hookEventName": "Stop"},
    }
    assert HookOutput().to_wire() == {}


def test_an_async_output_has_its_marker_and_its_timeout() -> None:
    assert AsyncHookOutput().to_wire() == {"async": True}
    assert AsyncHookOutput(async_timeout=1500).to_wire() == {"async": True, "asyncTimeout": 1500}


@pytest.mark.parametrize("form", [{"continue": True}, {"decision": "block", "reason": "no"}, {"stopReason": "x"}])
def test_outputs_round_trip(form: dict[str, Any]) -> None:
    assert msgspec.convert(form, HookOutput).to_wire() == form
