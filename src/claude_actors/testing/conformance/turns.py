"""Scenarios: prompts and the turns that answer them."""

from __future__ import annotations

from claude_actors import (
    Allow,
    AssistantMessage,
    CallbackContext,
    ResultMessage,
    ThinkingBlock,
    ToolPermissionRequest,
    Turn,
    TurnFinished,
    TurnStarted,
)
from claude_actors.testing import Say, Think, UseTool, WaitFor, reply
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.conformance.talk import PATIENCE

group = Group("turns")


@group.scenario
def several_turns_make_one_conversation(stage: Stage) -> None:
    stage.play("one", "two", "three")
    with stage.talk("first") as talk:
        assert talk.result().result == "one"
        assert talk.ask("second").result == "two"
        assert talk.ask("third").result == "three"
    assert talk.texts == ["one", "two", "three"]
    told = stage.told()
    assert len(told) == 3
    assert "third" in told[2]
    assert "first" not in told[2]
    assert len(talk.saw(TurnStarted)) == len(talk.saw(TurnFinished)) == 3


@group.scenario
def a_prompt_may_be_a_list_of_content_blocks(stage: Stage) -> None:
    stage.play("seen")
    with stage.talk() as talk:
        assert talk.ask([{"type": "text", "text": "look at"}, {"type": "text", "text": "these"}]).result == "seen"
    assert "look at" in stage.told()[0]
    assert "these" in stage.told()[0]


@group.scenario
def a_verbatim_prompt_is_told_to_the_model_as_it_is(stage: Stage) -> None:
    (stage.cwd / "note.txt").write_text("what only the file says")
    stage.play("one", "two", "three")
    with stage.talk("/compact", verbatim_prompts=True) as talk:
        assert talk.result().result == "one"
        assert talk.ask("look at @note.txt").result == "two"
        assert talk.ask([{"type": "text", "text": "/clear"}]).result == "three"
    told = stage.told()
    assert all(words in text for words, text in zip(["/compact", "look at @note.txt", "/clear"], told, strict=True))
    assert not any("what only the file says" in text for text in told)


@group.scenario
def a_prompt_sent_during_a_turn_waits_for_the_next(stage: Stage) -> None:
    stage.play(reply(WaitFor("first is read"), "one"), reply(WaitFor("second is read"), "two"))
    with stage.talk("first") as talk:
        stage.wait_reached("first is read")
        second = talk.session.send("second")
        talk.session.control("get_settings")  # answered after the prompt was read
        stage.open("first is read")
        assert talk.result().result == "one"
        assert not second.done
        stage.open("second is read")
        assert talk.result().result == "two"
        assert second.result(PATIENCE).result == "two"


@group.scenario
def a_prompt_sent_while_a_tool_waits_is_taken_into_the_running_turn(stage: Stage) -> None:
    stage.play(reply(UseTool("Bash", {"command": "touch a"}, result="")), "both")
    sent: list[Turn] = []

    def allow(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        sent.append(ctx.session.send("second"))
        ctx.session.control("get_settings")  # answered after the prompt was read
        return Allow()

    with stage.talk(can_use_tool=allow) as talk:
        first = talk.session.send("first")
        result = talk.result()
        assert result.result == "both"
        assert set(result.user_message_uuids or ()) == {first.uuid, sent[0].uuid}
        assert first.result(PATIENCE).result == sent[0].result(PATIENCE).result == "both"
    assert "second" in stage.told()[1]


@group.scenario
def several_tools_of_one_reply_all_run(stage: Stage) -> None:
    bash = [UseTool("Bash", {"command": f"echo {word}"}, result=word) for word in ("one", "two")]
    stage.play(reply("first this", *bash), "done")
    with stage.talk("go") as talk:
        assert talk.result().result == "done"
        assert sorted(talk.tool_results) == [("one", False), ("two", False)]
        assert talk.texts == ["first this", "done"]


@group.scenario
def thinking_is_delivered_as_its_own_block(stage: Stage) -> None:
    stage.play(reply(Think("hm"), Say("done")))
    with stage.talk("go") as talk:
        talk.result()
        blocks = [block for message in talk.all(AssistantMessage) for block in message.content]
        assert [block.thinking for block in blocks if isinstance(block, ThinkingBlock)] == ["hm"]


@group.scenario
def a_turn_over_its_limit_of_rounds_is_an_error_result(stage: Stage) -> None:
    stage.play(reply(UseTool("Bash", {"command": "echo a"}, result="a")), "unused")
    with stage.talk("go", max_turns=1) as talk:
        result = talk.result()
        assert (result.subtype, result.is_error) == ("error_max_turns", True)
        assert talk.session.state == "running"


@group.scenario
def a_turn_gives_its_own_result_to_every_waiter(stage: Stage) -> None:
    stage.play("one")
    with stage.talk() as talk:
        turn = talk.session.send("first")
        assert isinstance(turn.result(PATIENCE), ResultMessage)
        assert turn.result(PATIENCE).result == "one"
        assert turn.done
