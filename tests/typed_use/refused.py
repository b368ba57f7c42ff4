"""Mistakes that the types must catch: each marked line is an error, and mypy --strict reports a mark without one."""

from __future__ import annotations

from typing import Any

from claude_actors import (
    Accept,
    AddContext,
    Allow,
    Approvals,
    Ask,
    Block,
    CallbackContext,
    Decline,
    Deny,
    DialogRequest,
    ElicitationRequest,
    Hooks,
    Options,
    PendingApproval,
    PermissionCallback,
    ReplaceOutput,
    SetMode,
    ToolPermissionRequest,
    ToolServer,
    allow_tools,
    first_decision,
)
from claude_actors.hook_events import HookEvent, PostToolUse, PreToolUse, SessionEnd, Stop, UserPromptSubmit

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


def option_mistakes() -> None:
    def answers_yes(request: ElicitationRequest, ctx: CallbackContext) -> bool:
        return True

    def declines(request: DialogRequest, ctx: CallbackContext) -> Decline:
        return Decline()

    Options(on_elicitation=answers_yes)  # type: ignore[arg-type]
    Options(on_user_dialog=declines)  # type: ignore[arg-type]
    Options(can_use_tool=lambda request: Allow())  # type: ignore[arg-type, misc]
    Options(hooks=[])  # type: ignore[arg-type]
    Options(permission_mode="yolo")  # type: ignore[arg-type]


def tool_mistakes() -> None:
    server = ToolServer("shop")

    @server.tool
    def price(article: str) -> float:
        return len(article) / 2

    # A registered tool is still the function that it was.
    price(3)  # type: ignore[arg-type]
    server.tool(nme="price")  # type: ignore[call-overload]
