"""Scenarios: what can be changed while a session runs."""

from __future__ import annotations

from claude_actors import AssistantMessage, RequestFailed, StatusMessage
from claude_actors.testing.conformance.raising import raised
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage

group = Group("settings")


@group.scenario
def another_model_answers_the_next_turn(stage: Stage) -> None:
    stage.play("one", "two", "three")
    with stage.talk("first") as talk:
        talk.result()
        chosen = talk.session.set_model("sonnet")
        talk.ask("second")
        default = talk.session.set_model(None)
        talk.ask("third")
    assert [init.model for init in talk.inits] == [default, chosen, default]
    assert [message.model for message in talk.all(AssistantMessage)] == [default, chosen, default]
    assert chosen != default


@group.scenario
def a_permission_mode_set_before_the_first_prompt_is_in_its_init(stage: Stage) -> None:
    stage.play("planned")
    with stage.talk() as talk:
        assert talk.session.set_permission_mode("plan") == "plan"
        talk.ask("go")
        assert [init.permission_mode for init in talk.inits] == ["plan"]


@group.scenario
def a_permission_mode_set_after_a_turn_holds_for_the_next(stage: Stage) -> None:
    stage.play("one", "two")
    with stage.talk("first") as talk:
        talk.result()
        assert talk.session.set_permission_mode("acceptEdits") == "acceptEdits"
        talk.ask("second")
        assert [init.permission_mode for init in talk.inits] == ["default", "acceptEdits"]
        assert [message.permission_mode for message in talk.all(StatusMessage)] == ["acceptEdits"]


@group.scenario
def an_unknown_permission_mode_is_refused(stage: Stage) -> None:
    stage.play("one")
    with stage.talk() as talk:
        raised(RequestFailed, lambda: talk.session.set_permission_mode("careless"))
        talk.ask("go")
        assert talk.inits[0].permission_mode == "default"


@group.scenario
def a_session_cannot_be_switched_to_bypass_that_was_not_started_for_it(stage: Stage) -> None:
    stage.play("unused")
    with stage.talk() as talk:
        refused = raised(RequestFailed, lambda: talk.session.set_permission_mode("bypassPermissions"))
        assert "bypassPermissions" in refused.reason


@group.scenario
def the_thinking_budget_can_be_set_and_removed(stage: Stage) -> None:
    stage.play("one")
    with stage.talk() as talk:
        talk.session.set_max_thinking_tokens(2048)
        talk.session.set_max_thinking_tokens(None)
        assert talk.ask("go").result == "one"
