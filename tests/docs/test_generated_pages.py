"""Pages that are made from the code are as the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", list(generator().PAGES))
def test_the_page_is_what_the_code_makes(page: str) -> None:
    assert (ROOT / page).read_text() == generator().PAGES[page](), f"run python docs/generate.py: {page} is out of date"


def test_every_log_event_is_named_in_the_past_tense_snake_case() -> None:
    events = [line.split("`")[1] for line in generator().log_events().splitlines()[2:]]
    assert events
    assert all(event == event.lower() and " " not in event for event in events)
