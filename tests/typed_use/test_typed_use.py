"""The typed examples are checked by mypy in the `types` environment of tox; here, that they run and are all marked."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from typed_use import accepted, refused

import claude_actors
from claude_actors import Allow, CallbackContext, Deny, ToolPermissionRequest, hook_events
from claude_actors.callbacks.translate import hook_answer, permission_answer
from claude_actors.hook_events import PreToolUse

HERE = Path(__file__).parent
REFUSED = Path(refused.__file__).read_text()


def test_mypy_reads_these_files_strictly() -> None:
    settings = tomllib.loads((HERE.parent.parent / "pyproject.toml").read_text())["tool"]["mypy"]
    assert settings["strict"] is True
    assert "tests" in settings["files"]
    assert "exclude" not in settings


@pytest.mark.parametrize("module", [accepted, refused])
def test_the_examples_use_public_names_only(module: ModuleType) -> None:
    public = {"claude_actors": claude_actors.__all__, "claude_actors.hook_events": hook_events.__all__}
    imports = [node for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())) if is_ours(node)]
    assert len(imports) == 2
    for node in imports:
        assert isinstance(node, ast.ImportFrom)
        assert {alias.name for alias in node.names} <= set(public[str(node.module)])


def is_ours(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and str(node.module).startswith("claude_actors")


def test_every_mistake_names_the_error_that_it_must_give() -> None:
    marks = re.findall(r"# type: ignore(\[[a-z, -]+\])?", REFUSED)
    assert len(marks) > 20
    assert all(marks)


def test_the_accepted_hooks_work_as_their_types_promise() -> None:
    guard = accepted.hooks.registrations()[0]
    event = PreToolUse(tool_name="Bash", tool_input={"command": "rm -rf /"})
    assert guard.function is accepted.guard
    assert accepted.guard(event, CallbackContext()) == Deny("not here")
    assert hook_answer(guard, event, Deny("not here")).warning is None


def test_the_accepted_permission_callbacks_work_as_their_types_promise() -> None:
    request = ToolPermissionRequest(tool_name="Read", input={"file_path": "/x"})
    decide = accepted.callbacks[6]
    assert permission_answer(request, decide(request, CallbackContext())) == {
        "behavior": "allow",
        "updatedInput": {"file_path": "/x"},
    }
    assert decide(request, CallbackContext()) == Allow()
