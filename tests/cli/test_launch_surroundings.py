"""The child's environment, working directory and timeouts, and how a session is continued."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claude_actors._version import __version__
from claude_actors.cli.launch import Launch, build_launch
from claude_actors.errors import SpawnFailed, StartError
from claude_actors.options import Options

CLI = Path("/usr/bin/claude")
UUID = "123e4567-e89b-42d3-a456-426614174000"


def build(lost: str | None = None, **values: Any) -> Launch:
    return build_launch(Options(**values), cli=CLI, resume=lost)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT", "CLAUDE_AGENT_SDK_CLIENT_APP", "PWD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("INHERITED", "yes")


def test_the_child_inherits_our_environment_under_what_options_say() -> None:
    env = build(env={"OWN": "1", "INHERITED": "changed"}).env
    assert (env["OWN"], env["INHERITED"]) == ("1", "changed")


def test_an_inherited_variable_can_be_removed() -> None:
    assert "INHERITED" not in build(env={"INHERITED": None}).env


def test_a_child_that_inherits_nothing_has_only_what_was_said() -> None:
    assert build(inherit_env=False, env={"OWN": "1"}).env == {
        "OWN": "1",
        "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
        "CLAUDE_AGENT_SDK_CLIENT_APP": f"claude-actors/{__version__}",
        "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1",
    }


def test_the_child_never_believes_itself_inside_another_session() -> None:
    assert "CLAUDECODE" not in build().env
    assert "CLAUDECODE" not in build(env={"CLAUDECODE": "1"}).env


def test_the_callers_own_names_for_entrypoint_and_application_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
    assert build().env["CLAUDE_CODE_ENTRYPOINT"] == "sdk-py"
    assert build(env={"CLAUDE_CODE_ENTRYPOINT": "mine"}).env["CLAUDE_CODE_ENTRYPOINT"] == "mine"
    monkeypatch.setenv("CLAUDE_AGENT_SDK_CLIENT_APP", "outer/1")
    assert build().env["CLAUDE_AGENT_SDK_CLIENT_APP"] == "outer/1"
    assert build(client_app="").env["CLAUDE_AGENT_SDK_CLIENT_APP"] == ""


def test_session_states_are_asked_for_unless_the_caller_says_otherwise() -> None:
    name = "CLAUDE_CODE_SDK_READS_SESSION_STATE"
    assert build().env[name] == "1"
    assert name not in build(session_state_events=False).env
    assert build(env={name: "0"}).env[name] == "0"


def test_file_checkpointing_is_switched_on_by_the_environment() -> None:
    name = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"
    assert build(enable_file_checkpointing=True).env[name] == "true"
    assert name not in build().env


def test_the_working_directory_is_absolute_and_told_to_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path)
    built = build(cwd="work")
    assert built.cwd == tmp_path / "work"
    assert built.env["PWD"] == str(tmp_path / "work")
    assert build().cwd is None


def test_a_working_directory_that_is_none_is_a_start_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for cwd, reason in ((tmp_path / "missing", "does not exist"), (tmp_path / "file", "is not a directory")):
        with pytest.raises(SpawnFailed, match=reason) as caught:
            build(cwd=cwd)
        assert isinstance(caught.value, StartError)


@pytest.mark.parametrize(("value", "expected"), [("2500", 2.5), ("", 10.0), ("soon", 10.0), ("0", 10.0), ("nan", 10.0)])
def test_the_handshakes_timeout_can_be_set_by_the_environment(value: str, expected: float) -> None:
    assert build(env={"CLAUDE_CODE_STREAM_CLOSE_TIMEOUT": value}).initialize_timeout == expected


def test_without_the_variable_the_option_is_the_handshakes_timeout() -> None:
    assert build(initialize_timeout=3.0).initialize_timeout == 3.0


def test_the_user_is_passed_to_the_port() -> None:
    assert build(user="nobody").user == "nobody"


@pytest.mark.parametrize(
    "values",
    [
        {"continue_conversation": True},
        {"session_id": UUID},
        {"resume": "other", "fork_session": True, "session_id": UUID},
        {"resume": "other", "resume_session_at": "x", "resume_drops_turn": "y"},
    ],
)
def test_recovery_continues_the_named_session_and_nothing_else(values: dict[str, Any]) -> None:
    assert build("lost", model="opus", **values).argv[4:] == ("--model=opus", "--resume=lost")
