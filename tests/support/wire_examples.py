"""Every example of the wire that we know, as plain JSON: what we write, what the CLI writes, and both answers."""

from __future__ import annotations

from typing import Any

from claude_actors.wire.answers import DialogAnswer, ElicitationReply, PermissionAnswer
from claude_actors.wire.hooks import AsyncHookOutput, HookOutput

UUID = "0b6b4a0e-9b1c-4b7e-8f5d-3a1d5c2e7f00"
ID = "req_1_0a1b2c3d"


def request(**fields: Any) -> dict[str, Any]:
    return {"type": "control_request", "request_id": ID, "request": fields}


def success(**payload: Any) -> dict[str, Any]:
    return {"type": "control_response", "response": {"subtype": "success", "request_id": ID, "response": payload}}


OURS: list[dict[str, Any]] = [
    {"subtype": "initialize", "hooks": None},
    {
        "subtype": "initialize",
        "hooks": {"PreToolUse": [{"matcher": None, "hookCallbackIds": ["hook_0"], "timeout": 60}]},
        "sdkMcpServers": ["local"],
        "agents": {"critic": {"description": "finds faults", "prompt": "Find faults."}},
        "appendSystemPrompt": "Be short.",
        "promptSuggestions": True,
        "supportedDialogKinds": ["pick"],
    },
    {"subtype": "interrupt"},
    {"subtype": "set_permission_mode", "mode": "plan"},
    {"subtype": "set_model", "model": "sonnet"},
    {"subtype": "set_model", "model": None},
    {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 4000},
    {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": None},
    {"subtype": "rewind_files", "user_message_id": UUID},
    {"subtype": "rewind_files", "user_message_id": UUID, "dry_run": True},
    {"subtype": "mcp_status"},
    {"subtype": "mcp_reconnect", "serverName": "local"},
    {"subtype": "mcp_toggle", "serverName": "local", "enabled": False},
    {"subtype": "mcp_set_servers", "servers": {"local": {"type": "sdk", "name": "local"}}},
    {"subtype": "get_context_usage"},
    {"subtype": "stop_task", "task_id": "b1"},
    {"subtype": "background_tasks"},
    {"subtype": "apply_flag_settings", "settings": {"model": "opus"}},
    {"subtype": "get_settings"},
    {"subtype": "list_models"},
    {"subtype": "reload_plugins"},
    {"subtype": "reload_skills"},
    {"subtype": "read_file", "path": "/a"},
    {"subtype": "mcp_read_resource", "serverName": "local", "uri": "file:///a"},
    {"subtype": "cancel_async_message", "message_uuid": UUID},
    {"subtype": "get_task_output", "task_id": "b1"},
    {"subtype": "rename_session", "title": "Tidying"},
    {"subtype": "get_usage"},
    {"subtype": "get_session_cost"},
]
FROM_THE_CLI: list[dict[str, Any]] = [
    request(subtype="hook_callback", callback_id="hook_0", input={"hook_event_name": "Stop"}, tool_use_id="toolu_1"),
    request(subtype="hook_callback", callback_id="hook_0", input={"hook_event_name": "Stop"}),
    request(
        subtype="can_use_tool",
        tool_name="Bash",
        display_name="Bash",
        input={"command": "touch x"},
        description="make a file",
        permission_suggestions=[
            {
                "type": "addRules",
                "rules": [{"toolName": "Bash"}],
                "behavior": "allow",
                "destination": "localSettings",
            }
        ],
        blocked_path="/x",
        decision_reason="outside",
        decision_reason_type="workingDir",
        tool_use_id="toolu_1",
        agent_id="a1",
    ),
    request(
        subtype="mcp_message",
        server_name="local",
        message={"jsonrpc": "2.0", "id": "c7a2:0", "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
    ),
    request(
        subtype="mcp_message", server_name="local", message={"jsonrpc": "2.0", "method": "notifications/initialized"}
    ),
    request(subtype="elicitation", mcp_server_name="local", message="who?", mode="form", requested_schema={}),
    request(subtype="request_user_dialog", dialog_kind="pick", payload={"choices": [1]}),
]
OTHER_CONTROL: list[dict[str, Any]] = [
    success(commands=[], agents=[], pid=7, capabilities=["a"], claude_code_version="2.1.326"),
    success(still_queued=[]),
    success(mode="plan"),
    success(mcpServers=[{"name": "local", "status": "connected", "serverInfo": {}, "tools": []}]),
    success(added=["a"], removed=[], errors={}),
    success(canRewind=True, filesChanged=["/a"], insertions=1, deletions=0),
    {"type": "control_response", "response": {"subtype": "success", "request_id": ID}},
    {
        "type": "control_response",
        "response": {"subtype": "error", "request_id": ID, "error": "no", "error_code": "unsupported_request"},
    },
    {
        "type": "control_response",
        "response": {
            "subtype": "error",
            "request_id": ID,
            "error": "File rewinding is not enabled.",
            "pending_permission_requests": [request(subtype="can_use_tool", tool_name="Bash", input={})],
        },
    },
    {"type": "control_cancel_request", "request_id": ID},
    {"type": "keep_alive"},
]
USER = {
    "type": "user",
    "message": {"role": "user", "content": "hello"},
    "parent_tool_use_id": None,
    "session_id": "default",
    "uuid": UUID,
}
MESSAGES: list[dict[str, Any]] = [
    USER,
    {**USER, "message": {"role": "user", "content": [{"type": "text", "text": "hello"}]}, "isReplay": True},
    {"type": "command_lifecycle", "command_uuid": UUID, "state": "queued"},
    {"type": "command_lifecycle", "command_uuid": UUID, "state": "completed"},
    {"subtype": "success", "is_error": True, "user_message_uuid": UUID, "user_message_uuids": [UUID], "type": "result"},
    *(
        {"type": "result", "subtype": subtype, "terminal_reason": "max_turns"}
        for subtype in (
            "error_during_execution",
            "error_max_turns",
            "error_max_budget_usd",
            "error_max_structured_output_retries",
        )
    ),
    {"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}},
    {"type": "stream_event", "event": {"type": "message_stop"}},
    {"type": "tool_progress", "tool_use_id": "toolu_1"},
    {"type": "tool_use_summary", "summary": "looked around"},
    {"type": "auth_status", "isAuthenticating": False},
    {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed"}},
    {"type": "prompt_suggestion", "suggestion": "and the tests?"},
    {"type": "conversation_reset", "new_conversation_id": UUID},
    {"type": "active_goal", "value": None},
    {"type": "transcript_mirror", "filePath": "/t.jsonl", "entries": []},
    {"type": "system", "subtype": "session_state_changed", "state": "requires_action"},
    {"type": "system", "subtype": "informational", "content": "failed", "tag": "hook_callback_failed"},
]
SUBTYPES = [
    "init",
    "status",
    "compact_boundary",
    "informational",
    "task_started",
    "task_updated",
    "task_progress",
    "task_notification",
    "background_tasks_changed",
    "session_state_changed",
    "api_retry",
    "hook_started",
    "hook_progress",
    "hook_response",
    "permission_denied",
    "local_command_output",
    "notification",
]
EVENTS = [
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "PostCompact",
    "SessionStart",
    "SessionEnd",
    "Notification",
    "PostToolBatch",
    "UserPromptExpansion",
    "StopFailure",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
]
ANSWERS: list[tuple[Any, dict[str, Any]]] = [
    (PermissionAnswer, {"behavior": "allow", "updatedInput": {"command": "ls"}}),
    (PermissionAnswer, {"behavior": "deny", "message": "no", "interrupt": True}),
    (ElicitationReply, {"action": "accept", "content": {"name": "me"}}),
    (DialogAnswer, {"behavior": "completed", "result": {"picked": 1}}),
    (DialogAnswer, {"behavior": "cancelled"}),
    (HookOutput, {"continue": False, "stopReason": "s", "suppressOutput": True, "systemMessage": "m"}),
    (HookOutput, {"decision": "block", "reason": "no"}),
    (
        HookOutput,
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "no",
                "updatedInput": {},
                "additionalContext": "c",
            }
        },
    ),
    (AsyncHookOutput, {"async": True, "asyncTimeout": 1500}),
]
SUGGESTIONS: list[dict[str, Any]] = [
    {"type": "addRules", "rules": [{"toolName": "Read"}], "behavior": "allow", "destination": "session"},
    {"type": "addDirectories", "directories": ["/a"], "destination": "session"},
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
]
