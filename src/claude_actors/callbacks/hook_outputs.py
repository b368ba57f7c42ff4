"""The exact output of each hook result on each event, with the names of the wire.

Pure, and without judgement: whether an event can honour a result is asked before, in `callbacks/translate.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from claude_actors.callbacks.outcomes import accepted_results
from claude_actors.callbacks.results import (
    Accept,
    AddContext,
    Allow,
    Ask,
    Block,
    Cancel,
    Continue,
    Decline,
    Deferred,
    Deny,
    Display,
    ReplaceInput,
    ReplaceOutput,
    Retry,
    StopTurn,
    UseWorktree,
    WatchPaths,
)
from claude_actors.errors import InvalidCallbackResult
from claude_actors.wire.hook_inputs import HookEvent
from claude_actors.wire.hooks import AsyncHookOutput, HookOutput

JSON = dict[str, Any]


def _specific(event: str, **fields: Any) -> JSON:
    given = {name: value for name, value in fields.items() if value is not None}
    return {"hookSpecificOutput": {"hookEventName": event, **given}}


def _continue(_event: str, _input: HookEvent | None, result: Continue) -> JSON:
    output = HookOutput(
        continue_=True, system_message=result.system_message, suppress_output=result.suppress_output or None
    )
    return output.to_wire()


def _stop_turn(_event: str, _input: HookEvent | None, result: StopTurn) -> JSON:
    return HookOutput(continue_=False, stop_reason=result.reason, system_message=result.system_message).to_wire()


def _deferred(_event: str, _input: HookEvent | None, result: Deferred) -> JSON:
    return AsyncHookOutput(async_timeout=None if result.timeout is None else round(result.timeout * 1000)).to_wire()


def _allow(event: str, _input: HookEvent | None, result: Allow) -> JSON:
    updated_input = None if result.updated_input is None else input_on_wire(result.updated_input)
    if event == "PermissionRequest":
        decision = {"behavior": "allow", "updatedInput": updated_input, "updatedPermissions": updates_on_wire(result)}
        return _specific(event, decision={name: value for name, value in decision.items() if value is not None})
    return _specific(
        event,
        permissionDecision="allow",
        permissionDecisionReason=result.reason,
        updatedInput=updated_input,
        additionalContext=result.additional_context,
    )


def _deny(event: str, _input: HookEvent | None, result: Deny) -> JSON:
    if event == "PermissionRequest":
        decision = {"behavior": "deny", "message": result.message, "interrupt": result.interrupt}
        return _specific(event, decision=decision)
    output = _specific(event, permissionDecision="deny", permissionDecisionReason=result.message)
    return {"continue": False, "stopReason": result.message, **output} if result.interrupt else output


def _ask(event: str, _input: HookEvent | None, result: Ask) -> JSON:
    return _specific(event, permissionDecision="ask", permissionDecisionReason=result.reason)


def _block(event: str, _input: HookEvent | None, result: Block) -> JSON:
    if Deny in accepted_results(event):
        return _with_message(_deny(event, None, Deny(result.reason)), result.system_message)
    return HookOutput(decision="block", reason=result.reason, system_message=result.system_message).to_wire()


def _add_context(event: str, _input: HookEvent | None, result: AddContext) -> JSON:
    return _with_message(_specific(event, additionalContext=result.text), result.system_message)


def _with_message(output: JSON, system_message: str | None) -> JSON:
    return output if system_message is None else {"systemMessage": system_message, **output}


def _replace_input(event: str, _input: HookEvent | None, result: ReplaceInput) -> JSON:
    return _specific(
        event, updatedInput=input_on_wire(result.updated_input), additionalContext=result.additional_context
    )


def _replace_output(event: str, given: HookEvent | None, result: ReplaceOutput) -> JSON:
    # Older CLIs know only the MCP form, newer ones know both; built-in tools need the general one.
    of_mcp = str(getattr(given, "tool_name", "")).startswith("mcp__")
    name = "updatedMCPToolOutput" if of_mcp else "updatedToolOutput"
    return _specific(event, additionalContext=result.additional_context, **{name: result.output})


def _retry(event: str, _input: HookEvent | None, _result: Retry) -> JSON:
    return _specific(event, retry=True)


def _use_worktree(event: str, _input: HookEvent | None, result: UseWorktree) -> JSON:
    return _specific(event, worktreePath=result.path)


def _watch_paths(event: str, _input: HookEvent | None, result: WatchPaths) -> JSON:
    return _specific(event, watchPaths=list(result.paths))


def _display(event: str, _input: HookEvent | None, result: Display) -> JSON:
    return _specific(event, displayContent=result.text)


def _elicited(event: str, _input: HookEvent | None, result: Accept | Decline | Cancel) -> JSON:
    output = _specific(event, **elicitation_action(result))
    if isinstance(result, Accept):
        return output
    # The CLI (2.1.326) reads no action from a hook of ours and would go on to ask; a block it heeds, as a decline.
    return {"decision": "block", "reason": "declined by a hook", **output}


BUILDERS: Final[Mapping[type, Callable[[str, HookEvent | None, Any], JSON]]] = {
    Continue: _continue,
    StopTurn: _stop_turn,
    Deferred: _deferred,
    Allow: _allow,
    Deny: _deny,
    Ask: _ask,
    Block: _block,
    AddContext: _add_context,
    ReplaceInput: _replace_input,
    ReplaceOutput: _replace_output,
    Retry: _retry,
    UseWorktree: _use_worktree,
    WatchPaths: _watch_paths,
    Display: _display,
    Accept: _elicited,
    Decline: _elicited,
    Cancel: _elicited,
}


def updates_on_wire(result: Allow) -> list[JSON] | None:
    """Return `updated_permissions` as JSON, or None if there are none to send. Raises `InvalidCallbackResult`."""
    if result.updated_permissions is None:
        return None
    return [_update_on_wire(update) for update in result.updated_permissions]


def _update_on_wire(update: object) -> JSON:
    if isinstance(update, Mapping):
        return dict(update)
    raw = getattr(update, "raw", None)
    if not isinstance(raw, dict):
        raise InvalidCallbackResult(
            f"updated_permissions holds {type(update).__name__}; it takes suggestions of the request, updates such as "
            "AddRules or SetMode, or mappings"
        )
    return raw


def input_on_wire(updated_input: object) -> JSON:
    """Return a changed input as JSON. Raises `InvalidCallbackResult` for what is no mapping."""
    if not isinstance(updated_input, Mapping):
        raise InvalidCallbackResult(f"updated_input must be a mapping, not {type(updated_input).__name__}")
    return dict(updated_input)


def elicitation_action(result: Accept | Decline | Cancel) -> JSON:
    """Return the fields that answer an MCP server's question."""
    if isinstance(result, Accept):
        return {"action": "accept"} | ({} if result.content is None else {"content": dict(result.content)})
    return {"action": "decline" if isinstance(result, Decline) else "cancel"}
