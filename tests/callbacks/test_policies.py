"""Permission policies: they match what they name, compose in order, and deny what nobody allows."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from concurrent.futures import Future
from typing import Any

import pytest

from claude_actors.callbacks.context import CallbackContext
from claude_actors.callbacks.policies import (
    READING_TOOLS,
    Policy,
    allow_tools,
    deny_tools,
    first_decision,
    read_only,
)
from claude_actors.callbacks.results import Allow, Deny
from claude_actors.errors import InvalidOptions
from claude_actors.wire.permissions import ToolPermissionRequest

CTX = CallbackContext(request_id="r")


def request(tool_name: str = "Bash", **tool_input: Any) -> ToolPermissionRequest:
    return ToolPermissionRequest(tool_name=tool_name, input=tool_input)


def no_opinion(request: ToolPermissionRequest, ctx: CallbackContext) -> None:
    """Leave it to others."""


async def no_opinion_later(request: ToolPermissionRequest, ctx: CallbackContext) -> None:
    await asyncio.sleep(0)


async def deny_later(request: ToolPermissionRequest, ctx: CallbackContext) -> Deny:
    await asyncio.sleep(0)
    return Deny("later")


def never_asked(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
    raise AssertionError("a decision was there before")


def awaited(value: object) -> object:
    assert isinstance(value, Awaitable)

    async def wait() -> object:
        return await value

    return asyncio.run(wait())


def test_tools_are_allowed_by_name_and_by_pattern() -> None:
    policy = allow_tools("Read", "mcp__github__*")
    assert policy(request("Read"), CTX) == Allow()
    assert policy(request("mcp__github__list"), CTX) == Allow()
    assert policy(request("mcp__gitlab__list"), CTX) is None
    assert policy(request("read"), CTX) is None


def test_an_allowed_input_must_match_as_a_whole() -> None:
    policy = allow_tools("Bash", where={"command": r"git (status|log)"})
    assert policy(request(command="git status"), CTX) == Allow()
    assert policy(request(command="git status; rm -rf /"), CTX) is None
    assert policy(request(command="git status\nrm -rf /"), CTX) is None
    assert policy(request("Edit", command="git status"), CTX) is None


def test_every_pattern_must_match_and_a_missing_field_matches_none() -> None:
    policy = allow_tools("Bash", where={"command": "ls", "timeout": r"\d+"})
    assert policy(request(command="ls", timeout=30), CTX) == Allow()
    assert policy(request(command="ls", timeout="long"), CTX) is None
    assert policy(request(command="ls"), CTX) is None


def test_a_denied_input_is_found_anywhere() -> None:
    policy = deny_tools("Bash", where={"command": re.compile(r"\brm\b")}, message="no removals")
    assert policy(request(command="cd /tmp && rm -rf x"), CTX) == Deny("no removals")
    assert policy(request(command="ls"), CTX) is None
    assert policy(request(command=["rm", "x"]), CTX) == Deny("no removals")


def test_tools_are_denied_by_name() -> None:
    assert deny_tools("Web*")(request("WebFetch"), CTX) == Deny("this tool is not allowed here")
    assert deny_tools("Web*")(request("Bash"), CTX) is None


@pytest.mark.parametrize("make", [allow_tools, deny_tools])
def test_a_policy_that_could_never_work_is_refused_when_it_is_made(make: Any) -> None:
    with pytest.raises(InvalidOptions, match="names"):
        make()
    with pytest.raises(InvalidOptions, match="names"):
        make("")
    with pytest.raises(InvalidOptions, match="command"):
        make("Bash", where={"command": "("})
    with pytest.raises(InvalidOptions, match="command"):
        make("Bash", where={"command": 3})


def test_read_only_allows_looking_and_denies_all_else() -> None:
    policy = read_only()
    assert all(policy(request(tool), CTX) == Allow() for tool in READING_TOOLS)
    assert policy(request("Bash"), CTX) == Deny("only reading is allowed here")
    assert policy(request("WebFetch"), CTX) == Deny("only reading is allowed here")
    assert read_only("look only")(request("Write"), CTX) == Deny("look only")


def test_the_first_opinion_decides_and_the_others_are_not_asked() -> None:
    decide = first_decision(no_opinion, deny_tools("Bash"), never_asked)
    assert decide(request(), CTX) == Deny("this tool is not allowed here")


def test_what_nobody_allows_is_denied_unless_the_default_says_otherwise() -> None:
    assert first_decision(no_opinion)(request(), CTX) == Deny("no policy allows this tool")
    assert first_decision()(request(), CTX) == Deny("no policy allows this tool")
    assert first_decision(no_opinion, default=Allow())(request(), CTX) == Allow()


def test_a_plain_mapping_is_an_opinion() -> None:
    decide = first_decision(lambda request, ctx: {"behavior": "deny", "message": "x"}, never_asked)
    assert decide(request(), CTX) == {"behavior": "deny", "message": "x"}


@pytest.mark.parametrize(
    ("policies", "decision"),
    [
        ((no_opinion, deny_later, never_asked), Deny("later")),
        ((no_opinion_later, no_opinion, deny_later, never_asked), Deny("later")),
        ((no_opinion_later, allow_tools("Bash"), never_asked), Allow()),
        ((no_opinion_later, no_opinion_later), Deny("no policy allows this tool")),
    ],
)
def test_sync_and_async_policies_compose(policies: tuple[Policy, ...], decision: object) -> None:
    assert awaited(first_decision(*policies)(request(), CTX)) == decision


def test_a_policy_that_answers_later_decides() -> None:
    future: Future[Allow] = Future()
    decide = first_decision(no_opinion, lambda request, ctx: future, never_asked)
    assert decide(request(), CTX) is future


def test_a_coroutine_waits_for_the_policy_that_answers_later() -> None:
    future: Future[Allow] = Future()
    future.set_result(Allow())
    decide = first_decision(no_opinion_later, lambda request, ctx: future)
    assert awaited(decide(request(), CTX)) == Allow()


def test_cancelling_the_coroutine_withdraws_the_question_of_the_policy_that_answers_later() -> None:
    future: Future[Allow] = Future()
    asked = asyncio.Event()

    def ask(request: ToolPermissionRequest, ctx: CallbackContext) -> Future[Allow]:
        asked.set()
        return future

    async def cancel_while_waiting() -> None:
        verdict = first_decision(no_opinion_later, ask)(request(), CTX)
        assert asyncio.iscoroutine(verdict)
        task = asyncio.create_task(verdict)
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_while_waiting())
    assert future.cancelled()


def test_a_policy_that_raises_fails_the_callback() -> None:
    decide = first_decision(never_asked, default=Allow())
    with pytest.raises(AssertionError):
        decide(request(), CTX)
