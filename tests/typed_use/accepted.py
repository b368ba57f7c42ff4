"""Callbacks as users write them; mypy --strict must accept every line (tox's `types` environment checks this file)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from claude_actors import (
    Accept,
    AddContext,
    AddRules,
    Allow,
    Approvals,
    Ask,
    Block,
    CallbackContext,
    Cancelled,
    Completed,
    Continue,
    Decision,
    Decline,
    Deferred,
    Deny,
    DialogRequest,
    ElicitationRequest,
    Hooks,
    Image,
    Options,
    PendingApproval,
    PermissionCallback,
    PermissionRule,
    ReplaceInput,
    ReplaceOutput,
    Session,
    StopTurn,
    ToolPermissionRequest,
    ToolServer,
    UseWorktree,
    allow_tools,
    audit,
    deny_tools,
    first_decision,
    read_only,
)
from claude_actors.hook_events import (
    Elicitation,
    HookEvent,
    PermissionRequest,
    PostToolUse,
    PreToolUse,
    SessionStart,
    Stop,
    UserPromptSubmit,
    WorktreeCreate,
)

hooks = Hooks()


@hooks.pre_tool_use(matcher="Bash", timeout=5, on_failure="block")
def guard(event: PreToolUse, ctx: CallbackContext) -> Deny | Ask | None:
    if ctx.cancelled:
        return None
    command: str = event.tool_input.get("command", "")
    return Deny("not here") if "rm -rf" in command else Ask("sure?") if "rm" in command else None


@hooks.pre_tool_use
async def rewrite(event: PreToolUse, ctx: CallbackContext) -> Allow | ReplaceInput:
    return Allow(updated_input={"command": "ls"}) if event.agent_id is None else ReplaceInput({"command": "pwd"})


@hooks.post_tool_use
def redact(event: PostToolUse, ctx: CallbackContext) -> ReplaceOutput | AddContext:
    return ReplaceOutput("hidden") if event.tool_response is None else AddContext("nothing was hidden")


@hooks.user_prompt_submit
def check(event: UserPromptSubmit, ctx: CallbackContext) -> Block | StopTurn | Continue:
    return Block("no") if "secret" in event.prompt else StopTurn("later") if not event.prompt else Continue()


@hooks.stop()
async def finish(event: Stop, ctx: CallbackContext) -> Block | None:
    return None if event.stop_hook_active else Block("run the tests first")


@hooks.permission_request
def decide(event: PermissionRequest, ctx: CallbackContext) -> Allow:
    return Allow(updated_permissions=event.suggestions)


@hooks.elicitation
def fill_in(event: Elicitation, ctx: CallbackContext) -> Accept:
    return Accept({"name": event.mcp_server_name})


@hooks.worktree_create
def make(event: WorktreeCreate, ctx: CallbackContext) -> UseWorktree:
    return UseWorktree(f"/worktrees/{event.name}")


@hooks.session_start
def observe(event: HookEvent, ctx: CallbackContext) -> None:
    """A callback may take a wider event than its own."""


def answer_as_it_is(event: HookEvent, ctx: CallbackContext) -> Mapping[str, Any]:
    return {"suppressOutput": True}


hooks.session_end(answer_as_it_is)
hooks.notification(timeout=1)(answer_as_it_is)


@hooks.on("SomethingNew", matcher="x", timeout=1.5)
def any_event(event: HookEvent, ctx: CallbackContext) -> Deferred:
    return Deferred(timeout=float(len(event.raw)))


@hooks.on("SessionStart")
def named(event: SessionStart, ctx: CallbackContext) -> AddContext:
    return AddContext(event.source)


kept: AddContext = named(SessionStart(source="startup"), CallbackContext())

# --- permissions ---


def permit(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow | Deny:
    if request.plan is not None:
        return Allow()
    if request.suggestions:
        return Allow(updated_permissions=request.suggestions)
    rule = AddRules((PermissionRule("Bash", "ls:*"),), "allow", "session")
    return Allow(updated_permissions=[rule]) if request.tool_name == "Bash" else Deny("no", interrupt=True)


async def permit_later(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
    return Allow(updated_input={**request.input, "timeout": 5})


def record(decision: Decision) -> None:
    """Keep it somewhere."""


approvals = Approvals()
callbacks: list[PermissionCallback] = [
    permit,
    permit_later,
    approvals,
    lambda request, ctx: Allow(),
    lambda request, ctx: {"behavior": "deny", "message": "no"},
    read_only(),
    first_decision(deny_tools("Web*"), allow_tools("Read"), permit_later, approvals, default=Deny("ask me first")),
    audit(first_decision(allow_tools("Bash", where={"command": "ls"}), permit), record),
    audit(approvals),
]

# --- questions ---


def fill_in_form(request: ElicitationRequest, ctx: CallbackContext) -> Accept | Decline:
    return Accept({"name": request.message}) if request.requested_schema else Decline()


async def choose(request: DialogRequest, ctx: CallbackContext) -> Completed | Cancelled:
    return Completed({"choice": 1}) if request.dialog_kind == "choose" else Cancelled()


# --- tools ---

server = ToolServer("shop", version="1.2.0")


class Order(msgspec.Struct):
    """One parameter that is a Struct stands for all arguments."""

    article: str
    amount: int = 1


@server.tool
def price(article: str, amount: int = 1) -> float:
    return len(article) * amount / 2


@server.tool(name="order", always_load=True)
async def place(order: Order, ctx: CallbackContext) -> Image | str:
    return Image(b"") if order.amount else f"nothing for {ctx.session_id}"


total: float = price("apple", amount=2)


def raw_server(message: dict[str, Any]) -> dict[str, Any] | None:
    return {"jsonrpc": "2.0", "id": message["id"], "result": {}} if "id" in message else None


options = Options(
    hooks=hooks,
    can_use_tool=first_decision(allow_tools("Read"), approvals),
    on_elicitation=fill_in_form,
    on_user_dialog=choose,
    mcp_servers={"shop": server, "raw": raw_server, "files": {"command": "files-server"}},
)


def review(session: Session) -> None:
    for pending in session.permissions():
        waiting: PendingApproval = pending
        answered: bool = waiting.allow(updated_permissions=pending.suggestions) or waiting.deny("too late anyhow")
        assert answered or waiting.done
