"""Messages and blocks of the official SDK have twins here, under the same names and with the same fields."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

import claude_actors


@pytest.mark.real_cli
def test_every_message_and_block_of_the_official_sdk_has_its_twin_here() -> None:
    official = _official_classes()
    assert {"AssistantMessage", "TaskStartedMessage", "HookEventMessage", "TextBlock"} <= official.keys()
    assert [name for name in official if name not in claude_actors.__all__] == []
    lacking = {
        name: [field for field in fields if not hasattr(getattr(claude_actors, name), field)]
        for name, fields in official.items()
    }
    assert {name: fields for name, fields in lacking.items() if fields} == {}


def _official_classes() -> dict[str, list[str]]:
    """Read the official SDK's message and block classes with their fields, without importing it."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    assert spec is not None
    assert spec.origin is not None
    module = ast.parse(Path(spec.origin).with_name("types.py").read_text(encoding="utf-8"))
    assigned = {ast.unparse(node.targets[0]): node.value for node in module.body if isinstance(node, ast.Assign)}
    union = {node.id for node in ast.walk(assigned["Message"]) if isinstance(node, ast.Name)}
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    chosen = [node for node in classes if node.name in union or node.name.endswith("Block") or _bases(node) & union]
    return {node.name: _fields(node) for node in chosen}


def _bases(node: ast.ClassDef) -> set[str]:
    return {base.id for base in node.bases if isinstance(base, ast.Name)}


def _fields(node: ast.ClassDef) -> list[str]:
    annotated = [item.target for item in node.body if isinstance(item, ast.AnnAssign)]
    return [target.id for target in annotated if isinstance(target, ast.Name)]
