"""The lifecycle of one CLI process as one literal table and one function.

It decides which state follows which happening, and nothing else: what must be done on the way is the
machine's business.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


class State(enum.Enum):
    """Where a session stands."""

    STARTING = "starting"
    INIT_SENT = "init_sent"
    RUNNING = "running"
    STOPPED = "stopped"
    FAILED = "failed"

    def __init__(self, value: str) -> None:
        #: Whether nothing can follow. Asked after every frame, so it is an attribute and no property.
        self.is_final: Final = value in ("stopped", "failed")


class Happening(enum.Enum):
    """What can move a session from one state to the next."""

    SPAWNED = "spawned"
    """The process runs and initialize is on its way."""
    CONFIRMED = "confirmed"
    """The CLI accepted initialize: by its answer, or by a request of its own."""
    REFUSED = "refused"
    """The CLI answered initialize with an error, or could not be started."""
    TIMED_OUT = "timed_out"
    """The CLI did not answer initialize in time."""
    EXITED = "exited"
    """The process ended with code 0 and owed nobody an answer."""
    CRASHED = "crashed"
    """The process ended in any other way."""
    BROKEN = "broken"
    """We cannot go on: the input is stuck, or a mailbox that must not overflow did."""
    STOP_REQUESTED = "stop_requested"
    """Somebody asked for the end."""


TRANSITIONS: Final[Mapping[State, Mapping[Happening, State]]] = MappingProxyType(
    {
        State.STARTING: {
            Happening.SPAWNED: State.INIT_SENT,
            Happening.REFUSED: State.FAILED,
            Happening.EXITED: State.FAILED,
            Happening.CRASHED: State.FAILED,
            Happening.BROKEN: State.FAILED,
            Happening.STOP_REQUESTED: State.STOPPED,
        },
        State.INIT_SENT: {
            Happening.CONFIRMED: State.RUNNING,
            Happening.REFUSED: State.FAILED,
            Happening.TIMED_OUT: State.FAILED,
            Happening.EXITED: State.FAILED,
            Happening.CRASHED: State.FAILED,
            Happening.BROKEN: State.FAILED,
            Happening.STOP_REQUESTED: State.STOPPED,
        },
        State.RUNNING: {
            Happening.EXITED: State.STOPPED,
            Happening.CRASHED: State.FAILED,
            Happening.BROKEN: State.FAILED,
            Happening.STOP_REQUESTED: State.STOPPED,
        },
        # Ends. Late frames still arrive here; they change nothing.
        State.STOPPED: {},
        State.FAILED: {},
    }
)


def advance(state: State, happening: Happening) -> State:
    """Return the state after `happening`; one that has no meaning in `state` changes nothing."""
    return TRANSITIONS[state].get(happening, state)


def mermaid() -> str:
    """Draw the table as a Mermaid state diagram, for the documentation."""
    lines = ["stateDiagram-v2", f"    [*] --> {State.STARTING.value}"]
    for state, row in TRANSITIONS.items():
        lines += [f"    {state.value} --> {after.value}: {happening.value}" for happening, after in row.items()]
    lines += [f"    {state.value} --> [*]" for state in State if state.is_final]
    return "\n".join(lines) + "\n"
