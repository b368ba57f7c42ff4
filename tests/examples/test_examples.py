"""Every example runs as a user would run it: offline, by itself, with nothing on standard error."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PUBLIC = ("claude_actors", "claude_actors.hook_events", "claude_actors.testing")

#: A line that shows that the example came to its point. An example that is not listed must print something.
SAID = {
    "asyncio_service.py": "sessions after she left: 0",
    "fleet_with_journal.py": "every chapter was reported once: True",
    "guard_hook.py": "refused tool calls: 4",
    "human_approval.py": "person: pytest -q: yes, and do not ask again",
    "many_turns.py": "turns finished: 3",
    "pykka_service.py": "actors left: 0",
    "quickstart.py": "claude: Three apples cost 21 EUR.",
    "rewind.py": "after the rewind: the first draft",
    "supervised_recovery.py": "the same conversation: True",
    "supervised_tree.py": "the clerk says: 42 (entry 2)",
    "testing_your_agent.py": "passed: the agent cannot deploy on Fridays",
    "typed_tools.py": "server 'shop' is connected; pears left: 1",
}
FOUND = sorted(path.name for path in EXAMPLES.glob("*.py"))


def test_every_listed_example_is_there() -> None:
    assert set(SAID) <= set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_an_example_runs_offline_and_says_what_it_promises(name: str, tmp_path: Path) -> None:
    # Nothing of the caller's environment: no key, no installed CLI, no settings.
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert done.stdout.strip()
    assert name not in SAID or SAID[name] in done.stdout.splitlines()


@pytest.mark.parametrize("name", FOUND)
def test_an_example_uses_public_names_only(name: str) -> None:
    tree = ast.parse((EXAMPLES / name).read_text())
    ours = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and is_ours(node.module)]
    assert ours
    for node in ours:
        assert node.module in PUBLIC
        public = __import__(str(node.module), fromlist=["__all__"]).__all__
        assert {alias.name for alias in node.names} <= set(public)


def is_ours(module: str | None) -> bool:
    return str(module).partition(".")[0] == "claude_actors"
