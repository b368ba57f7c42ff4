"""Scenarios: what a session says when the API refuses, limits or breaks off."""

from __future__ import annotations

from claude_actors import ApiRetryMessage, AssistantMessage, RateLimitEvent
from claude_actors.testing import ApiError, BrokenStream, WaitFor, reply
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage

group = Group("API errors")
ONE_RETRY = {"CLAUDE_CODE_MAX_RETRIES": "1"}
RESET = 1_999_999_999
LIMITED = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": str(RESET),
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
}
#: Limits of this kind are told to subscribers only, who sign in with a token.
SUBSCRIBER = {"ANTHROPIC_API_KEY": None, "CLAUDE_CODE_OAUTH_TOKEN": "test"}


def refused(stage: Stage, status: int, *, error: str, retried: bool) -> None:
    """Claim what a session makes of an API that always answers with this status."""
    stage.play(reply(ApiError(status, message="in so many words"), times=None))
    with stage.talk("go", env=ONE_RETRY) as talk:
        result = talk.result()
        assert (result.subtype, result.is_error) == ("success", True)
        assert (result.api_error_status, result.terminal_reason) == (status, "api_error")
        assert "in so many words" in (result.result or "")
        assert [message.error for message in talk.all(AssistantMessage)] == [error]
        retries = [(message.attempt, message.error_status) for message in talk.all(ApiRetryMessage)]
        assert retries == ([(1, status)] if retried else [])
        assert talk.session.state == "running"


@group.scenario
def an_overloaded_api_is_tried_again_and_then_an_error_result(stage: Stage) -> None:
    refused(stage, 529, error="server_error", retried=True)


@group.scenario
def a_failing_api_is_tried_again_and_then_an_error_result(stage: Stage) -> None:
    refused(stage, 500, error="server_error", retried=True)


@group.scenario
def a_rate_limit_is_tried_again_and_then_an_error_result(stage: Stage) -> None:
    refused(stage, 429, error="rate_limit", retried=True)


@group.scenario
def a_refused_key_is_an_error_result(stage: Stage) -> None:
    refused(stage, 401, error="authentication_failed", retried=True)


@group.scenario
def a_forbidden_request_is_an_error_result_at_once(stage: Stage) -> None:
    refused(stage, 403, error="authentication_failed", retried=False)


@group.scenario
def a_rate_limit_that_asks_for_too_long_a_wait_is_an_error_result_at_once(stage: Stage) -> None:
    stage.play(reply(ApiError(429, retry_after=3600)), "unused")
    with stage.talk("go") as talk:
        assert talk.result().api_error_status == 429
        assert talk.all(ApiRetryMessage) == []
    assert len(stage.told()) == 1


@group.scenario
def an_error_that_passes_is_not_in_the_result(stage: Stage) -> None:
    stage.play(reply(ApiError(529)), "here I am")
    with stage.talk("go") as talk:
        result = talk.result()
        assert (result.result, result.is_error) == ("here I am", False)
        assert [message.error for message in talk.all(ApiRetryMessage)] == ["overloaded"]


@group.scenario
def after_an_api_error_the_next_turn_is_answered(stage: Stage) -> None:
    stage.play(reply(ApiError(403)), "here I am")
    with stage.talk("go") as talk:
        assert talk.result().is_error
        assert talk.ask("again").result == "here I am"


@group.scenario
def a_stream_that_breaks_is_taken_up_again(stage: Stage) -> None:
    stage.play(reply("the first half", WaitFor("it was read"), BrokenStream()), "the second half")
    with stage.talk("go") as talk:
        talk.until(AssistantMessage)
        stage.open("it was read")
        result = talk.result()
        assert (result.result, result.is_error) == ("the second half", False)
        assert talk.texts == ["the first half", "the second half"]


@group.scenario
def a_stream_that_breaks_before_its_first_word_is_tried_again(stage: Stage) -> None:
    stage.play(reply(BrokenStream()), "here I am")
    with stage.talk("go") as talk:
        assert talk.result().result == "here I am"
        assert [message.attempt for message in talk.all(ApiRetryMessage)] == [1]


@group.scenario
def a_used_up_limit_tells_when_it_is_reset(stage: Stage) -> None:
    stage.play(reply(ApiError(429, retry_after=3600)), headers=LIMITED)
    with stage.talk("go", env=SUBSCRIBER) as talk:
        result = talk.result()
        assert (result.is_error, result.api_error_status) == (True, 429)
        (event,) = talk.all(RateLimitEvent)
        limit = event.rate_limit_info
        assert (limit.status, limit.resets_at, limit.rate_limit_type) == ("rejected", RESET, "five_hour")


@group.scenario
def a_limit_that_comes_near_is_told(stage: Stage) -> None:
    near = {
        "status": "allowed_warning",
        "5h-utilization": "0.9",
        "5h-reset": str(RESET),
        "5h-status": "allowed_warning",
    }
    headers = {f"anthropic-ratelimit-unified-{name}": value for name, value in near.items()}
    stage.play("one", "two", headers={**LIMITED, **headers})
    with stage.talk("go", env=SUBSCRIBER) as talk:
        assert talk.result().result == "one"
        talk.ask("again")
        (event,) = talk.all(RateLimitEvent)
        assert (event.rate_limit_info.status, event.rate_limit_info.utilization) == ("allowed_warning", 0.9)
