"""What work costs is read from results and frames, and held against budgets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_actors.fleet.spending import Budget, Exhausted, Meter, Spent
from claude_actors.wire.messages import ResultMessage, decode_message

SPENT = st.builds(Spent, st.integers(0, 1000), st.integers(0, 10**6), st.floats(0, 100))


def result(**fields: Any) -> ResultMessage:
    message = decode_message(json.dumps({"type": "result", "subtype": "success", **fields}).encode())
    assert isinstance(message, ResultMessage)
    return message


def assistant(message_id: str, **usage: Any) -> bytes:
    message = {"id": message_id, "role": "assistant", "content": [], "usage": usage}
    return json.dumps({"type": "assistant", "message": message}).encode()


def test_what_the_cli_tells_since_its_last_result_counts_first() -> None:
    told = {"opus": {"inputTokens": 10, "outputTokens": 5, "cacheCreationInputTokens": 3, "costUSD": 0.1}}
    found = Meter().settle(
        result(num_turns=2, total_cost_usd=9.0, usage={"input_tokens": 1}, model_usage_since_last_result=told)
    )
    assert found == Spent(2, 18, 0.1)


def test_a_resumed_session_is_not_charged_for_its_past() -> None:
    told = {"opus": {"inputTokens": 10, "outputTokens": 5, "costUSD": 0.14}, "haiku": {"costUSD": 0.01}}
    found = Meter().settle(result(num_turns=1, total_cost_usd=0.42, model_usage_since_last_result=told))
    assert found.usd == pytest.approx(0.15)


def test_an_older_cli_is_charged_by_the_difference_of_its_totals() -> None:
    meter = Meter()
    first = meter.settle(result(num_turns=1, total_cost_usd=0.1, usage={"input_tokens": 10, "output_tokens": 5}))
    second = meter.settle(result(num_turns=1, total_cost_usd=0.25, usage={"input_tokens": 20, "output_tokens": 5}))
    assert [first.usd, second.usd] == pytest.approx([0.1, 0.15])
    assert (first.tokens, second.tokens) == (15, 25)


def test_a_total_that_went_down_has_begun_anew() -> None:
    meter = Meter()
    meter.settle(result(total_cost_usd=0.5))
    assert meter.settle(result(total_cost_usd=0.1)).usd == pytest.approx(0.1)


@pytest.mark.parametrize("odd", [None, "many", {"opus": 3}, {"opus": {"inputTokens": "x", "costUSD": None}}])
def test_odd_usage_counts_as_nothing(odd: Any) -> None:
    found = Meter().settle(result(usage=odd if isinstance(odd, dict) else None, model_usage_since_last_result=odd))
    assert found == Spent(0, 0, 0.0)


def test_the_frames_of_an_open_turn_are_counted_once_a_message() -> None:
    meter = Meter()
    meter.see(assistant("m1", input_tokens=10, output_tokens=1))
    meter.see(assistant("m1", input_tokens=10, output_tokens=4, cache_creation_input_tokens=2))
    meter.see(assistant("m2", input_tokens=7, output_tokens=1, cache_read_input_tokens=500))
    assert meter.live == Spent(2, 16 + 8)


def test_a_result_ends_the_live_count() -> None:
    meter = Meter()
    meter.see(assistant("m1", input_tokens=10))
    meter.settle(result())
    assert meter.live == Spent()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b'junk with "usage" and "assistant"',
        b'{"type":"assistant","message":{"id":3,"usage":{}}}',
        b'{"type":"assistant","message":{"id":"m","usage":null}}',
        b'{"type":"user","message":{"id":"m","usage":{"input_tokens":9}},"assistant":1}',
    ],
)
def test_a_line_that_is_no_assistant_frame_changes_nothing(line: bytes) -> None:
    meter = Meter()
    meter.see(line)
    assert meter.live == Spent()


@pytest.mark.parametrize(
    ("budget", "spent", "expected"),
    [
        (Budget(), Spent(10**6, 10**9, 10**6), None),
        (Budget(turns=3), Spent(turns=2), None),
        (Budget(turns=3), Spent(turns=3), Exhausted("turns", 3, 3)),
        (Budget(tokens=10), Spent(tokens=11), Exhausted("tokens", 10, 11)),
        (Budget(usd=0.5), Spent(usd=0.4999), None),
        (Budget(usd=0.5), Spent(usd=0.5), Exhausted("usd", 0.5, 0.5)),
    ],
)
def test_a_budget_is_used_up_when_nothing_is_left(budget: Budget, spent: Spent, expected: Exhausted | None) -> None:
    assert budget.exhausted(spent) == expected


@given(
    st.builds(Budget, st.none() | st.integers(1, 500), st.none() | st.integers(1, 10**6), st.none() | st.floats(1, 50)),
    SPENT,
)
def test_what_is_left_is_used_up_exactly_when_the_budget_is(budget: Budget, spent: Spent) -> None:
    left = budget.left(spent)
    used_up = any(part == 0 for part in (left.turns, left.tokens, left.usd))
    assert used_up == (budget.exhausted(spent) is not None)


@given(SPENT, SPENT, SPENT)
def test_spending_adds_up_in_any_order(one: Spent, two: Spent, three: Spent) -> None:
    first, second = (one + two) + three, three + (two + one)
    assert (first.turns, first.tokens) == (second.turns, second.tokens)
    assert first.usd == pytest.approx(second.usd)
