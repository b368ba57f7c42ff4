"""The shapes of conversation frames, as seen on the real wire, with its order of keys."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = "2.1.326"
TOOLS = tuple(
    """Task AskUserQuestion Bash Edit EnterPlanMode ExitPlanMode Glob Grep NotebookEdit Read Skill TaskStop TodoWrite
    ToolSearch WebFetch WebSearch Write""".split()  # noqa: SIM905 - one name a line is worse to read
)
COMMANDS = ("clear", "compact", "context", "init", "review", "usage")
MODELS = {
    "default": "claude-opus-5-5",
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
}
CAPABILITIES = ("interrupt_receipt_v1", "msg_lifecycle_v1", "mcp_read_resource_v1")
INPUT_PRICE, OUTPUT_PRICE = 4e-6, 20e-6


def timestamp() -> str:
    """Give the time of day as the real CLI writes it."""
    now = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"


def resolve_model(name: str | None, default: str) -> str:
    """Give the full name of a model alias; unknown names stay as they are."""
    if name is None or name == "default":
        return default
    return MODELS.get(name, name)


def initialize_response(pid: int, mode: str) -> dict[str, Any]:
    """Build the success payload of initialize."""
    return {
        "commands": [
            {"name": name, "description": f"/{name}", "argumentHint": "", "builtin": True} for name in COMMANDS
        ],
        "agents": [{"name": "general-purpose", "description": "General-purpose agent"}],
        "output_style": "default",
        "available_output_styles": ["default", "Explanatory", "Learning"],
        "models": [
            {"value": value, "resolvedModel": resolved, "displayName": value.capitalize(), "description": resolved}
            for value, resolved in MODELS.items()
        ],
        "account": {"tokenSource": "none", "apiKeySource": "ANTHROPIC_API_KEY", "apiProvider": "firstParty"},
        "pid": pid,
        "claude_code_version": VERSION,
        "current_permission_mode": mode,
        "hooks_applied": True,
        "hook_on_failure_supported": True,
        "analytics_disabled": True,
        "fast_mode_state": "off",
        "session_state": "idle",
        "capabilities": ["ui_surface_v1"],
    }


def assistant(message_id: str, model: str, block: dict[str, Any], input_tokens: int) -> dict[str, Any]:
    """Build an assistant frame of one block, without its ids."""
    return {
        "type": "assistant",
        "message": {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [block],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": input_tokens, "output_tokens": 1},
            "context_management": None,
        },
        "parent_tool_use_id": None,
    }


def api_error_message(text: str, message_id: str) -> dict[str, Any]:
    """Build the synthetic assistant message that tells of an API error."""
    return {
        "diagnostics": None,
        "id": message_id,
        "container": None,
        "model": "<synthetic>",
        "role": "assistant",
        "stop_details": None,
        "stop_reason": "stop_sequence",
        "stop_sequence": "",
        "type": "message",
        "usage": {"input_tokens": 0, "output_tokens": 0},
        "content": [{"type": "text", "text": text}],
        "context_management": None,
    }


def user_text(text: str) -> dict[str, Any]:
    """Build a user frame of one text block."""
    return {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": text}]},
        "parent_tool_use_id": None,
    }


def usage(input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """Build the usage object of a result."""
    return {
        "input_tokens": input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
    }


def model_usage(model: str, input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """Build the modelUsage object of a result."""
    return {
        model: {
            "inputTokens": input_tokens,
            "outputTokens": output_tokens,
            "cacheReadInputTokens": 0,
            "cacheCreationInputTokens": 0,
            "webSearchRequests": 0,
            "costUSD": cost(input_tokens, output_tokens),
            "contextWindow": 200_000,
            "maxOutputTokens": 64_000,
        }
    }


def cost(input_tokens: int, output_tokens: int) -> float:
    """Give the price of so many tokens in USD."""
    return input_tokens * INPUT_PRICE + output_tokens * OUTPUT_PRICE
