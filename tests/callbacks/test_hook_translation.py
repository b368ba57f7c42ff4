"""Hook results: each gives the exact output of its event, and what an event cannot honour never slips through."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from claude_actors.callbacks import outcomes
from claude_actors.callbacks.hooks import HookRegistration, Hooks
from claude_actors.callbacks.outcomes import ACCEPTED, OnFailure, can_block
from claude_actors.callbacks.results import (
    Accept,
    AddContext,
    Allow,
    Ask,
    Block,
    Cancel,
    Completed,
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
from claude_actors.callbacks.translate import HookAnswer, hook_answer, hook_fallback
from claude_actors.errors import InvalidCallbackResult
from claude_actors.wire.hook_inputs import HookEvent, PostToolUse
from claude_actors.wire.hooks import EVENT_TYPES
from claude_actors.wire.permissions import SetMode

RESULTS: list[Any] = [
    Allow(),
    Deny("no"),
    Ask(),
    Block("no"),
    AddContext("text"),
    ReplaceInput({}),
    ReplaceOutput("x"),
    Retry(),
    UseWorktree("/w"),
    WatchPaths(["/a"]),
    Display("x"),
    Accept(),
    Decline(),
    Cancel(),
]


def registration(event: str, on_failure: OnFailure = "open") -> HookRegistration:
    return HookRegistration("hook_0", event, None, 60.0, on_failure, lambda event, ctx: None)


def answer(event: str, value: object, given: HookEvent | None = None, on_failure: OnFailure = "open") -> HookAnswer:
    return hook_answer(registration(event, on_failure), given or HookEvent(hook_event_name=event), value)


def output(event: str, value: object, given: HookEvent | None = None) -> dict[str, Any]:
    found = answer(event, value, given)
    assert found.warning is None
    return found.output


DECLINED = {"decision": "block", "reason": "declined by a hook"}


def specific(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


@pytest.mark.parametrize("event", sorted(EVENT_TYPES))
def test_every_event_takes_the_results_that_all_events_take(event: str) -> None:
    assert output(event, None) == {"continue": True}
    assert output(event, Continue()) == {"continue": True}
    assert output(event, Continue("look", suppress_output=True)) == {
        "continue": True,
        "systemMessage": "look",
        "suppressOutput": True,
    }
    assert output(event, StopTurn("enough")) == {"continue": False, "stopReason": "enough"}
    assert output(event, StopTurn("enough", "look")) == {
        "continue": False,
        "stopReason": "enough",
        "systemMessage": "look",
    }
    assert output(event, Deferred()) == {"async": True}
    assert output(event, Deferred(2.5)) == {"async": True, "asyncTimeout": 2500}


def test_a_plain_mapping_is_sent_as_it_is() -> None:
    assert answer("Stop", {"anything": [1]}) == HookAnswer({"anything": [1]})


@pytest.mark.parametrize("value", [Allow("ls"), ReplaceInput("ls")])  # type: ignore[arg-type]
def test_an_input_that_is_no_mapping_is_refused(value: object) -> None:
    with pytest.raises(InvalidCallbackResult, match="updated_input must be a mapping, not str"):
        answer("PreToolUse", value)


@pytest.mark.parametrize("value", [True, False, "deny", 3, object(), Allow, [], Completed()])
def test_what_is_no_hook_result_is_refused(value: object) -> None:
    with pytest.raises(InvalidCallbackResult, match="Stop"):
        answer("Stop", value)


def test_pre_tool_use_decides_on_the_tool_call() -> None:
    assert output("PreToolUse", Allow()) == specific("PreToolUse", permissionDecision="allow")
    assert output("PreToolUse", Allow({"command": "ls"}, reason="fine", additional_context="mind")) == specific(
        "PreToolUse",
        permissionDecision="allow",
        permissionDecisionReason="fine",
        updatedInput={"command": "ls"},
        additionalContext="mind",
    )
    denied = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no")
    assert output("PreToolUse", Deny("no")) == denied
    assert output("PreToolUse", Block("no")) == denied
    assert output("PreToolUse", Block("no", "look")) == {"systemMessage": "look", **denied}
    assert output("PreToolUse", Deny("no", interrupt=True)) == {"continue": False, "stopReason": "no", **denied}
    assert output("PreToolUse", Ask()) == specific("PreToolUse", permissionDecision="ask")
    assert output("PreToolUse", Ask("sure?")) == specific(
        "PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?"
    )


def test_a_replaced_input_leaves_the_decision_to_the_rules() -> None:
    assert output("PreToolUse", ReplaceInput({"command": "ls"}, "mind")) == specific(
        "PreToolUse", updatedInput={"command": "ls"}, additionalContext="mind"
    )


def test_permissions_cannot_be_changed_before_a_tool_but_the_decision_stands() -> None:
    found = answer("PreToolUse", Allow(updated_permissions=[SetMode("plan")]))
    assert found.output == specific("PreToolUse", permissionDecision="allow")
    assert "updated_permissions" in str(found.warning)


def test_a_permission_request_is_decided_in_its_own_form() -> None:
    assert output("PermissionRequest", Allow()) == specific("PermissionRequest", decision={"behavior": "allow"})
    granted = Allow({"command": "ls"}, [SetMode("plan"), {"type": "brandNew"}])
    assert output("PermissionRequest", granted) == specific(
        "PermissionRequest",
        decision={
            "behavior": "allow",
            "updatedInput": {"command": "ls"},
            "updatedPermissions": [
                {"type": "setMode", "mode": "plan", "destination": "session"},
                {"type": "brandNew"},
            ],
        },
    )
    assert output("PermissionRequest", Deny("no", interrupt=True)) == specific(
        "PermissionRequest", decision={"behavior": "deny", "message": "no", "interrupt": True}
    )


@pytest.mark.parametrize(
    "event", sorted(event for event, accepted in ACCEPTED.items() if Block in accepted and event != "PreToolUse")
)
def test_a_block_is_a_decision_with_a_reason(event: str) -> None:
    assert output(event, Block("no")) == {"decision": "block", "reason": "no"}
    assert output(event, Block("no", "look")) == {"decision": "block", "reason": "no", "systemMessage": "look"}


@pytest.mark.parametrize("event", sorted(event for event, accepted in ACCEPTED.items() if AddContext in accepted))
def test_context_goes_where_the_event_reads_it(event: str) -> None:
    assert output(event, AddContext("text")) == specific(event, additionalContext="text")
    assert output(event, AddContext("text", "look")) == {
        "systemMessage": "look",
        **specific(event, additionalContext="text"),
    }


def test_a_replaced_output_is_named_for_the_kind_of_tool() -> None:
    built_in = PostToolUse(tool_name="Bash", tool_input={})
    assert output("PostToolUse", ReplaceOutput({"stdout": "x"}), built_in) == specific(
        "PostToolUse", updatedToolOutput={"stdout": "x"}
    )
    of_mcp = PostToolUse(tool_name="mcp__local__add", tool_input={})
    assert output("PostToolUse", ReplaceOutput("x", "mind"), of_mcp) == specific(
        "PostToolUse", additionalContext="mind", updatedMCPToolOutput="x"
    )


def test_a_model_switch_is_decided_like_a_tool_call() -> None:
    assert output("PreModelSwitch", Allow()) == specific("PreModelSwitch", permissionDecision="allow")
    assert output("PreModelSwitch", Deny("no")) == specific(
        "PreModelSwitch", permissionDecision="deny", permissionDecisionReason="no"
    )
    assert output("PreModelSwitch", Ask()) == specific("PreModelSwitch", permissionDecision="ask")


@pytest.mark.parametrize("event", ["Elicitation", "ElicitationResult"])
def test_an_elicitation_is_answered_by_an_action(event: str) -> None:
    assert output(event, Accept({"name": "me"})) == specific(event, action="accept", content={"name": "me"})
    assert output(event, Accept()) == specific(event, action="accept")


@pytest.mark.parametrize("event", ["Elicitation", "ElicitationResult"])
def test_an_elicitation_is_refused_by_a_block_too_since_the_cli_reads_no_action_there(event: str) -> None:
    assert output(event, Decline()) == DECLINED | specific(event, action="decline")
    assert output(event, Cancel()) == DECLINED | specific(event, action="cancel")


def test_the_rarer_events_have_their_own_answers() -> None:
    assert output("PermissionDenied", Retry()) == specific("PermissionDenied", retry=True)
    assert output("WorktreeCreate", UseWorktree("/w")) == specific("WorktreeCreate", worktreePath="/w")
    for event in ("SessionStart", "CwdChanged", "FileChanged"):
        assert output(event, WatchPaths(("/a", "/b"))) == specific(event, watchPaths=["/a", "/b"])
    assert output("MessageDisplay", Display("x")) == specific("MessageDisplay", displayContent="x")


@pytest.mark.parametrize("event", sorted(EVENT_TYPES))
def test_what_an_event_cannot_honour_is_no_opinion_with_a_warning(event: str) -> None:
    for result in RESULTS:
        found = answer(event, result)
        refusal_in_other_words = isinstance(result, Deny | Block) and can_block(event)
        if type(result) in ACCEPTED[event] or refusal_in_other_words:
            assert found.warning is None
            assert found.output != {"continue": True}
        else:
            assert found.output == {"continue": True}
            assert found.warning == f"{event} cannot honour {type(result).__name__}"


def test_a_gate_takes_what_its_event_cannot_honour_as_a_failure() -> None:
    found = answer("UserPromptSubmit", Allow(), on_failure="block")
    assert found.output == {"decision": "block", "reason": "UserPromptSubmit cannot honour Allow"}
    assert found.warning is not None


def test_a_refusal_counts_whatever_word_the_guard_has_used_for_it() -> None:
    assert output("UserPromptSubmit", Deny("no")) == {"decision": "block", "reason": "no"}
    assert output("PermissionRequest", Block("no")) == specific(
        "PermissionRequest", decision={"behavior": "deny", "message": "no", "interrupt": False}
    )
    assert output("Elicitation", Deny("no")) == DECLINED | specific("Elicitation", action="decline")


def test_an_event_that_is_not_known_takes_the_usual_forms() -> None:
    assert output("SomethingNew", Block("no")) == {"decision": "block", "reason": "no"}
    assert output("SomethingNew", Deny("no")) == {"decision": "block", "reason": "no"}
    assert output("SomethingNew", AddContext("x")) == specific("SomethingNew", additionalContext="x")
    assert answer("SomethingNew", Allow()).warning == "SomethingNew cannot honour Allow"


# --- fallbacks ---


@pytest.mark.parametrize("event", sorted(EVENT_TYPES))
def test_a_hook_that_fails_lets_things_go_on(event: str) -> None:
    assert hook_fallback(registration(event), "it crashed") == {"continue": True}


@pytest.mark.parametrize("event", sorted(event for event in ACCEPTED if can_block(event)))
def test_a_gate_that_fails_says_no_in_the_form_of_its_event(event: str) -> None:
    closed = hook_fallback(registration(event, "block"), "it crashed")
    assert closed == {
        "PreToolUse": specific(event, permissionDecision="deny", permissionDecisionReason="it crashed"),
        "PreModelSwitch": specific(event, permissionDecision="deny", permissionDecisionReason="it crashed"),
        "PermissionRequest": specific(
            event, decision={"behavior": "deny", "message": "it crashed", "interrupt": False}
        ),
        "Elicitation": DECLINED | specific(event, action="decline"),
        "ElicitationResult": DECLINED | specific(event, action="decline"),
    }.get(event, {"decision": "block", "reason": "it crashed"})


def test_a_gate_on_an_event_that_is_not_known_says_no_in_the_usual_form() -> None:
    assert hook_fallback(registration("SomethingNew", "block"), "x") == {"decision": "block", "reason": "x"}


# --- the table and the types say the same ---


def test_the_table_of_results_names_every_event() -> None:
    assert ACCEPTED.keys() == EVENT_TYPES.keys()


@pytest.mark.parametrize("event", sorted(EVENT_TYPES))
def test_the_types_of_the_decorators_agree_with_the_table(event: str) -> None:
    point = next(point for point in vars(Hooks).values() if getattr(point, "_event", None) == event)
    event_type, result_type = get_args(point.__orig_class__)
    universal = set(get_args(outcomes.AnyResult))
    assert event_type is EVENT_TYPES[event]
    assert set(get_args(result_type)) - universal == ACCEPTED[event]
