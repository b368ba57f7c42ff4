"""Error results become typed errors; the frames are those of the real CLI, cut to what matters."""

from __future__ import annotations

from typing import Any

import pytest

from claude_actors import errors
from claude_actors.protocol.results import result_error
from claude_actors.wire.messages import ResultMessage


def result(**fields: Any) -> ResultMessage:
    return ResultMessage(**fields)


def api_error(status: int | None, text: str = "API Error: something") -> ResultMessage:
    return result(
        subtype="success", is_error=True, terminal_reason="api_error", api_error_status=status, result=text, num_turns=1
    )


@pytest.mark.parametrize(
    "ended",
    [
        result(subtype="success", result="done", terminal_reason="completed"),
        result(subtype="success", result="", terminal_reason="hook_stopped"),
        result(subtype="success", result="blocked", num_turns=0),
    ],
    ids=["completed", "stopped by a hook", "refused by a hook"],
)
def test_a_result_that_is_no_error_has_none(ended: ResultMessage) -> None:
    assert result_error(ended) is None


@pytest.mark.parametrize(
    ("ended", "kind"),
    [
        (result(subtype="error_max_turns", is_error=True, terminal_reason="max_turns"), errors.MaxTurnsReached),
        (result(subtype="error_max_turns"), errors.MaxTurnsReached),
        (result(subtype="error_max_budget_usd", is_error=True), errors.BudgetExhausted),
        (result(subtype="error_max_structured_output_retries", is_error=True), errors.StructuredOutputFailed),
        (
            result(subtype="error_during_execution", is_error=True, terminal_reason="aborted_streaming"),
            errors.TurnInterrupted,
        ),
        (
            result(subtype="error_during_execution", is_error=True, terminal_reason="aborted_tools"),
            errors.TurnInterrupted,
        ),
        (result(subtype="error_during_execution", is_error=True, terminal_reason="completed"), errors.TurnFailed),
        (result(subtype="error_of_tomorrow", is_error=True), errors.TurnFailed),
        (result(is_error=True), errors.TurnFailed),
        (api_error(400), errors.ApiFailed),
        (api_error(401), errors.AuthenticationFailed),
        (api_error(403), errors.AuthenticationFailed),
        (api_error(404), errors.ApiFailed),
        (api_error(413), errors.ApiFailed),
        (api_error(429), errors.RateLimited),
        (api_error(500), errors.Overloaded),
        (api_error(529), errors.Overloaded),
        (api_error(None, "API Error: Connection refused (ECONNREFUSED)"), errors.ApiFailed),
        (api_error(None, "API Error: 529 Overloaded"), errors.Overloaded),
        (api_error(None, "Failed to authenticate. API Error: 401 no"), errors.AuthenticationFailed),
        (api_error(None, "Not logged in · Please run /login"), errors.AuthenticationFailed),
        (api_error(None, "API Error: Request rejected (429) · slow down"), errors.RateLimited),
        (api_error(None, "You've hit your weekly limit · resets 3pm"), errors.RateLimited),
    ],
)
def test_each_error_result_has_its_own_error(ended: ResultMessage, kind: type[errors.TurnFailed]) -> None:
    error = result_error(ended)
    assert type(error) is kind
    assert error.result is ended


def test_who_is_not_signed_in_is_told_what_to_do() -> None:
    assert str(result_error(api_error(None, "Not logged in · Please run /login"))) == (
        "the turn ended with an API error: Not logged in · Please run /login"
        " (run claude and sign in, or set ANTHROPIC_API_KEY)"
    )


def test_an_api_error_is_not_called_a_success_as_the_cli_calls_it() -> None:
    assert (
        str(result_error(api_error(400, "API Error: 400 no"))) == "the turn ended with an API error: API Error: 400 no"
    )
    other = result_error(result(subtype="error_max_turns", errors=["no more"]))
    assert str(other) == "the turn ended with error_max_turns: no more"


def test_an_api_error_tells_its_status_also_when_only_the_text_does() -> None:
    told, read = result_error(api_error(529)), result_error(api_error(None, "API Error: 500 broken. Try again."))
    assert isinstance(told, errors.ApiFailed)
    assert isinstance(read, errors.ApiFailed)
    assert (told.status, read.status) == (529, 500)


def test_a_number_in_an_answer_is_not_taken_for_a_status() -> None:
    error = result_error(api_error(None, "API Error: the model wrote 500 lines and then API Error: 4000"))
    assert type(error) is errors.ApiFailed
    assert error.status is None


@pytest.mark.parametrize(
    ("text", "told_before", "expected"),
    [
        ("API Error: Request rejected (429) · slow down", None, None),
        ("API Error: Request rejected (429) · slow down", 1_800_000_000.0, 1_800_000_000.0),
        ("Claude AI usage limit reached|1749924000", 1_800_000_000.0, 1_749_924_000.0),
    ],
)
def test_a_rate_limit_tells_when_it_resets_if_anybody_said_so(
    text: str, told_before: float | None, expected: float | None
) -> None:
    error = result_error(api_error(None, text), resets_at=told_before)
    assert isinstance(error, errors.RateLimited)
    assert error.resets_at == expected


def test_the_reason_is_in_the_clis_own_words() -> None:
    error = result_error(
        result(subtype="error_max_turns", is_error=True, errors=["Reached maximum number of turns (3)"])
    )
    assert "Reached maximum number of turns (3)" in str(error)


def test_a_silent_error_result_still_gives_a_readable_error() -> None:
    assert "no reason" in str(result_error(result(subtype="error_during_execution", is_error=True)))
