"""The table of options is whole, and the page in docs is what the code says."""

from __future__ import annotations

from pathlib import Path

from claude_actors.cli.table import ROWS, render
from claude_actors.options import option_names

PAGE = Path(__file__).parents[2] / "docs" / "options.md"


def test_every_option_stands_in_the_table_once() -> None:
    assert sorted(row.name for row in ROWS) == sorted(option_names())


def test_every_row_says_what_the_option_is_for() -> None:
    assert [row.name for row in ROWS if not row.doc.endswith(".")] == []


def test_the_documentation_is_made_from_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run: python -m claude_actors.cli.table > docs/options.md"
