"""What the parts of a fleet share: its jobs, sessions and numbers. Written by the actor, read by the handle."""

from __future__ import annotations

import threading

import msgspec

from claude_actors.fleet.errors import FleetClosed
from claude_actors.fleet.feed import SlotFeed
from claude_actors.fleet.inputs import Outcome
from claude_actors.fleet.job import Job
from claude_actors.fleet.journal import JournalFile
from claude_actors.fleet.places import QueuePlaces
from claude_actors.fleet.state import FleetState
from claude_actors.mailbox.promise import Promise


class FleetCounters(msgspec.Struct):
    """What has passed through a fleet since it was made."""

    submitted: int = 0
    done: int = 0
    failed: int = 0
    cancelled: int = 0
    stopped: int = 0
    attempts: int = 0
    retries: int = 0

    def count(self, outcome: Outcome) -> None:
        """Count an end."""
        setattr(self, outcome, getattr(self, outcome) + 1)


class Roster:
    """The shared part of one fleet. `lock` guards the jobs against two who submit, and against the close."""

    def __init__(self, state: FleetState, journal: JournalFile | None) -> None:
        self.state = state
        self.journal = journal
        self.lock = threading.Lock()
        self.jobs: dict[str, Job] = {}
        self.feeds: dict[int, SlotFeed] = {}
        self.places = QueuePlaces(state.limits.queue)
        self.counters = FleetCounters()
        self.over: Promise[BaseException | None] = Promise()
        self.closed = False

    def close(self) -> None:
        """Let nobody submit any more."""
        with self.lock:
            self.closed = True
        self.places.close(FleetClosed())
