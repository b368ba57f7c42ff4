"""The same promises on the real CLI: hooks, permissions, plan approval, typed tools, an official server."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from support.live_session import DEADLINE

from claude_actors import (
    AddContext,
    AddRules,
    Allow,
    Approvals,
    CallbackContext,
    CallbackCrashed,
    CallbackTimedOut,
    Deny,
    Hooks,
    Session,
    ToolError,
    ToolServer,
    start_session,
)
from claude_actors.hook_events import PreToolUse, UserPromptSubmit
from claude_actors.testing import RealCLI, UseTool, reply
from claude_actors.testing.script import Scripted

pytestmark = pytest.mark.real_cli
PERMIT: dict[str, Any] = {"can_use_tool": lambda request, ctx: Allow()}


class Real:
    """A session on the real CLI and what its model was told."""

    def __init__(self, cli: RealCLI, session: Session) -> None:
        self.cli, self.session = cli, session

    def ask(self, prompt: str = "go") -> str | None:
        return self.session.send(prompt).result(DEADLINE).result

    def tool_result(self, tool_use_id: str) -> Any:
        """The content of a tool's result as the model got it."""
        found = [request.tool_result(tool_use_id) for request in self.cli.api.requests]
        return next(result for result in found if result is not None)["content"]


@contextmanager
def real(*replies: Scripted, **options: Any) -> Iterator[Real]:
    generous = {"initialize_timeout": DEADLINE, "control_timeout": DEADLINE}
    with (
        RealCLI(*replies) as cli,
        start_session(None, cli.options(**{**generous, **options})) as session,
    ):
        yield Real(cli, session)


def bash(command: str, tool_use_id: str) -> Any:
    return reply(UseTool("Bash", {"command": command, "description": "a test"}, id=tool_use_id))


def test_hooks_guard_change_and_fail_as_they_were_registered() -> None:
    hooks, seen = Hooks(), []

    @hooks.pre_tool_use(matcher="Bash")
    def guard(event: PreToolUse, ctx: CallbackContext) -> Deny | Allow | None:
        seen.append((event, ctx.tool_use_id))
        command = event.tool_input["command"]
        if "rm" in command:
            return Deny("not on my machine")
        return Allow(updated_input={**event.tool_input, "command": "echo changed"}) if "change" in command else None

    @hooks.pre_tool_use(matcher="Bash")
    def broken(event: PreToolUse, ctx: CallbackContext) -> None:
        raise LookupError("an open hook lets things pass")

    @hooks.pre_tool_use(matcher="Write", on_failure="block")
    def broken_gate(event: PreToolUse, ctx: CallbackContext) -> None:
        raise LookupError("a gate does not")

    @hooks.pre_tool_use(matcher="Bash", timeout=0.2)
    def slow(event: PreToolUse, ctx: CallbackContext) -> None:
        ctx.wait_cancelled(DEADLINE)

    @hooks.user_prompt_submit
    async def remind(event: UserPromptSubmit, ctx: CallbackContext) -> AddContext:
        return AddContext("remember the milk")

    @hooks.pre_tool_use(matcher="Read")
    def never(event: PreToolUse, ctx: CallbackContext) -> Deny:
        raise AssertionError("no Read is used here")

    replies = (
        bash("rm -rf x", "toolu_rm"),
        bash("echo change me", "toolu_change"),
        bash("echo plain", "toolu_plain"),
        reply(UseTool("Write", {"file_path": "x.txt", "content": "x"}, id="toolu_write")),
        "done",
    )
    with real(*replies, hooks=hooks) as stage:
        assert stage.ask() == "done"
        assert "not on my machine" in stage.tool_result("toolu_rm")
        assert stage.tool_result("toolu_change") == "changed"
        assert stage.tool_result("toolu_plain") == "plain"
        assert "the PreToolUse gate gave no answer" in stage.tool_result("toolu_write")
        assert b"remember the milk" in msgspec.json.encode(stage.cli.api.requests[0].messages)
        info = stage.session.server_info()
        assert info is not None
        assert info.hook_on_failure_supported is True
        events = [stage.session.events().get(DEADLINE) for _ in range(len(stage.session.events()))]
    assert [tool_use_id for _, tool_use_id in seen] == ["toolu_rm", "toolu_change", "toolu_plain"]
    event = seen[0][0]
    assert (event.tool_name, event.tool_use_id) == ("Bash", "toolu_rm")
    assert event.raw["tool_input"]["command"] == "rm -rf x"
    assert {one.name for one in events if isinstance(one, CallbackCrashed)} == {"hook_1", "hook_2"}
    assert {one.name for one in events if isinstance(one, CallbackTimedOut)} == {"hook_3"}


