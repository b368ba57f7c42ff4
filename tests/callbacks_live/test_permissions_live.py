"""The permission callback in a live session: what it is asked, what its answers do, and that it fails closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from support.leaks import wait_until
from support.live_session import DEADLINE, live

from claude_actors import (
    AddDirectories,
    AddRules,
    Allow,
    CallbackCancelled,
    CallbackContext,
    CallbackCrashed,
    CallbackTimedOut,
    CanUseToolShadowedWarning,
    Decision,
    Deny,
    Hooks,
    Options,
    PermissionRule,
    SetMode,
    ToolPermissionRequest,
    allow_tools,
    audit,
    deny_tools,
    first_decision,
    read_only,
    start_session,
)
from claude_actors.actors.background_log import BACKGROUND_LOG
from claude_actors.testing import AskPermission, UseTool, reply, script

TOUCH = reply(UseTool("Bash", {"command": "touch x"}, id="toolu_1", result="touched"))


class Asked:
    """A permission callback that remembers what it was asked."""

    def __init__(self, answer: Any = None) -> None:
        self.requests: list[ToolPermissionRequest] = []
        self.contexts: list[CallbackContext] = []
        self._answer = answer if answer is not None else Allow()

    def __call__(self, request: ToolPermissionRequest, ctx: CallbackContext) -> Any:
        self.requests.append(request)
        self.contexts.append(ctx)
        return self._answer(request) if callable(self._answer) else self._answer


def test_setting_the_callback_has_the_cli_ask_it_and_without_it_nobody_is_asked() -> None:
    with live(script(TOUCH, "done"), can_use_tool=Asked()) as stage:
        assert "--permission-prompt-tool=stdio" in stage.fake.runs()[0].argv
    with live(script(TOUCH, "done")) as stage:
        assert not any("--permission-prompt-tool" in word for word in stage.fake.runs()[0].argv)
        stage.ask()
        assert "haven't granted" in stage.told()[1]


def test_the_callback_sees_everything_that_the_cli_sends() -> None:
    extra = {
        "title": "May I?",
        "blocked_path": "/etc",
        "decision_reason": "a rule",
        "decision_reason_type": "rule",
        "agent_id": "agent_7",
        "requires_user_interaction": True,
        "brand_new": [1],
    }
    ask = AskPermission("Bash", {"command": "ls", "description": "List"}, tool_use_id="toolu_9", extra=extra)
    asked = Asked()
    with live(script(reply(ask, "done")), can_use_tool=asked) as stage:
        stage.ask()
        (request,), (ctx,) = asked.requests, asked.contexts
        assert (request.tool_name, request.display_name, request.description) == ("Bash", "Bash", "List")
        assert request.input == {"command": "ls", "description": "List"}
        assert (request.title, request.blocked_path, request.agent_id) == ("May I?", "/etc", "agent_7")
        assert (request.decision_reason, request.decision_reason_type) == ("a rule", "rule")
        assert request.requires_user_interaction is True
        assert request.raw["brand_new"] == [1]
        assert request.suggestions == (
            AddRules((PermissionRule("Bash", "ls *"),), "allow", "localSettings"),
            AddDirectories((str(stage.fake.cwd),)),
            SetMode("acceptEdits"),
        )
        assert (ctx.session, ctx.tool_use_id, request.tool_use_id) == (stage.session, "toolu_9", "toolu_9")


def test_allow_without_an_input_sends_the_original_one() -> None:
    with live(script(reply(AskPermission("Bash", {"command": "ls"}), "done")), can_use_tool=Asked()) as stage:
        stage.ask()
        assert stage.answer("ask_permission") == {"behavior": "allow", "updatedInput": {"command": "ls"}}


def test_allow_with_an_input_runs_the_tool_with_it() -> None:
    answer = Asked(lambda request: Allow({**request.input, "content": "changed"}))
    with live(
        script(reply(UseTool("Write", {"file_path": "a", "content": "x"})), "done"), can_use_tool=answer
    ) as stage:
        stage.ask()
        assert (stage.fake.cwd / "a").read_text() == "changed"


def test_a_suggestion_is_accepted_by_passing_it_back() -> None:
    answer = Asked(lambda request: Allow(updated_permissions=request.suggestions[:1]))
    # The CLI makes a rule of the suggestion, so the second call is not asked about.
    with live(
        script(TOUCH, TOUCH, reply(AskPermission("Bash", {"command": "ls"}), "done")), can_use_tool=answer
    ) as stage:
        stage.ask()
        assert [request.input["command"] for request in answer.requests] == ["touch x", "ls"]
        assert stage.answer("ask_permission")["updatedPermissions"] == [
            {
                "type": "addRules",
                "rules": [{"toolName": "Bash", "ruleContent": "ls *"}],
                "behavior": "allow",
                "destination": "localSettings",
            }
        ]


def test_deny_is_read_by_the_model() -> None:
    with live(script(TOUCH, "done"), can_use_tool=Asked(Deny("not today"))) as stage:
        assert stage.ask().result == "done"
        assert "not today" in stage.told()[1]


def test_deny_with_interrupt_ends_the_turn() -> None:
    with live(script(TOUCH, "never said", "later"), can_use_tool=Asked(Deny("stop", interrupt=True))) as stage:
        assert stage.ask().is_error
        assert len(stage.told()) == 1


def test_a_plain_dict_is_sent_as_it_is() -> None:
    answer = {"behavior": "deny", "message": "no", "brand_new": 1}
    with live(script(reply(AskPermission("Bash"), "done")), can_use_tool=Asked(answer)) as stage:
        stage.ask()
        assert stage.answer("ask_permission") == answer


def _raise(request: ToolPermissionRequest, ctx: CallbackContext) -> Any:
    raise LookupError("lost")


async def _raise_later(request: ToolPermissionRequest, ctx: CallbackContext) -> Any:
    raise LookupError("lost")


FAILING: list[Callable[..., Any]] = [
    _raise,
    _raise_later,
    lambda request, ctx: None,
    lambda request, ctx: True,
    lambda request, ctx: Allow({"command": object()}),
    lambda request, ctx: {"behavior": object()},
]


@pytest.mark.parametrize("callback", FAILING)
def test_a_callback_that_fails_denies(callback: Any) -> None:
    with live(script(TOUCH, "done"), can_use_tool=callback) as stage:
        assert stage.ask().result == "done"
        assert "the permission callback gave no answer" in stage.told()[1]
        (crashed,) = stage.events(CallbackCrashed)
        assert (crashed.kind, crashed.name) == ("permission", "Bash")


def test_a_callback_that_overruns_denies_and_is_cancelled() -> None:
    began: list[CallbackContext] = []
    ended: list[str | None] = []

    async def think(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        began.append(ctx)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(ctx.cancel_reason)
        return Allow()

    with live(script(TOUCH, "done"), can_use_tool=think, permission_timeout=0.05) as stage:
        assert stage.ask().result == "done"
        assert "touched" not in stage.told()[1]
        assert stage.next_event(CallbackTimedOut).kind == "permission"
    # On a slow machine the time may be over before the coroutine has begun.
    assert wait_until(lambda: ended == ["timed_out"] * len(began))


def test_a_request_that_a_hook_decides_is_withdrawn_from_the_callback() -> None:
    hooks = Hooks()
    hooks.permission_request(lambda event, ctx: Allow())
    reasons: list[str | None] = []

    def wait(request: ToolPermissionRequest, ctx: CallbackContext) -> Deny:
        ctx.wait_cancelled(DEADLINE)
        reasons.append(ctx.cancel_reason)
        return Deny("too late")

    with live(script(TOUCH, "done"), hooks=hooks, can_use_tool=wait) as stage:
        assert stage.ask().result == "done"
        assert "touched" in stage.told()[1]
        assert stage.next_event(CallbackCancelled).kind == "permission"
        assert wait_until(lambda: reasons == ["cancelled"])


def test_a_permission_question_without_a_callback_is_denied_and_is_no_crash() -> None:
    options = {"permission_prompt_tool_name": "stdio"}
    with live(script(reply(AskPermission("Bash", {"command": "ls"}), "done")), **options) as stage:
        stage.ask()
        assert stage.answer("ask_permission")["behavior"] == "deny"
        assert stage.events(CallbackCrashed) == []


# --- policies ---


def test_policies_compose_and_the_first_opinion_counts() -> None:
    late = Asked(Deny("the last one"))
    policy = first_decision(
        deny_tools("Bash", where={"command": r"\brm\b"}, message="no rm"),
        allow_tools("Bash"),
        read_only("read only"),
        late,
    )
    steps = [
        AskPermission("Bash", {"command": "rm x"}, label="rm"),
        AskPermission("Bash", {"command": "touch x"}, label="touch"),
        AskPermission("Read", {"file_path": "x"}, label="read"),
        AskPermission("Write", {"file_path": "x"}, label="write"),
    ]
    with live(script(reply(*steps, "done")), can_use_tool=policy) as stage:
        stage.ask()
        answers = {label: stage.answer(label) for label in ("rm", "touch", "read", "write")}
    assert {label: answer["behavior"] for label, answer in answers.items()} == {
        "rm": "deny",
        "touch": "allow",
        "read": "allow",
        "write": "deny",
    }
    assert (answers["rm"]["message"], answers["write"]["message"]) == ("no rm", "read only")
    assert late.requests == []


def test_every_decision_is_recorded_before_it_takes_effect() -> None:
    decisions: list[Decision] = []
    policy = audit(first_decision(allow_tools("Read"), default=Deny("no")), decisions.append)
    steps = [AskPermission("Read", {"file_path": "secret"}), AskPermission("Bash", {"command": "secret"})]
    with live(script(reply(*steps, "done")), can_use_tool=policy) as stage:
        stage.ask()
        assert [(one.outcome, one.tool_name, one.session_id) for one in decisions] == [
            ("allow", "Read", stage.session.session_id),
            ("deny", "Bash", stage.session.session_id),
        ]
        assert "secret" not in repr(decisions)


def test_what_cannot_be_recorded_is_denied() -> None:
    def full(decision: Decision) -> None:
        raise OSError("disk full")

    with live(script(TOUCH, "done"), can_use_tool=audit(allow_tools("*"), full)) as stage:
        stage.ask()
        assert "touched" not in stage.told()[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(
            {"permission_mode": "dontAsk"},
            "dontAsk",
            marks=pytest.mark.filterwarnings("ignore::claude_actors.CanUseToolShadowedWarning"),
        ),
        ({"allowed_tools": ["Bash", "Read(*)"]}, "never asked about Bash"),
    ],
)
def test_options_that_shadow_the_callback_are_warned_of(
    options: dict[str, Any], words: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.WARNING)
    with live(script("hi"), can_use_tool=Asked(), **options) as stage:
        stage.ask()
    assert BACKGROUND_LOG.flush(DEADLINE)
    logged = caplog.text + capfd.readouterr().out
    assert "permission_callback_shadowed" in logged
    assert words in logged


def test_a_callback_that_is_never_asked_is_warned_of_where_the_session_is_started() -> None:
    options = Options(cli_path="/nowhere", can_use_tool=Asked(), permission_mode="dontAsk")
    with pytest.warns(CanUseToolShadowedWarning, match="dontAsk") as seen, start_session(None, options, wait=False):
        pass
    assert [warning.filename for warning in seen] == [__file__]


# --- plans ---

PLAN = reply(UseTool("ExitPlanMode", {"plan": "1. look\n2. leap"}))


@pytest.mark.parametrize("answer", [Allow(), Deny("look longer")])
def test_a_plan_is_approved_or_refused_through_the_permission_callback(answer: Allow | Deny) -> None:
    asked = Asked(answer)
    with live(script(PLAN, "done"), can_use_tool=asked, permission_mode="plan") as stage:
        assert stage.ask().result == "done"
        assert [request.plan for request in asked.requests] == ["1. look\n2. leap"]
        assert ("approved your plan" if isinstance(answer, Allow) else "look longer") in stage.told()[1]
