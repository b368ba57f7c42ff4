"""The fixtures for users, in a test session of a user's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = 'pytest_plugins = ["claude_actors.testing.pytest_plugin"]\n'
TESTS = """
from pathlib import Path
import pytest
from claude_actors import Allow, run, start_session
from claude_actors.testing import script
made = []

def test_a_fake(fake_cli):
    cli = fake_cli("hello")
    made.append(cli.directory)
    assert run("hi", cli.options()).result == "hello"

def test_scripts(fake_cli):
    cli = fake_cli(script("one"), script("two"))
    assert [run("hi", cli.options()).result for _ in range(2)] == ["one", "two"]

def test_a_real_one(real_cli):
    cli = real_cli("hello")
    assert run("hi", cli.options()).result == "hello"

def test_not_both(fake_cli):
    with pytest.raises(TypeError, match="not both"):
        fake_cli(script("one"), "two")

def test_a_permission_is_given(memory_cli, leaves_nothing_behind):
    options = memory_cli.options(can_use_tool=lambda request, ctx: Allow())
    with start_session(options=options, wait=False) as session:
        memory_cli.accept()
        request = memory_cli.ask_permission("Bash", {"command": "ls"})
        assert memory_cli.answered(request)["response"]["behavior"] == "allow"
        turn = session.send("hello")
        memory_cli.finish_turn(memory_cli.prompted(), result="done")
        assert turn.result(timeout=10).result == "done"

def test_a_memory_cli_that_nobody_uses(memory_cli):
    pass

def test_gone():
    assert made and not any(directory.exists() for directory in made)
"""


@pytest.mark.real_cli
def test_the_fixtures_make_clis_that_are_gone_after_their_test(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_mine.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-W", "error", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "7 passed" in done.stdout, done.stdout + done.stderr


LEAKING = """
import threading
import claude_actors.testing.pytest_plugin
claude_actors.testing.pytest_plugin._ENDING = 0.0
held = []

def test_a_file(tmp_path, leaves_nothing_behind):
    held.append((tmp_path / "file").open("w"))

def test_a_thread(leaves_nothing_behind):
    threading.Thread(target=threading.Event().wait, name="forgotten", daemon=True).start()

def test_nothing(leaves_nothing_behind):
    assert held
"""


def test_a_test_that_leaves_something_behind_is_told_what(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_mine.py").write_text(LEAKING)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "3 passed, 2 errors" in done.stdout, done.stdout + done.stderr
    assert "left behind: open files" in done.stdout
    assert "left behind: threads: forgotten" in done.stdout