def test_a_person_accepts_a_suggestion_and_is_not_asked_again() -> None:
    replies = (bash("touch a.txt", "toolu_1"), bash("touch a.txt", "toolu_2"), bash("mkdir b", "toolu_3"), "done")
    with real(*replies, can_use_tool=Approvals(), permission_timeout=None) as stage:
        turn = stage.session.send("go")
        first = stage.session.permissions().get(DEADLINE)
        assert (first.tool_name, first.input["command"]) == ("Bash", "touch a.txt")
        assert stage.session.snapshot().pending_permissions == ("Bash",)
        rules = [update for update in first.suggestions if isinstance(update, AddRules)]
        assert first.allow(updated_permissions=rules)
        # The second call is covered by the accepted rule: the next question is about the third.
        second = stage.session.permissions().get(DEADLINE)
        assert second.input["command"] == "mkdir b"
        assert second.deny("no directories")
        assert turn.result(DEADLINE).result == "done"
        assert "no directories" in stage.tool_result("toolu_3")
        assert (stage.cli.cwd / "a.txt").exists()
        assert not (stage.cli.cwd / "b").exists()


def test_a_plan_is_refused_and_then_approved_by_a_person() -> None:
    hooks, plan = Hooks(), "1. look\n2. leap"
    replies = (
        reply(UseTool("Write", {"file_path": "plan", "content": plan})),
        reply(UseTool("ExitPlanMode", {}, id="toolu_1")),
        reply(UseTool("ExitPlanMode", {}, id="toolu_2")),
        "done",
    )

    @hooks.pre_tool_use(matcher="Write")
    def to_plan_file(event: PreToolUse, ctx: CallbackContext) -> Allow:
        # The CLI takes the plan from a file that it names to the model.
        told = msgspec.json.encode(stage.cli.api.requests[0].messages).decode()
        (path, *_) = re.findall(r"/[^\s\"]+/plans/[\w-]+\.md", told)
        return Allow(updated_input={**event.tool_input, "file_path": path})

    options: dict[str, Any] = {"can_use_tool": Approvals(), "permission_timeout": None, "permission_mode": "plan"}
    with real(*replies, hooks=hooks, **options) as stage:
        turn = stage.session.send("plan it")
        first = stage.session.permissions().get(DEADLINE)
        assert (first.tool_name, first.plan) == ("ExitPlanMode", plan)
        assert first.deny("look longer")
        second = stage.session.permissions().get(DEADLINE)
        assert second.plan == plan
        assert second.allow()
        assert turn.result(DEADLINE).result == "done"
        assert "look longer" in str(stage.tool_result("toolu_1"))
        assert "approved" in str(stage.tool_result("toolu_2"))


class Order(msgspec.Struct):
    article: str
    amount: int = 1


class Bill(msgspec.Struct):
    total: int
    tool_use_id: str | None


def shop(price: int) -> ToolServer:
    server = ToolServer("shop")

    @server.tool
    async def buy(order: Order, ctx: CallbackContext) -> Bill:
        """Buy something."""
        if order.amount > 9:
            raise ToolError("sold out")
        return Bill(order.amount * price, ctx.tool_use_id)

    return server


def test_typed_tools_run_fail_and_are_replaced_at_run_time() -> None:
    def buy(amount: object, tool_use_id: str) -> Any:
        return reply(UseTool("mcp__shop__buy", {"article": "apple", "amount": amount}, id=tool_use_id))

    replies = (buy(3, "toolu_1"), buy(10, "toolu_2"), buy("x", "toolu_3"), "a", "b", buy(3, "toolu_4"), "c")
    with real(*replies, buy(1, "toolu_5"), "d", mcp_servers={"shop": shop(7)}, **PERMIT) as stage:
        assert stage.ask() == "a"
        assert msgspec.json.decode(text_of(stage.tool_result("toolu_1"))) == {"total": 21, "tool_use_id": "toolu_1"}
        assert "sold out" in str(stage.tool_result("toolu_2"))
        assert "Expected `int`, got `str`" in str(stage.tool_result("toolu_3"))
        change = stage.session.set_mcp_servers({"shop": shop(100)})
        assert (change.added, change.removed, change.errors) == (["shop"], ["shop"], {})
        # A new server is greeted in the background: the turn between gives the CLI time for it.
        assert stage.ask() == "b"
        assert stage.ask() == "c"
        assert msgspec.json.decode(text_of(stage.tool_result("toolu_4")))["total"] == 300
        assert stage.session.set_mcp_servers({}).removed == ["shop"]
        assert stage.ask() == "d"
        assert "No such tool" in str(stage.tool_result("toolu_5"))


def test_a_server_of_the_official_package_serves_the_real_cli() -> None:
    mcp: Any = pytest.importorskip("mcp.server")
    if hasattr(mcp, "MCPServer"):
        server = mcp.MCPServer("official")
    else:
        server = importlib.import_module("mcp.server.fastmcp").FastMCP("official")

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    server.tool()(add)
    use = reply(UseTool("mcp__calc__add", {"a": 2, "b": 3}, id="toolu_1"))
    with real(use, "done", mcp_servers={"calc": server}, **PERMIT) as stage:
        assert stage.ask() == "done"
        assert "5" in str(stage.tool_result("toolu_1"))
        assert [(state.name, state.status) for state in stage.session.mcp_status()] == [("calc", "connected")]


def text_of(content: Any) -> str:
    """The text of a tool result in either of its forms."""
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
