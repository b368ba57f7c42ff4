"""Result frames: how a turn ended, in the shapes of the real CLI. Their `type` stands late among the keys, as there."""

from __future__ import annotations

import json
import time

from claude_actors.testing.fake_cli import frames
from claude_actors.testing.fake_cli.channel import new_uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli
    from claude_actors.testing.fake_cli.model import Model
    from claude_actors.testing.fake_cli.state import Turn


def success(cli: Cli, turn: Turn, model: Model) -> dict[str, Any]:
    """Build the result of a turn that ended well."""
    return _result(
        cli,
        turn,
        stop_reason=model.stop_reason,
        terminal_reason="completed",
        is_error=False,
        subtype="success",
        api_error_status=None,
        result=model.text,
    )


def ended(cli: Cli, turn: Turn, model: Model, kind: str) -> dict[str, Any]:
    """Build the result of a turn that was cut short: by an interrupt, a limit, a hook, or a structured answer."""
    if kind == "structured":
        text = json.dumps(turn.structured, separators=(",", ":"), ensure_ascii=False)
        return {**success(cli, turn, model), "result": text, "structured_output": turn.structured}
    if kind == "hook_stopped":
        return {**success(cli, turn, model), "terminal_reason": kind, "result": ""}
    subtype, reason, error = kind, kind, ""
    if kind == "error_max_turns":
        reason, error = "max_turns", f"Reached maximum number of turns ({cli.flags.get('--max-turns')})"
    elif kind == "error_max_budget_usd":
        reason, error = "budget_exhausted", f"Reached maximum budget (${cli.flags.get('--max-budget-usd')})"
    else:
        stop = model.stop_reason or "null"
        subtype = "error_during_execution"
        error = f"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop}"
    return _result(
        cli,
        turn,
        stop_reason=model.stop_reason,
        terminal_reason=reason,
        is_error=True,
        subtype=subtype,
        errors=[error],
    )


def api_error(cli: Cli, turn: Turn, text: str, status: int, kind: str) -> dict[str, Any]:
    """Build the result of a turn that ended on an API error: a success by name, and an error all the same."""
    return _result(
        cli,
        turn,
        stop_reason="stop_sequence",
        terminal_reason="api_error",
        is_error=True,
        subtype="success",
        api_error_status=status,
        api_error_type=kind,
        result=text,
    )


def refused(cli: Cli, turn: Turn, text: str) -> dict[str, Any]:
    """Build the result of a prompt that a hook did not let through."""
    found = _result(cli, turn, stop_reason=None, is_error=False, subtype="success", result=text)
    found["num_turns"] = 0
    return found


def _result(cli: Cli, turn: Turn, *, stop_reason: str | None, **outcome: Any) -> dict[str, Any]:
    took = int((time.monotonic() - turn.started) * 1000)
    frame: dict[str, Any] = {
        "duration_api_ms": took,
        "stop_reason": stop_reason,
        "session_id": cli.session_id,
        "total_cost_usd": frames.cost(cli.input_tokens, cli.output_tokens),
        "usage": frames.usage(turn.input_tokens, turn.output_tokens),
        "modelUsage": frames.model_usage(cli.model, cli.input_tokens, cli.output_tokens),
        "permission_denials": turn.denials,
        "num_turns": 1 + turn.user_frames,
        **outcome,
        "type": "result",
        "duration_ms": took,
        "uuid": new_uuid(),
    }
    if turn.origin is not None:
        frame["origin"] = turn.origin
    return {**frame, **turn.marks(), "queued_turn_count": 0, "result_index": cli.results}
