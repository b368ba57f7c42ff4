"""Scenarios: what a session can be made to say, and in which form."""

from __future__ import annotations

from claude_actors import StreamEvent, UserMessage
from claude_actors.testing import Say, UseTool, reply
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage

group = Group("output")
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
FORMAT = {"type": "json_schema", "schema": SCHEMA}


@group.scenario
def a_structured_answer_comes_as_data(stage: Stage) -> None:
    stage.play(reply(UseTool("StructuredOutput", {"name": "Ada"})), "unused")
    with stage.talk("who", output_format=FORMAT) as talk:
        result = talk.result()
        assert result.structured_output == {"name": "Ada"}
        assert not result.is_error


@group.scenario
def a_model_that_forgets_the_structure_is_reminded(stage: Stage) -> None:
    stage.play("it is Ada", reply(UseTool("StructuredOutput", {"name": "Ada"})), "unused")
    with stage.talk("who", output_format=FORMAT) as talk:
        assert talk.result().structured_output == {"name": "Ada"}
    assert "StructuredOutput" in stage.told()[1]


@group.scenario
def partial_messages_come_piece_by_piece(stage: Stage) -> None:
    stage.play(reply(Say("hello world", chunks=3)))
    with stage.talk("go", include_partial_messages=True) as talk:
        assert talk.result().result == "hello world"
        deltas = [m.event["delta"] for m in talk.all(StreamEvent) if m.event["type"] == "content_block_delta"]
        assert len(deltas) == 3
        assert "".join(delta["text"] for delta in deltas) == "hello world"


@group.scenario
def without_asking_for_them_no_partial_messages_come(stage: Stage) -> None:
    stage.play(reply(Say("hello world", chunks=3)))
    with stage.talk("go") as talk:
        talk.result()
        assert talk.all(StreamEvent) == []
        assert talk.texts == ["hello world"]


@group.scenario
def prompts_can_be_replayed(stage: Stage) -> None:
    stage.play("one")
    with stage.talk(replay_user_messages=True) as talk:
        turn = talk.session.send("say it")
        talk.result()
        assert [(m.content, m.uuid) for m in talk.all(UserMessage) if m.is_replay] == [("say it", turn.uuid)]
