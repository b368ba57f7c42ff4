"""What tests of fleets look for."""

from __future__ import annotations

from typing import Any, Protocol

from claude_actors.fleet import Fleet, Job
from claude_actors.testing.fake import FakeCLI, Run
from claude_actors.testing.script import Script
from support.leaks import wait_until

#: The longest that a test waits for anything; nothing takes so long unless it is broken.
WITHIN = 30.0


class MakeFake(Protocol):
    """Makes a fake CLI that is closed at the end of the test."""

    def __call__(self, *scripts: Script) -> FakeCLI: ...


class MakeFleet(Protocol):
    """Makes a fleet over a fake CLI that is stopped at the end of the test; `options` are more options."""

    def __call__(self, fake: FakeCLI, **settings: Any) -> Fleet: ...


def becomes(job: Job, state: str) -> bool:
    """Wait until a job is in a state."""
    return wait_until(lambda: job.state == state, WITHIN)


def conversations(fake: FakeCLI) -> list[Run]:
    """The runs that had a conversation, not those that only told their version."""
    return [run for run in fake.runs() if "--input-format" in " ".join(run.argv)]


def prompts(fake: FakeCLI) -> list[str]:
    """Every prompt that reached a CLI, in the order of the processes."""
    frames = [frame for run in conversations(fake) for frame in run.received if frame and frame["type"] == "user"]
    return [frame["message"]["content"] for frame in frames]


def idle_sessions(fleet: Fleet) -> int:
    return sum(slot.state == "idle" for slot in fleet.snapshot().sessions)
