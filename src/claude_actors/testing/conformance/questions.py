"""Scenarios: what an MCP server asks of the user while one of its tools runs."""

from __future__ import annotations

import sys
from typing import Any

from claude_actors import Accept, CallbackContext, Decline, ElicitationRequest, Hooks
from claude_actors import hook_events as fired
from claude_actors.testing import UseTool, reply
from claude_actors.testing.conformance.scenarios import Group, NotHere
from claude_actors.testing.conformance.stage import Stage

group = Group("questions")

# Asks for a name in the middle of its tool, and gives back as the tool's result what it was answered.
_SERVER = """
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        said = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}}
        send(id=message["id"], result={**said, "serverInfo": {"name": "door", "version": "1"}})
    elif method == "tools/list":
        send(id=message["id"], result={"tools": [{"name": "knock", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        called = message["id"]
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        send(id="question", method="elicitation/create", params={"message": "who is it?", "requestedSchema": schema})
    elif message.get("id") == "question":
        send(id=called, result={"content": [{"type": "text", "text": json.dumps(message["result"])}]})
    elif "id" in message:
        send(id=message["id"], result={})
"""


def answered(stage: Stage, **options: Any) -> str:
    """Have the server ask, and return what it was answered."""
    if stage.name == "fake":
        raise NotHere("the fake runs no servers")
    stage.play("hello", reply(UseTool("mcp__door__knock")), "done")
    server = {"command": sys.executable, "args": ["-c", _SERVER]}
    with stage.talk("hello", mcp_servers={"door": server}, allowed_tools=["mcp__door"], **options) as talk:
        talk.result()
        assert talk.ask("knock").result == "done"
        ((text, failed),) = talk.tool_results
        assert not failed
        return text


@group.scenario
def a_question_is_answered_by_the_callback(stage: Stage) -> None:
    asked: list[ElicitationRequest] = []

    def answer(request: ElicitationRequest, ctx: CallbackContext) -> Accept:
        asked.append(request)
        return Accept({"name": "Ada"})

    assert answered(stage, on_elicitation=answer) == '{"action": "accept", "content": {"name": "Ada"}}'
    (request,) = asked
    assert (request.mcp_server_name, request.message) == ("door", "who is it?")
    assert request.requested_schema == {"type": "object", "properties": {"name": {"type": "string"}}}


@group.scenario
def a_question_that_the_callback_declines_is_declined(stage: Stage) -> None:
    assert answered(stage, on_elicitation=lambda request, ctx: Decline()) == '{"action": "decline"}'


@group.scenario
def a_question_that_nobody_answers_is_declined(stage: Stage) -> None:
    assert answered(stage) == '{"action": "decline"}'


@group.scenario
def a_hook_declines_a_question_before_anybody_is_asked(stage: Stage) -> None:
    hooks, asked = Hooks(), list[str]()
    hooks.elicitation(lambda event, ctx: Decline())

    def accept(request: ElicitationRequest, ctx: CallbackContext) -> Accept:
        asked.append(request.message)
        return Accept({"name": "Ada"})

    assert answered(stage, hooks=hooks, on_elicitation=accept) == '{"action": "decline"}'
    assert asked == []


@group.scenario
def a_gate_on_an_answer_that_crashes_declines_it(stage: Stage) -> None:
    hooks = Hooks()

    @hooks.elicitation_result(on_failure="block")
    def crash(event: fired.ElicitationResult, ctx: CallbackContext) -> None:
        raise RuntimeError("out of order")

    assert answered(stage, hooks=hooks, on_elicitation=lambda request, ctx: Accept()) == '{"action": "decline"}'


@group.scenario
def hooks_are_told_of_a_question_and_of_its_answer(stage: Stage) -> None:
    hooks, told = Hooks(), list[str]()
    for name in ("Elicitation", "ElicitationResult", "Notification"):
        hooks.on(name)(lambda event, ctx: told.append(event.hook_event_name))
    assert "Ada" in answered(stage, hooks=hooks, on_elicitation=lambda request, ctx: Accept({"name": "Ada"}))
    assert told[0] == "Elicitation"
    assert set(told) == {"Elicitation", "ElicitationResult", "Notification"}
