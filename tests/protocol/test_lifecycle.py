"""Claims about the transition table, read from the table itself."""

from __future__ import annotations

import pytest

from claude_actors.protocol.lifecycle import TRANSITIONS, Happening, State, advance, mermaid

LIVE = [state for state in State if not state.is_final]
FINAL = [state for state in State if state.is_final]


def test_every_state_has_a_row_and_can_be_reached() -> None:
    reached = {State.STARTING}
    for _ in State:
        reached |= {after for state in reached for after in TRANSITIONS[state].values()}
    assert reached == set(State) == set(TRANSITIONS)


@pytest.mark.parametrize("state", LIVE)
@pytest.mark.parametrize("happening", [Happening.EXITED, Happening.CRASHED, Happening.BROKEN, Happening.STOP_REQUESTED])
def test_every_live_state_ends_when_the_process_or_its_owner_says_so(state: State, happening: Happening) -> None:
    assert advance(state, happening).is_final


@pytest.mark.parametrize("state", FINAL)
@pytest.mark.parametrize("happening", list(Happening))
def test_nothing_leaves_a_final_state(state: State, happening: Happening) -> None:
    assert advance(state, happening) is state


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("happening", list(Happening))
def test_a_happening_without_a_row_changes_nothing(state: State, happening: Happening) -> None:
    expected = TRANSITIONS[state].get(happening, state)
    assert advance(state, happening) is expected


def test_a_stop_never_counts_as_a_failure() -> None:
    assert {advance(state, Happening.STOP_REQUESTED) for state in LIVE} == {State.STOPPED}


def test_the_diagram_shows_each_transition_once() -> None:
    drawn = mermaid().splitlines()
    rows = [
        f"    {state.value} --> {after.value}: {happening.value}"
        for state, row in TRANSITIONS.items()
        for happening, after in row.items()
    ]
    assert [line for line in drawn if ": " in line] == rows
    assert drawn[0] == "stateDiagram-v2"
