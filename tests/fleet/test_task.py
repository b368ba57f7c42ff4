"""Tasks are sound when made, say what they change, and never show their prompt."""

from __future__ import annotations

from typing import Any

import pytest

from claude_actors.errors import EncodingFailed, InvalidOptions
from claude_actors.fleet import Budget, Task
from claude_actors.fleet.records import task_fields, task_from_fields
from claude_actors.options import Options


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"timeout": 0}, "timeout"),
        ({"max_turns": -1}, "max_turns"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_budget_usd": float("nan")}, "max_budget_usd"),
        ({"retries": -1}, "retries"),
        ({"id": ""}, "id"),
        ({"messages": "some"}, "messages"),
    ],
)
def test_an_unsound_task_is_refused_by_the_name_of_the_field(fields: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidOptions, match=word):
        Task("prompt", **fields)


def test_a_prompt_that_is_no_json_is_refused_before_anything_starts() -> None:
    with pytest.raises(EncodingFailed):
        Task([{"type": "text", "text": object()}])


def test_a_task_never_shows_its_prompt() -> None:
    assert "secret" not in repr(Task("my secret", id="a"))


def test_a_task_without_options_runs_with_the_fleets() -> None:
    fleets = Options(model="opus")
    assert Task("p").options_for(fleets) is fleets


def test_a_mapping_changes_some_of_the_fleets_options() -> None:
    found = Task("p", {"cwd": "/tmp"}).options_for(Options(model="opus"))
    assert (found.model, found.cwd) == ("opus", "/tmp")


def test_ready_made_options_replace_the_fleets() -> None:
    own = Options(model="haiku")
    assert Task("p", own).options_for(Options(model="opus")) is own


def test_a_mapping_with_an_unknown_option_names_the_task() -> None:
    with pytest.raises(InvalidOptions, match="'a'"):
        Task("p", {"no_such_option": 1}, id="a").options_for(Options())


def test_later_changes_of_the_given_mapping_do_not_reach_the_task() -> None:
    given = {"model": "opus"}
    task = Task("p", given)
    given["model"] = "haiku"
    assert task.options_for(Options()).model == "opus"


def test_the_budgets_of_a_task_are_one_value() -> None:
    assert Task("p", max_turns=3, max_tokens=5, max_budget_usd=0.5).budget == Budget(3, 5, 0.5)


@pytest.mark.parametrize(
    "task",
    [
        Task("p", id="a"),
        Task([{"type": "text", "text": "hi"}], id="a", priority=3, timeout=4.5, retries=0, resume=False),
        Task("p", {"cwd": "/tmp"}, id="a", continue_prompt="go on", conversation="k", messages="all", data={"n": [1]}),
        Task("p", id="a", max_turns=3, max_tokens=5, max_budget_usd=0.5),
    ],
)
def test_a_task_comes_back_from_its_plain_fields(task: Task) -> None:
    assert task_from_fields("a", task_fields(task)) == task
