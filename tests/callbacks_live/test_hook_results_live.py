"""What hooks answer, in a live session: the exact words on the wire, and what they do to the turn."""

from __future__ import annotations

from typing import Any

import pytest
from support.live_session import live

from claude_actors import (
    Accept,
    AddContext,
    Allow,
    Ask,
    Block,
    CallbackContext,
    CallbackWarned,
    Continue,
    Decline,
    Deferred,
    Deny,
    Display,
    Hooks,
    ReplaceInput,
    ReplaceOutput,
    Retry,
    StopTurn,
    ToolPermissionRequest,
    UseWorktree,
    WatchPaths,
)
from claude_actors.hook_events import HookEvent, Stop
from claude_actors.testing import CallHook, UseTool, reply, script


def specific(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


DECLINED = {"decision": "block", "reason": "declined by a hook"}
ALLOW = {"behavior": "allow", "updatedInput": {"a": 1}}
DENY = {"behavior": "deny", "message": "no", "interrupt": False}
ANSWERS: list[tuple[str, Any, dict[str, Any]]] = [
    ("Stop", None, {"continue": True}),
    ("Stop", Continue(), {"continue": True}),
    ("Stop", Continue("psst", True), {"continue": True, "systemMessage": "psst", "suppressOutput": True}),
    ("Stop", StopTurn("enough"), {"continue": False, "stopReason": "enough"}),
    ("Stop", Deferred(), {"async": True}),
    ("Stop", Deferred(1.5), {"async": True, "asyncTimeout": 1500}),
    ("Stop", Block("go on"), {"decision": "block", "reason": "go on"}),
    ("PreToolUse", Deny("no"), specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no")),
    ("PreToolUse", Block("no"), specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no")),
    ("PreToolUse", Ask("sure?"), specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?")),
    ("PreToolUse", Allow(), specific("PreToolUse", permissionDecision="allow")),
    ("PreToolUse", Allow({"a": 1}), specific("PreToolUse", permissionDecision="allow", updatedInput={"a": 1})),
    ("PreToolUse", ReplaceInput({"a": 1}), specific("PreToolUse", updatedInput={"a": 1})),
    ("PostToolUse", AddContext("mind"), specific("PostToolUse", additionalContext="mind")),
    ("PostToolUse", ReplaceOutput("x"), specific("PostToolUse", updatedToolOutput="x")),
    ("UserPromptSubmit", AddContext("mind"), specific("UserPromptSubmit", additionalContext="mind")),
    ("UserPromptSubmit", Deny("no"), {"decision": "block", "reason": "no"}),
    ("PermissionRequest", Allow({"a": 1}), specific("PermissionRequest", decision=ALLOW)),
    ("PermissionRequest", Deny("no"), specific("PermissionRequest", decision=DENY)),
    ("PermissionDenied", Retry(), specific("PermissionDenied", retry=True)),
    ("Elicitation", Accept({"a": 1}), specific("Elicitation", action="accept", content={"a": 1})),
    ("Elicitation", Decline(), DECLINED | specific("Elicitation", action="decline")),
    ("WorktreeCreate", UseWorktree("/w"), specific("WorktreeCreate", worktreePath="/w")),
    ("FileChanged", WatchPaths(["/a"]), specific("FileChanged", watchPaths=["/a"])),
    ("MessageDisplay", Display("x"), specific("MessageDisplay", displayContent="x")),
    ("BrandNew", Block("no"), {"decision": "block", "reason": "no"}),
    ("BrandNew", {"any": {"thing": [1, None]}}, {"any": {"thing": [1, None]}}),
    ("Stop", {}, {}),
]


def answering(value: Any) -> Any:
    return lambda event, ctx: value


def test_each_result_is_sent_in_the_words_of_its_event() -> None:
    hooks = Hooks()
    for event, result, _ in ANSWERS:
        hooks.on(event)(answering(result))
    steps = [CallHook(event, callback_id=f"hook_{n}", label=str(n)) for n, (event, _, _) in enumerate(ANSWERS)]
    with live(script("hi", on_ready=tuple(steps)), hooks=hooks) as stage:
        stage.ask()
        assert [stage.answer(str(n)) for n in range(len(ANSWERS))] == [output for _, _, output in ANSWERS]
        assert stage.events(CallbackWarned) == []


@pytest.mark.parametrize(
    ("on_failure", "expected"),
    [
        ("open", {"continue": True}),
        ("block", {"decision": "block", "reason": "PreCompact cannot honour Allow"}),
    ],
)
def test_a_result_without_meaning_for_its_event_is_warned_of_and_takes_the_fallback(
    on_failure: Any, expected: dict[str, Any]
) -> None:
    hooks = Hooks()
    hooks.on("PreCompact", on_failure=on_failure)(answering(Allow({"a": 1})))
    with live(script(reply(CallHook("PreCompact", label="odd"), "done")), hooks=hooks) as stage:
        stage.ask()
        (warned,) = stage.events(CallbackWarned)
        assert (warned.kind, warned.name, warned.warning) == ("hook", "hook_0", "PreCompact cannot honour Allow")
        assert stage.answer("odd") == expected


def test_a_denied_tool_does_not_run_and_the_model_reads_why() -> None:
    hooks = Hooks()
    hooks.pre_tool_use(answering(Deny("not on my machine")))
    with live(script(reply(UseTool("Bash", {"command": "ls"}, result="files")), "done"), hooks=hooks) as stage:
        result = stage.ask()
        assert "not on my machine" in stage.told()[1]
        assert [denial["tool_name"] for denial in result.permission_denials or []] == ["Bash"]


def test_a_denial_with_interrupt_ends_the_turn() -> None:
    hooks = Hooks()
    hooks.pre_tool_use(answering(Deny("stop it all", interrupt=True)))
    with live(script(reply(UseTool("Bash", {"command": "ls"})), "never said"), hooks=hooks) as stage:
        stage.ask()
        assert len(stage.told()) == 1


def test_a_changed_input_is_what_the_tool_gets() -> None:
    hooks = Hooks()
    hooks.pre_tool_use(answering(Allow(updated_input={"file_path": "b.txt", "content": "changed"})))
    write = UseTool("Write", {"file_path": "a.txt", "content": "as it was"})
    with live(script(reply(write), "done"), hooks=hooks) as stage:
        stage.ask()
        assert (stage.fake.cwd / "b.txt").read_text() == "changed"
        assert not (stage.fake.cwd / "a.txt").exists()


@pytest.mark.parametrize("result", [ReplaceInput({"command": "touch y"}), Ask("sure?")])
def test_asking_and_a_changed_input_leave_the_decision_to_the_permission_callback(result: Any) -> None:
    asked: list[ToolPermissionRequest] = []

    def decide(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        asked.append(request)
        return Allow()

    hooks = Hooks()
    hooks.pre_tool_use(answering(result))
    command = "ls" if isinstance(result, Ask) else "touch x"
    done = script(reply(UseTool("Bash", {"command": command})), "done")
    with live(done, hooks=hooks, can_use_tool=decide) as stage:
        stage.ask()
    (request,) = asked
    if isinstance(result, Ask):
        assert (request.decision_reason, request.decision_reason_type) == ("sure?", "hook")
    else:
        assert request.input == {"command": "touch y"}


def test_a_blocked_prompt_never_reaches_the_model() -> None:
    hooks = Hooks()
    hooks.user_prompt_submit(answering(Block("no secrets")))
    with live(script("never said"), hooks=hooks) as stage:
        stage.ask()
        assert stage.told() == []


def test_a_blocked_stop_makes_the_model_go_on_once() -> None:
    hooks = Hooks()

    @hooks.stop
    async def tests_first(event: Stop, ctx: CallbackContext) -> Block | None:
        return None if event.stop_hook_active else Block("run the tests first")

    with live(script("finished", "now really"), hooks=hooks) as stage:
        assert stage.ask().result == "now really"
        assert "run the tests first" in stage.told()[1]


def test_a_deferred_answer_lets_the_cli_go_on_at_once() -> None:
    hooks, seen = Hooks(), []

    @hooks.pre_tool_use
    def later(event: HookEvent, ctx: CallbackContext) -> Deferred:
        seen.append(event)
        return Deferred(timeout=30)

    with live(script(reply(UseTool("Bash", {"command": "ls"}, result="files")), "done"), hooks=hooks) as stage:
        assert stage.ask().result == "done"
        assert "files" in stage.told()[1]
    assert len(seen) == 1


def test_the_strictest_of_several_hooks_wins() -> None:
    hooks = Hooks()
    for result in (Allow(), Deny("no"), None):
        hooks.pre_tool_use(answering(result))
    with live(script(reply(UseTool("Bash", {"command": "ls"}, result="files")), "done"), hooks=hooks) as stage:
        stage.ask()
        assert "files" not in stage.told()[1]
