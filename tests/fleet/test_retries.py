"""The table of failures: what may pass is tried again, what cannot is not."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from claude_actors import errors
from claude_actors.fleet import RetryPolicy
from claude_actors.fleet.retries import Verdict, classify
from claude_actors.wire.messages import ResultMessage

TURN: dict[str, Any] = {"subtype": "success", "reason": "r"}


def unreachable(terminal_reason: str | None) -> errors.ApiFailed:
    result = ResultMessage(subtype="success", is_error=True, terminal_reason=terminal_reason)
    return errors.ApiFailed(subtype="success", reason="r", result=result, status=None)


TABLE: list[tuple[errors.ClaudeActorsError, Verdict]] = [
    # Crashes.
    (errors.SessionCrashed(code=1, signal=None), "retry"),
    (errors.SessionCrashed(code=None, signal=9), "retry"),
    (errors.SessionEnded("gone"), "retry"),
    (errors.TurnSilent("silent"), "retry"),
    (errors.ActorFailed("bug"), "retry"),
    (errors.WriteFailed("broken pipe"), "retry"),
    (errors.ExitedDuringStart(code=1, signal=None), "retry"),
    (errors.InitializationTimeout(after=10.0), "retry"),
    # What no waiting mends.
    (errors.SessionStoppedError("stopped"), "stop"),
    (errors.CLINotFound(searched=()), "fail"),
    (errors.SpawnFailed(program="claude", reason="no"), "fail"),
    (errors.UnsupportedVersion(version="1.0", minimum="2.0.0"), "fail"),
    (errors.InitializationFailed(reason="no"), "fail"),
    (errors.InvalidOptions("no"), "fail"),
    (errors.EncodingFailed("no"), "fail"),
    (errors.MailboxOverflow(mailbox="job", limits={}), "fail"),
    (errors.SpillFailed(reason="disk full"), "fail"),
    (errors.TooManyPendingRequests(limit=64), "fail"),
    # A conversation that is not there.
    (errors.ResumeFailed(code=1, signal=None), "fresh"),
    # The API.
    (errors.Overloaded(**TURN, status=529), "retry"),
    (errors.Overloaded(**TURN, status=500), "retry"),
    (unreachable("api_error"), "retry"),
    (unreachable("prompt_too_long"), "fail"),
    (unreachable(None), "fail"),
    (errors.ApiFailed(**TURN, status=408), "retry"),
    (errors.ApiFailed(**TURN, status=400), "fail"),
    (errors.ApiFailed(**TURN, status=404), "fail"),
    (errors.ApiFailed(**TURN, status=413), "fail"),
    (errors.AuthenticationFailed(**TURN, status=401), "fail"),
    (errors.AuthenticationFailed(**TURN, status=403), "fail"),
    (errors.RateLimited(**TURN), "limit"),
    # How a turn ends by itself.
    (errors.TurnInterrupted(**TURN), "fail"),
    (errors.MaxTurnsReached(**TURN), "fail"),
    (errors.BudgetExhausted(**TURN), "fail"),
    (errors.StructuredOutputFailed(**TURN), "fail"),
    (errors.TurnFailed(**TURN), "fail"),
]


@pytest.mark.parametrize(("error", "verdict"), TABLE, ids=lambda value: getattr(type(value), "__name__", str(value)))
def test_every_failure_has_its_verdict(error: errors.ClaudeActorsError, verdict: Verdict) -> None:
    assert classify(error) == verdict


def test_what_is_not_ours_is_not_tried_again() -> None:
    assert classify(ValueError("?")) == "fail"


def test_the_table_above_has_every_error_that_can_end_a_turn_or_a_start() -> None:
    families = (errors.StartError, errors.SessionEnded, errors.TurnFailed)
    kinds = {kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, families)}
    assert kinds - {errors.StartError} <= {type(error) for error, _ in TABLE}


def test_a_negative_number_of_retries_is_refused() -> None:
    with pytest.raises(errors.InvalidOptions):
        RetryPolicy(retries=-1)
