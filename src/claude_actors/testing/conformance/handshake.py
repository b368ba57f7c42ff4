"""Scenarios: how a session begins, and what it says of itself."""

from __future__ import annotations

from claude_actors import (
    LifecycleChanged,
    RequestFailed,
    ResumeFailed,
    SessionStarted,
    SessionStopped,
    UnsupportedVersion,
)
from claude_actors.testing.conformance.raising import raised
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage

group = Group("handshake")
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


@group.scenario
def the_cli_tells_what_it_is_before_any_prompt(stage: Stage) -> None:
    stage.play("unused")
    with stage.talk() as talk:
        info = talk.session.server_info()
        assert info is not None
        assert info.claude_code_version
        assert info.models
        assert info.commands
        assert info.current_permission_mode == "default"
        assert info.pid == talk.session.pid
        assert talk.session.state == "running"
    assert stage.told() == []
    assert talk.said == []
    assert [(e.previous, e.state) for e in talk.saw(LifecycleChanged)] == [
        ("starting", "init_sent"),
        ("init_sent", "running"),
        ("running", "stopped"),
    ]
    assert len(talk.saw(SessionStarted)) == 1
    assert isinstance(talk.happened[-1], SessionStopped)


@group.scenario
def every_turn_begins_with_an_init_of_the_same_session(stage: Stage) -> None:
    stage.play("one", "two")
    with stage.talk("first") as talk:
        talk.result()
        talk.ask("second")
        first, second = talk.inits
        assert first.session_id == second.session_id == talk.session.session_id
        assert first.cwd == str(stage.cwd)
        assert "Bash" in first.tools
        assert first.model


@group.scenario
def what_is_sent_before_the_session_runs_is_answered_in_order(stage: Stage) -> None:
    stage.play("one", "two")
    with stage.talk("first", wait=False) as talk:
        second = talk.session.send("second")
        assert talk.result().result == "one"
        assert talk.result().result == "two"
        assert second.done


@group.scenario
def an_unknown_request_is_refused_and_the_session_goes_on(stage: Stage) -> None:
    stage.play("still here")
    with stage.talk() as talk:
        refused = raised(RequestFailed, lambda: talk.session.control("no_such_request"))
        assert refused.code == "unsupported_request"
        assert talk.ask("hello").result == "still here"


@group.scenario
def any_other_request_can_be_sent_by_its_name(stage: Stage) -> None:
    stage.play("one")
    with stage.talk("hello") as talk:
        talk.result()
        assert talk.session.control("get_context_usage")["totalTokens"] > 0
        assert talk.session.control("get_settings")["applied"]["model"] == talk.inits[0].model


@group.scenario
def an_unknown_flag_is_an_unsupported_version(stage: Stage) -> None:
    stage.play("unused")
    refused = raised(UnsupportedVersion, lambda: stage.talk(extra_args={"no-such-flag": None}))
    assert "--no-such-flag" in refused.detail


@group.scenario
def resuming_an_unknown_session_is_a_start_error(stage: Stage) -> None:
    stage.play("unused")
    refused = raised(ResumeFailed, lambda: stage.talk(resume=UNKNOWN_ID))
    assert UNKNOWN_ID in " ".join(refused.stderr_tail)
