"""Mistakes that the types must catch: each marked line is an error, and mypy --strict reports a mark without one."""

from __future__ import annotations

from typing import Any

from claude_actors.callbacks.approvals import Approvals, PendingApproval
from claude_actors.callbacks.context import CallbackContext
from claude_actors.callbacks.hooks import Hooks
from claude_actors.callbacks.policies import PermissionCallback, allow_tools, first_decision
from claude_actors.callbacks.results import Accept, AddContext, Allow, Ask, Block, Deny, ReplaceOutput
from claude_actors.wire.hook_inputs import HookEvent, PostToolUse, PreToolUse, Stop, UserPromptSubmit
from claude_actors.wire.permissions import SetMode, ToolPermissionRequest
from claude_actors.wire.session_hook_inputs import SessionEnd

hooks = Hooks()


# Functions that nobody calls hold what must only be type-checked.


def hook_mistakes() -> None:

    # A changed input from Stop.
    @hooks.stop  # type: ignore[arg-type]
    def stop_allows(event: Stop, ctx: CallbackContext) -> Allow:
        return Allow(updated_input={})

    # The same with arguments, and from a coroutine.
    @hooks.stop(timeout=5)  # type: ignore[arg-type]
    async def stop_allows_later(event: Stop, ctx: CallbackContext) -> Allow:
        return Allow(updated_input={})

    # A permission decision about a prompt.
    @hooks.user_prompt_submit  # type: ignore[arg-type]
    def prompt_asks(event: UserPromptSubmit, ctx: CallbackContext) -> Ask:
        return Ask()

    # Another output before the tool has run.
    @hooks.pre_tool_use  # type: ignore[arg-type]
    def early_output(event: PreToolUse, ctx: CallbackContext) -> ReplaceOutput:
        return ReplaceOutput("x")

    # A decision where there is none to take.
    @hooks.session_end  # type: ignore[arg-type]
    def end_blocks(event: SessionEnd, ctx: CallbackContext) -> Block | None:
        return None

    # The event of another hook.
    @hooks.pre_tool_use  # type: ignore[arg-type]
    def wrong_event(event: PostToolUse, ctx: CallbackContext) -> None: ...

    # A bool is no result, and neither is text.
    @hooks.pre_tool_use  # type: ignore[arg-type]
    def answers_bool(event: PreToolUse, ctx: CallbackContext) -> bool:
        return True

    @hooks.on("SomethingNew")  # type: ignore[type-var]
    def answers_text(event: HookEvent, ctx: CallbackContext) -> str:
        return "go on"

    # A callback without its context.
    @hooks.stop  # type: ignore[arg-type]
    def no_context(event: Stop) -> None: ...


def argument_mistakes() -> None:
    hooks.pre_tool_use(on_failure="closed")  # type: ignore[call-overload]
    hooks.pre_tool_use(timeout="60")  # type: ignore[call-overload]
    hooks.on("Stop", matcher=3)  # type: ignore[arg-type]


def permission_mistakes() -> None:
    def permits_nothing(request: ToolPermissionRequest, ctx: CallbackContext) -> None: ...

    def permits_true(request: ToolPermissionRequest, ctx: CallbackContext) -> bool:
        return True

    callback: PermissionCallback
    callback = permits_nothing  # type: ignore[assignment]
    callback = permits_true  # type: ignore[assignment]
    callback = allow_tools("Read")  # type: ignore[assignment]
    callback = lambda request, ctx: Ask()  # type: ignore[assignment, return-value] # noqa: E731
    first_decision(permits_true)  # type: ignore[arg-type]
    first_decision(allow_tools("Read"), default="deny")  # type: ignore[arg-type]
    _ = callback


def value_mistakes() -> None:
    Allow(updated_input="ls")  # type: ignore[arg-type]
    Allow(updated_permissions=["plan"])  # type: ignore[list-item]
    Deny(interrupt="yes")  # type: ignore[arg-type]
    Block()  # type: ignore[call-arg]
    AddContext()  # type: ignore[call-arg]
    Accept("yes")  # type: ignore[arg-type]
    SetMode("yolo")  # type: ignore[arg-type]
    Deny("no").message = "yes"  # type: ignore[misc]
    PreToolUse(tool_name="Bash")  # type: ignore[call-arg]

    def review(pending: PendingApproval, approvals: Approvals) -> Any:
        pending.allow("ls")  # type: ignore[arg-type]
        return approvals.mailbox.get().answer()  # type: ignore[attr-defined]
