"""The pages hang together: on a code host, where they are plain Markdown, as on the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_actors import __all__ as ours
from claude_actors.hook_events import __all__ as hook_events
from claude_actors.testing import __all__ as for_tests

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def links(page: Path) -> Iterator[str]:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if not target.startswith("https://"):
            yield target


@pytest.mark.parametrize("name", NAMES)
def test_every_link_within_the_repository_leads_to_a_file(name: str) -> None:
    page = ROOT / name
    assert [target for target in links(page) if not (page.parent / target.partition("#")[0]).exists()] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("docs/")])
def test_every_page_can_be_reached_from_the_sites_menu(name: str) -> None:
    assert name.removeprefix("docs/") in (ROOT / "mkdocs.yml").read_text()


def test_every_example_is_shown_on_a_page() -> None:
    shown = "".join(page.read_text() for page in PAGES)
    examples = [path.name for path in (ROOT / "examples").glob("*.py")]
    assert [name for name in examples if f"<!-- end of examples/{name} -->" not in shown] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "docs/reference.md"])
def test_no_page_needs_the_site_to_be_read(name: str) -> None:
    text = prose(ROOT / name)
    assert "--8<--" not in text
    assert not re.search(r"^:::", text, re.MULTILINE)


def test_the_reference_has_every_public_name() -> None:
    entries = re.findall(r"^::: (\S+)$", (ROOT / "docs" / "reference.md").read_text(), re.MULTILINE)
    names = [entry.rpartition(".")[2] for entry in entries]
    public = {*ours, *hook_events, *for_tests} - {"__version__"}
    assert (public - set(names), set(names) - public) == (set(), set())
    assert sorted(set(names)) == sorted(names)
