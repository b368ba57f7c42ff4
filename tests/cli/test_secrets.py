"""Configuration that may hold credentials reaches the child by private files, and nothing of it stays behind."""

from __future__ import annotations

import json
import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_actors.cli import private_files
from claude_actors.cli.launch import Launch, build_launch
from claude_actors.cli.private_files import PrivateFiles
from claude_actors.errors import InvalidOptions
from claude_actors.options import Options

CLI = Path("/usr/bin/claude")
SECRET = "sk-secret"
SERVERS: dict[str, Any] = {
    "local": len,
    "stdio": {"command": "server", "env": {"TOKEN": SECRET}},
    "http": {"type": "http", "url": "http://localhost", "headers": {"Authorization": SECRET}},
}


@pytest.fixture(autouse=True)
def temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let private files be made where this test can count them, and require that none is left."""
    directory = tmp_path / "tmp"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    assert list(directory.iterdir()) == []


def build(*, one_shot: bool = False, **values: Any) -> Launch:
    return build_launch(
        Options(inherit_env=False, **values), cli=CLI, streaming_input=not one_shot, prompt=SECRET if one_shot else None
    )


def file_of(built: Launch, flag: str) -> Path:
    return next(Path(argument.partition("=")[2]) for argument in built.argv if argument.startswith(f"{flag}="))


@pytest.mark.parametrize(
    ("flag", "one_shot", "values", "content"),
    [
        ("--settings", False, {"settings": {"env": {"K": SECRET}}}, {"env": {"K": SECRET}}),
        ("--settings", True, {"settings": f'{{"k": "{SECRET}"}}'}, {"k": SECRET}),
        ("--mcp-config", False, {"mcp_servers": f' {{"k": "{SECRET}"}}'}, {"k": SECRET}),
        ("--mcp-config", True, {"mcp_servers": SERVERS}, {"mcpServers": {k: SERVERS[k] for k in ("stdio", "http")}}),
        ("--agents", True, {"agents": {"a": {"prompt": SECRET}}}, {"a": {"prompt": SECRET}}),
    ],
)
def test_secrets_stand_in_a_private_file(flag: str, one_shot: bool, values: dict[str, Any], content: Any) -> None:
    built = build(one_shot=one_shot, **values)
    try:
        path = file_of(built, flag)
        assert json.loads(path.read_text()) == content
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert not any(SECRET in argument for argument in built.argv)
        assert SECRET not in repr(built)
    finally:
        built.cleanup()


def test_servers_of_both_kinds_share_one_file() -> None:
    built = build(mcp_servers=SERVERS)
    config = json.loads(file_of(built, "--mcp-config").read_text())
    built.cleanup()
    assert config["mcpServers"] == {**SERVERS, "local": {"type": "sdk", "name": "local"}}
    assert built.initialize["sdkMcpServers"] == ["local"]


@pytest.mark.parametrize(
    ("prompt", "flag"),
    [
        (SECRET, "--system-prompt-file"),
        ({"type": "preset", "preset": "claude_code", "append": SECRET}, "--append-system-prompt-file"),
    ],
)
def test_a_query_reads_its_system_prompt_from_a_private_file(prompt: Any, flag: str) -> None:
    built = build(one_shot=True, system_prompt=prompt)
    text = file_of(built, flag).read_text()
    built.cleanup()
    assert text == SECRET
    assert not any(SECRET in argument for argument in built.argv)


def test_a_querys_prompt_is_not_in_the_process_list() -> None:
    built = build(one_shot=True)
    assert built.stdin == SECRET.encode()
    assert not any(SECRET in argument for argument in built.argv)


def test_a_sandbox_joins_the_settings_wherever_they_are(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('\ufeff{"model": "opus"}')
    for settings in ({"model": "opus"}, '{"model": "opus"}', "settings.json", tmp_path / "settings.json"):
        built = build(cwd=tmp_path, settings=settings, sandbox={"enabled": True})
        content = json.loads(file_of(built, "--settings").read_text())
        built.cleanup()
        assert content == {"model": "opus", "sandbox": {"enabled": True}}


@pytest.mark.parametrize("settings", ["missing.json", f'{{"k": "{SECRET}"', "list.json"])
def test_settings_that_cannot_be_read_are_an_error_that_keeps_their_content(settings: str, tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(InvalidOptions, match=r"^settings: ") as caught:
        build(cwd=tmp_path, settings=settings, sandbox={"enabled": True})
    assert SECRET not in str(caught.value)


def test_a_launch_that_fails_half_way_leaves_no_file() -> None:
    with pytest.raises(InvalidOptions, match="too long"):
        build(mcp_servers=SERVERS, extra_args={"future": "x" * 200_000})
    with pytest.raises(InvalidOptions, match="cannot be written as JSON"):
        build(mcp_servers=SERVERS, settings={"a": object()})


def test_cleaning_up_twice_or_without_files_is_no_error() -> None:
    built = build(mcp_servers=SERVERS)
    built.cleanup()
    built.cleanup()
    build().cleanup()


def test_files_of_a_killed_process_are_removed_and_those_of_a_living_one_stay(
    temporary_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_files, "SETTLED_AFTER", -1.0)
    abandoned = temporary_directory / f"{private_files.PREFIX}dead"
    abandoned.mkdir()
    (abandoned / "mcp.json").write_text(SECRET)
    strangers = temporary_directory / "claude-actors-else"
    strangers.mkdir()
    living, newer = PrivateFiles(), PrivateFiles()
    kept = living.write("mcp.json", SECRET)
    newer.write("mcp.json", SECRET)
    assert (abandoned.exists(), kept.exists(), strangers.exists()) == (False, True, True)
    living.remove()
    newer.remove()
    strangers.rmdir()


def test_a_directory_just_made_is_nobodys_yet(temporary_directory: Path) -> None:
    young = temporary_directory / f"{private_files.PREFIX}young"
    young.mkdir()
    private_files.remove_abandoned()
    assert young.exists()
    young.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files to another user")
def test_files_for_a_child_of_another_user_belong_to_that_user() -> None:
    files = PrivateFiles(owner="nobody")
    path = files.write("mcp.json", SECRET)
    owners = {path.stat().st_uid, path.parent.stat().st_uid}
    files.remove()
    assert owners == {pwd.getpwnam("nobody").pw_uid}
