"""What a scenario is: a function that plays one feature on a stage and asserts what a user would see.

Scenarios are plain functions with plain asserts, so that they run in pytest, in the report, and by hand.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from claude_actors.testing.conformance.stage import Stage

Play = Callable[[Stage], None]


class NotHere(Exception):
    """Raise this in a scenario that cannot be played on this machine; the message says why."""


class Scenario(msgspec.Struct, frozen=True):
    """One claim about the CLI and this library, with the function that shows it."""

    group: str
    name: str
    play: Play

    @property
    def claim(self) -> str:
        """The claim as a sentence."""
        return self.name.replace("_", " ")


class Group:
    """The scenarios of one feature, in the order in which they are written."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.scenarios: list[Scenario] = []

    def scenario(self, play: Play) -> Play:
        """Add a function; its name is the claim. The function is returned as it was given."""
        self.scenarios.append(Scenario(self.name, play.__name__, play))
        return play
