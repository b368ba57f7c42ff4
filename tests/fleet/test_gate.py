"""When the fleet may start attempts: holds, rate limits, and what a limit event means."""

from __future__ import annotations

from typing import Any

import pytest

from claude_actors.errors import RateLimited
from claude_actors.fleet.gate import Gate, reset_time
from claude_actors.protocol.restarts import Backoff
from claude_actors.wire.notices import RateLimitInfo

NOW, WALL = 50.0, 1_000_000.0


def gate() -> Gate:
    return Gate(Backoff(first=1.0, most=8.0, jitter=0.0))


def limited(resets_at: float | None) -> RateLimited:
    return RateLimited(subtype="success", reason="429", resets_at=resets_at)


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ({"status": "allowed"}, None),
        ({"status": "allowed_warning", "resets_at": 9.0}, None),
        ({"status": "rejected", "resets_at": 9.0}, 9.0),
        ({"status": "rejected"}, None),
        ({"status": "rejected", "resets_at": 9.0, "is_using_overage": True}, None),
        ({"status": "rejected", "resets_at": 9.0, "overage_status": "allowed"}, None),
        ({"status": "rejected", "resets_at": 9.0, "overage_status": "rejected"}, 9.0),
    ],
)
def test_a_limit_forbids_work_only_when_it_is_rejected_and_nothing_steps_in(
    info: dict[str, Any], expected: float | None
) -> None:
    assert reset_time(RateLimitInfo(**info)) == expected


def test_it_is_closed_until_the_time_it_was_told() -> None:
    one = gate()
    assert one.close_until(WALL + 30, NOW, WALL) == WALL + 30
    assert (one.is_closed(NOW + 29.9), one.is_closed(NOW + 30)) == (True, False)
    assert (one.opens_at(NOW), one.opens_at(NOW + 30)) == (NOW + 30, None)


def test_an_earlier_end_than_the_known_one_is_no_news() -> None:
    one = gate()
    one.close_until(WALL + 30, NOW, WALL)
    assert one.close_until(WALL + 20, NOW, WALL) is None
    assert one.resets_at == WALL + 30


def test_a_time_that_has_passed_closes_nothing() -> None:
    one = gate()
    assert one.close_until(WALL - 1, NOW, WALL) is None
    assert not one.is_closed(NOW)


def test_a_hold_closes_it_whatever_the_limits_say() -> None:
    one = gate()
    one.held = True
    assert one.is_closed(NOW)
    assert not one.is_limited(NOW)


def test_an_attempt_that_met_a_limit_closes_it_until_the_reset() -> None:
    one = gate()
    assert one.limited(limited(WALL + 60), NOW, WALL)
    assert one.opens_at(NOW) == NOW + 60


def test_a_limit_without_a_time_closes_it_for_a_backoff_and_is_not_known() -> None:
    one = gate()
    assert not one.limited(limited(None), NOW, WALL)
    assert one.opens_at(NOW) == NOW + 1.0


def test_a_limit_that_does_not_end_when_it_was_said_to_closes_it_longer_each_time() -> None:
    one, now, waits = gate(), NOW, []
    for _ in range(6):
        one.limited(limited(WALL - 5), now, WALL)
        opens = one.opens_at(now)
        assert opens is not None
        waits.append(opens - now)
        now = opens
    assert waits == [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    one.succeeded()
    one.limited(limited(None), now, WALL)
    assert one.opens_at(now) == now + 1.0


def test_many_attempts_that_meet_one_limit_at_once_count_as_one() -> None:
    one = gate()
    for _ in range(8):
        one.limited(limited(None), NOW, WALL)
    assert one.opens_at(NOW) == NOW + 1.0
