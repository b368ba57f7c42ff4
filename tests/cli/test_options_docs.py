"""The table of options is whole, and the page in docs is what the code says."""

from __future__ import annotations

import ast
from pathlib import Path

import claude_actors
from claude_actors.cli.routes import Ours
from claude_actors.cli.table import ROWS, render
from claude_actors.options import option_names

PAGE = Path(__file__).parents[2] / "docs" / "options.md"


def test_every_option_stands_in_the_table_once() -> None:
    assert sorted(row.name for row in ROWS) == sorted(option_names())


def test_every_row_says_what_the_option_is_for() -> None:
    assert [row.name for row in ROWS if not row.doc.endswith(".")] == []


def test_the_documentation_is_made_from_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run: python -m claude_actors.cli.table > docs/options.md"


def test_every_option_that_reaches_no_cli_is_read_by_this_library() -> None:
    """One that nobody reads has no effect, whatever the table says."""
    package = Path(claude_actors.__file__).parent
    tables = {package / "cli" / "rows.py", package / "cli" / "own_rows.py"}
    files = [path for path in package.rglob("*.py") if path not in tables and path.parent.name != "options"]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in files]
    read = {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert [row.name for row in ROWS if isinstance(row.session, Ours) and row.name not in read] == []
