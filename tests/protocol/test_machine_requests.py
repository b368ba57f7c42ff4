"""The rules of requests that we send."""

from __future__ import annotations

import pytest
from support.machine_driver import Driver

from claude_actors.errors import (
    EncodingFailed,
    RequestFailed,
    RequestTimeout,
    SessionCrashed,
    SessionStoppedError,
    TooManyPendingRequests,
)
from claude_actors.protocol import effects, inputs
from claude_actors.wire.control import OpenRequest, SetModel


def _last_id(driver: Driver) -> str:
    return str(driver.written()[-1]["request_id"])


def test_ids_count_up_with_the_salt_and_never_repeat() -> None:
    driver = Driver().running()
    for number in range(3):
        driver.operation(number)
    ids = [frame["request_id"] for frame in driver.written()]
    assert ids == ["req_0_abcd1234", "req_1_abcd1234", "req_2_abcd1234", "req_3_abcd1234"]


@pytest.mark.parametrize("payload", [{"model": "m"}, {}, None])
def test_success_is_success_whatever_its_payload(payload: dict[str, object] | None) -> None:
    driver = Driver().running()
    driver.operation(7, SetModel(model="m"))
    out = driver.respond(_last_id(driver), payload)
    assert effects.CompleteOperation(7, payload) in out


def test_a_request_that_cannot_be_written_fails_at_once_and_holds_no_place() -> None:
    driver = Driver().running()
    (failed,) = driver.operation(1, OpenRequest("odd", {"value": object()}))
    assert isinstance(failed, effects.FailOperation)
    assert isinstance(failed.error, EncodingFailed)
    assert (len(driver.machine.requests), driver.timers) == (0, set())


def test_responses_correlate_by_id_in_any_order() -> None:
    driver = Driver().running()
    driver.operation(1)
    first = _last_id(driver)
    driver.operation(2)
    driver.respond(_last_id(driver), {"n": 2})
    driver.respond(first, {"n": 1})
    assert [(done.operation, done.payload) for done in driver.of(effects.CompleteOperation)] == [
        (2, {"n": 2}),
        (1, {"n": 1}),
    ]


def test_an_error_response_carries_its_reason_and_code() -> None:
    driver = Driver().running()
    driver.operation(1, OpenRequest("teleport", {"to": "mars"}))
    driver.refuse(_last_id(driver), "Unsupported", error_code="unsupported_request")
    (failed,) = driver.of(effects.FailOperation)
    error = failed.error
    assert isinstance(error, RequestFailed)
    assert (error.subtype, error.reason, error.code) == ("teleport", "Unsupported", "unsupported_request")


def test_an_error_response_that_lists_pending_permissions_only_fails_its_operation() -> None:
    driver = Driver().running()
    driver.operation(1)
    asked = {"request_id": "r1", "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}}
    out = driver.refuse(_last_id(driver), "no", pending_permission_requests=[asked])
    assert [type(item) for item in out] == [effects.ClearTimer, effects.FailOperation]


def test_an_unreadable_response_still_ends_the_request_that_it_names() -> None:
    driver = Driver().running()
    driver.operation(1)
    request_id = _last_id(driver)
    driver.line({"type": "control_response", "response": {"subtype": 5, "request_id": request_id}})
    (failed,) = driver.of(effects.FailOperation)
    assert isinstance(failed.error, RequestFailed)


def test_a_second_a_late_and_a_stray_response_change_nothing() -> None:
    driver = Driver().running()
    driver.operation(1)
    request_id = _last_id(driver)
    driver.respond(request_id, {"mode": "plan"})
    assert driver.respond(request_id, {}) == []
    assert driver.respond("req_0_abcd1234", {}) == []
    assert driver.respond("never-sent", {}) == []
    assert driver.machine.counters.late_responses == 3


def test_a_timeout_leaves_the_session_usable_and_the_late_response_harmless() -> None:
    driver = Driver().running()
    driver.operation(1)
    request_id = _last_id(driver)
    driver.feed(inputs.TimerFired(f"request:{request_id}"))
    (failed,) = driver.of(effects.FailOperation)
    assert isinstance(failed.error, RequestTimeout)
    assert driver.written()[-1] == {"type": "control_cancel_request", "request_id": request_id}
    assert driver.respond(request_id, {}) == []
    driver.operation(2)
    assert driver.respond(_last_id(driver), {}) != []


def test_a_timer_that_lost_its_race_does_nothing() -> None:
    driver = Driver().running()
    driver.operation(1)
    request_id = _last_id(driver)
    driver.respond(request_id)
    assert driver.feed(inputs.TimerFired(f"request:{request_id}")) == []
    assert driver.feed(inputs.TimerFired("something else")) == []


def test_the_sixty_fifth_pending_request_is_refused_at_once() -> None:
    driver = Driver().running()
    for number in range(64):
        driver.operation(number)
    (refused,) = driver.operation(64)
    assert isinstance(refused, effects.FailOperation)
    assert isinstance(refused.error, TooManyPendingRequests)
    driver.respond("req_1_abcd1234")
    assert isinstance(driver.operation(65)[0], effects.WriteLine)


def test_a_crash_fails_every_pending_request_with_the_exit() -> None:
    driver = Driver().running()
    driver.operation(1)
    driver.operation(2)
    driver.feed(inputs.PortExited(None, 9, ("killed",)))
    errors = [failed.error for failed in driver.of(effects.FailOperation)]
    assert len(errors) == 2
    for error in errors:
        assert isinstance(error, SessionCrashed)
        assert (error.signal, error.stderr_tail) == (9, ("killed",))


def test_a_stop_fails_every_pending_request_with_the_stop() -> None:
    driver = Driver().running()
    driver.operation(1)
    driver.feed(inputs.StopRequested("enough"))
    (failed,) = driver.of(effects.FailOperation)
    assert isinstance(failed.error, SessionStoppedError)
    assert failed.error.reason == "enough"
