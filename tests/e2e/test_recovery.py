"""Recovery where only the fake CLI can be made to fail in just that way; what both can show is in the scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from claude_actors import (
    CLINotFound,
    ExitedDuringStart,
    Hooks,
    InitializationTimeout,
    RestartPolicy,
    ResultMessage,
    ResumeFailed,
    Session,
    SessionCrashed,
    SessionFailed,
    SessionRestarted,
    SessionStopped,
    ToolServer,
    TurnUnanswered,
    start_session,
)
from claude_actors.protocol.restarts import Backoff
from claude_actors.testing import AnswerControl, Die, FakeCLI, Script, reply, script

PATIENCE = 60.0
DYING = script(on_initialize=(Die(code=3),))
CRASHING = script("one", reply("half", Die(signal=9)))


def policy(**changes: Any) -> RestartPolicy:
    return RestartPolicy(**{"backoff": Backoff(first=0.01, most=0.01), **changes})


Start = Callable[..., tuple[Session, FakeCLI]]


@pytest.fixture
def start(tmp_path: Any) -> Iterator[Start]:
    """Start a supervised session: the n-th process plays the n-th script."""
    opened: list[tuple[Session | None, FakeCLI]] = []

    def started(*scripts: Script, prompt: str | None = None, restart: Any = None, **options: Any) -> Any:
        fake = FakeCLI(*scripts)
        opened.append((None, fake))
        given = fake.options(cwd=tmp_path, initialize_timeout=PATIENCE, **options)
        session = start_session(prompt, given, restart=restart or policy(), wait=False)
        opened.append((session, fake))
        return session, fake

    yield started
    for session, _ in opened:
        if session is not None:
            session.stop()
    for _, fake in opened:
        fake.close()


def restarts(session: Session) -> list[SessionRestarted]:
    return [event for event in events_of(session) if isinstance(event, SessionRestarted)]


def events_of(session: Session) -> list[object]:
    session.stop()
    return list(session.events())


def test_a_crash_in_init_is_survived_with_what_was_already_sent(start: Start) -> None:
    session, fake = start(DYING, DYING, script("hello"), prompt="first")
    result = next(message for message in session.messages() if isinstance(message, ResultMessage))
    assert result.result == "hello"
    assert len(fake.runs()) == 3
    happened = events_of(session)
    told = [(event.attempt, event.resumed) for event in happened if isinstance(event, SessionRestarted)]
    assert told == [(1, False), (2, False)]
    # What no CLI had read was never in doubt.
    assert not [event for event in happened if isinstance(event, TurnUnanswered)]


def test_a_start_that_never_succeeds_is_the_error_of_the_last_attempt(start: Start) -> None:
    session, fake = start(DYING, prompt="first", restart=policy(max_restarts=2, max_seconds=600.0))
    with pytest.raises(ExitedDuringStart):
        session.wait_running(PATIENCE)
    final = session.wait(PATIENCE)
    assert isinstance(final, SessionFailed)
    assert [type(error) for error in final.history] == [ExitedDuringStart] * 2
    assert len(fake.runs()) == 3


def test_a_start_that_never_succeeds_is_given_up_even_if_each_takes_longer_than_the_window(start: Start) -> None:
    session, fake = start(DYING, restart=policy(max_restarts=2, max_seconds=1e-9))
    with pytest.raises(ExitedDuringStart):
        session.wait_running(PATIENCE)
    assert len(fake.runs()) == 3


def test_a_cli_that_does_not_answer_initialize_is_replaced(start: Start) -> None:
    silent = script(controls=(AnswerControl("initialize", "never"),))
    session, _ = start(silent, script("hello"), env={"CLAUDE_CODE_STREAM_CLOSE_TIMEOUT": "1000"})
    session.wait_running(PATIENCE)
    assert session.send("first").result(PATIENCE).result == "hello"
    (event,) = restarts(session)
    assert isinstance(event.reason, InitializationTimeout)


def test_the_next_process_is_started_as_the_first_was_and_resumes(start: Start, tmp_path: Any) -> None:
    hooks, server = Hooks(), ToolServer("mine")
    hooks.on("PreToolUse", matcher="Bash")(lambda event, ctx: None)
    hooks.on("Stop", timeout=5.0)(lambda event, ctx: None)
    own: dict[str, Any] = {"hooks": hooks, "mcp_servers": {"mine": server}, "can_use_tool": lambda request, ctx: None}
    session, fake = start(CRASHING, script("three"), env={"COLOUR": "blue"}, model="opus", **own)
    assert session.send("first").result(PATIENCE).result == "one"
    with pytest.raises(SessionCrashed):
        session.send("second").result(PATIENCE)
    assert session.send("third").result(PATIENCE).result == "three"
    first, second = fake.runs()
    assert second.argv == [*first.argv, f"--resume={session.session_id}"]
    assert second.cwd == first.cwd == str(tmp_path)
    assert second.received[0]["request"] == first.received[0]["request"]


def test_hooks_that_are_added_after_the_start_do_not_change_the_next_process(start: Start) -> None:
    hooks = Hooks()
    hooks.on("Stop")(lambda event, ctx: None)
    session, fake = start(CRASHING, script("three"), hooks=hooks)
    session.send("first").result(PATIENCE)
    hooks.on("PreToolUse")(lambda event, ctx: None)
    with pytest.raises(SessionCrashed):
        session.send("second").result(PATIENCE)
    session.send("third").result(PATIENCE)
    first, second = (run.received[0]["request"]["hooks"] for run in fake.runs())
    assert first == second


def test_a_policy_that_raises_reports_the_prompt(start: Start) -> None:
    def decide(turn: object) -> Any:
        raise RuntimeError("undecided")

    session, _ = start(CRASHING, script("three"), restart=policy(unanswered=decide))
    session.send("first").result(PATIENCE)
    with pytest.raises(SessionCrashed):
        session.send("second").result(PATIENCE)
    assert session.send("third").result(PATIENCE).result == "three"


@pytest.mark.parametrize("choice", ["fail", "fresh"])
def test_a_conversation_of_the_options_that_is_not_there_follows_the_policy(start: Start, choice: Any) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    session, fake = start(script("hello"), resume=unknown, restart=policy(on_resume_failure=choice))
    if choice == "fail":
        with pytest.raises(ResumeFailed):
            session.wait_running(PATIENCE)
        assert len(fake.runs()) == 1
        return
    assert session.send("first").result(PATIENCE).result == "hello"
    assert session.session_id != unknown
    assert not any(unknown in word for word in fake.runs()[1].argv)
    assert session.options.resume is None


def test_what_no_restart_can_help_is_not_restarted(tmp_path: Any) -> None:
    with FakeCLI() as fake:
        options = fake.options(cli_path=tmp_path / "nothing here")
        session = start_session(None, options, restart=policy(), wait=False)
        final = session.wait(PATIENCE)
    assert isinstance(final, SessionFailed)
    assert isinstance(final.error, CLINotFound)
    assert final.history == ()


def test_a_stop_during_the_wait_before_a_restart_ends_it_at_once(start: Start) -> None:
    long_wait = policy(backoff=Backoff(first=3600.0, most=3600.0))
    session, fake = start(CRASHING, restart=long_wait)
    session.send("first").result(PATIENCE)
    with pytest.raises(SessionCrashed):
        session.send("second").result(PATIENCE)
    assert session.stop() == SessionStopped("stop requested")
    assert len(fake.runs()) == 1


def test_what_is_sent_during_the_wait_before_a_restart_is_answered_after_it(start: Start) -> None:
    session, _ = start(CRASHING, script("three"))
    session.send("first").result(PATIENCE)
    lost = session.send("second")
    with pytest.raises(SessionCrashed):
        lost.result(PATIENCE)
    third = session.send("third")
    assert session.set_permission_mode("plan") == "plan"
    assert third.result(PATIENCE).result == "three"


def test_settings_that_were_refused_are_not_kept(start: Start) -> None:
    refusing = script("one", controls=(AnswerControl("set_model", "error", "too dear"),))
    session, _ = start(refusing, prompt="first", model="opus")
    session.wait_running(PATIENCE)
    with pytest.raises(Exception, match="too dear"):
        session.set_model("sonnet")
    assert session.options.model == "opus"


def test_the_default_model_is_that_of_the_options(start: Start) -> None:
    session, _ = start(script("one"), model="opus")
    session.wait_running(PATIENCE)
    session.set_model("sonnet")
    assert session.options.model == "sonnet"
    session.set_model(None)
    assert session.options.model == "opus"
