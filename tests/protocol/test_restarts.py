"""The pure decisions about restarts, case by case: what follows an ending, how soon, how often, what is asked again."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from claude_actors.errors import (
    ActorFailed,
    ClaudeActorsError,
    CLINotFound,
    EncodingFailed,
    ExitedDuringStart,
    InitializationFailed,
    InitializationTimeout,
    InvalidOptions,
    MailboxOverflow,
    ResumeFailed,
    SessionCrashed,
    SpawnFailed,
    SpillFailed,
    TurnSilent,
    UnsupportedVersion,
    WriteFailed,
)
from claude_actors.protocol.outcome import Completed, Failed, Outcome, Stopped
from claude_actors.protocol.restarts import (
    MOST_REASONS,
    Backoff,
    Intensity,
    RestartPolicy,
    Restarts,
    UnansweredTurn,
    Verdict,
    decide,
    must_resend,
)
from claude_actors.protocol.turns import OpenTurn

KEEP = RestartPolicy()
FRESH = RestartPolicy(on_resume_failure="fresh")
CRASH = Failed(SessionCrashed(code=None, signal=9))
LOST = Failed(ResumeFailed(code=1, signal=None))


@pytest.mark.parametrize(
    ("outcome", "policy", "resumable", "forgettable", "allowed", "verdict"),
    [
        (Completed(), KEEP, True, False, True, "finish"),
        (Stopped(), KEEP, True, False, True, "finish"),
        (CRASH, None, True, False, True, "finish"),
        (CRASH, KEEP, True, False, True, "resume"),
        (CRASH, KEEP, True, True, True, "resume"),
        (CRASH, KEEP, False, False, True, "fresh"),
        (CRASH, KEEP, True, False, False, "give_up"),
        (LOST, None, True, True, True, "finish"),
        (LOST, KEEP, True, False, True, "give_up"),
        (LOST, KEEP, True, True, True, "fresh"),
        (LOST, KEEP, True, True, False, "give_up"),
        (LOST, FRESH, True, False, True, "fresh"),
        (LOST, FRESH, True, False, False, "give_up"),
    ],
)
def test_what_follows_an_ending(
    outcome: Outcome, policy: RestartPolicy | None, resumable: bool, forgettable: bool, allowed: bool, verdict: Verdict
) -> None:
    given = decide(outcome, policy, resumable=resumable, forgettable=forgettable, allowed=lambda: allowed)
    assert given == verdict


@pytest.mark.parametrize(
    ("error", "helps"),
    [
        (SessionCrashed(code=1, signal=None), True),
        (ExitedDuringStart(code=1, signal=None), True),
        (InitializationTimeout(after=10.0), True),
        (InitializationFailed(reason="busy"), True),
        (WriteFailed("stuck"), True),
        (TurnSilent("silent"), True),
        (ActorFailed("port"), True),
        (CLINotFound(searched=[]), False),
        (SpawnFailed(program="claude", reason="denied"), False),
        (UnsupportedVersion(version="1.0.0", minimum="2.0.0"), False),
        (InvalidOptions("cwd"), False),
        (EncodingFailed("no JSON"), False),
        (MailboxOverflow(mailbox="messages", limits={}), False),
        (SpillFailed(reason="disk full"), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_what_a_restart_can_help_is_restarted_and_counted(error: ClaudeActorsError, helps: bool) -> None:
    counted: list[bool] = []

    def allowed() -> bool:
        counted.append(True)
        return True

    verdict = decide(Failed(error), KEEP, resumable=True, forgettable=False, allowed=allowed)
    assert verdict == ("resume" if helps else "give_up")
    assert len(counted) == helps


@pytest.mark.parametrize(
    ("attempt", "chance", "delay"),
    [(1, 0.0, 0.1), (2, 0.0, 0.2), (4, 0.0, 0.8), (1, 1.0, 0.15), (20, 0.0, 30.0), (20, 1.0, 45.0), (10**9, 0.0, 30.0)],
)
def test_the_backoff_doubles_up_to_its_most_with_jitter_added(attempt: int, chance: float, delay: float) -> None:
    assert Backoff().delay(attempt, chance) == pytest.approx(delay)


def test_the_intensity_allows_so_many_restarts_within_the_window_and_then_no_more() -> None:
    intensity = Intensity(max_restarts=3, max_seconds=5.0)
    assert [intensity.allow(now) for now in (0.0, 1.0, 2.0, 3.0)] == [True, True, True, False]
    # What was refused does not count, and what is older than the window is forgotten.
    assert [intensity.allow(now) for now in (5.0, 5.1, 5.2)] == [False, True, False]
    assert not Intensity(max_restarts=0, max_seconds=5.0).allow(0.0)


def test_a_session_that_never_runs_is_given_up_however_long_its_starts_take() -> None:
    restarts = Restarts(RestartPolicy(max_restarts=3, max_seconds=5.0))
    assert [restarts.allow() for _ in range(4)] == [True, True, True, False]


def test_restarts_with_enough_time_to_run_between_them_go_on_for_ever_and_never_wait_longer() -> None:
    restarts = Restarts(RestartPolicy(max_restarts=1, max_seconds=5.0))
    for _ in range(100):
        restarts.ran(5.1)
        assert restarts.allow()
        assert restarts.delay(0.0) == pytest.approx(0.1)


def test_the_delay_doubles_while_a_session_keeps_failing_and_begins_anew_after_it_ran_well() -> None:
    restarts = Restarts(RestartPolicy(max_restarts=10, max_seconds=5.0))
    delays = []
    for ran in (0.0, 1.0, 0.0, 1.0, 10.0, 0.0):
        restarts.ran(ran)
        assert restarts.allow()
        delays.append(restarts.delay(0.0))
    assert delays == pytest.approx([0.1, 0.2, 0.4, 0.8, 0.1, 0.2])


def test_only_the_newest_reasons_are_kept() -> None:
    restarts = Restarts(RestartPolicy())
    for number in range(MOST_REASONS + 5):
        restarts.reasons.append(ActorFailed(str(number)))
    assert [str(reason) for reason in restarts.reasons] == [str(number + 5) for number in range(MOST_REASONS)]


TURN = OpenTurn("p1", b"{}\n", written=True, started=True)


@pytest.mark.parametrize("choice", ["report", "resend"])
def test_a_fixed_policy_decides_for_every_prompt(choice: Literal["report", "resend"]) -> None:
    assert must_resend(RestartPolicy(unanswered=choice), TURN, "crashed") == (choice == "resend")


def test_a_callable_decides_for_each_prompt_by_what_is_known_of_it() -> None:
    seen: list[UnansweredTurn] = []

    def choose(turn: UnansweredTurn) -> Literal["report", "resend"]:
        seen.append(turn)
        return "report" if turn.started else "resend"

    policy = RestartPolicy(unanswered=choose)
    assert not must_resend(policy, TURN, "crashed")
    assert must_resend(policy, OpenTurn("p2", b"{}\n"), "crashed")
    assert seen == [UnansweredTurn("p1", True, "crashed"), UnansweredTurn("p2", False, "crashed")]


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(1), KeyboardInterrupt()])
def test_a_callable_that_raises_counts_as_report(error: BaseException) -> None:
    def choose(turn: UnansweredTurn) -> Literal["report", "resend"]:
        raise error

    assert not must_resend(RestartPolicy(unanswered=choose), TURN, "crashed")


def test_a_callable_that_answers_nonsense_counts_as_report() -> None:
    assert not must_resend(RestartPolicy(unanswered=lambda turn: "perhaps"), TURN, "crashed")  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    "nonsense",
    [
        {"max_restarts": -1},
        {"max_seconds": 0.0},
        {"unanswered": "retry"},
        {"on_resume_failure": "shrug"},
        {"on_stall": "kill"},
        {"backoff": 0.5},
    ],
    ids=lambda nonsense: next(iter(nonsense)),
)
def test_a_policy_that_makes_no_sense_is_refused_by_name(nonsense: dict[str, Any]) -> None:
    with pytest.raises(InvalidOptions, match=next(iter(nonsense))):
        RestartPolicy(**nonsense)
