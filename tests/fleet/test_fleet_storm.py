"""Fifty sessions under random kills: no task lost, none reported twice, no orphan, no leak.

`FLEET_STORM_SECONDS` makes the storm longer; the suite runs a short one.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path

from support.fleets import WITHIN, MakeFake, MakeFleet, conversations
from support.leaks import is_running, wait_until

from claude_actors.fleet import Fleet, Job, Journal, RetryPolicy, Task, as_completed, records
from claude_actors.fleet.records import decode_line
from claude_actors.protocol.restarts import Backoff
from claude_actors.testing.faults import Echo
from claude_actors.testing.script import Pause, WaitFor, reply, script

SECONDS = float(os.environ.get("FLEET_STORM_SECONDS", "6"))
SESSIONS = 50
#: So many attempts at least must have died in the storm.
ENOUGH = 20


class Killer(threading.Thread):
    """Kills a random session of the fleet, again and again, by SIGKILL."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__(name="killer", daemon=True)
        self._fleet = fleet
        self._chance = random.Random(5)
        self.over = threading.Event()
        self.kills = 0

    def run(self) -> None:
        while not self.over.wait(0.05):
            pids = [slot.pid for slot in self._fleet.snapshot().sessions if slot.pid is not None and slot.job]
            if pids:
                try:
                    os.kill(self._chance.choice(pids), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                self.kills += 1


def test_fifty_sessions_under_random_kills_lose_no_task_and_report_none_twice(
    fakes: MakeFake, fleets: MakeFleet, tmp_path: Path
) -> None:
    fake = fakes(script(reply(WaitFor("all are there"), Pause(0.3), Echo(), times=None)))
    journal = tmp_path / "storm.journal"
    retry = RetryPolicy(retries=10_000, backoff=Backoff(first=0.01, most=0.1))
    fleet = fleets(fake, max_sessions=SESSIONS, queue=100, journal=Journal(journal, "never"), retry=retry)
    reported: Counter[str] = Counter()
    lock = threading.Lock()

    def report(job: Job) -> None:
        with lock:
            reported[job.id] += 1

    jobs: list[Job] = []

    def submit() -> None:
        job = fleet.submit(Task(f"prompt {len(jobs)}", id=str(len(jobs)), messages="none"))
        job.add_done_callback(report)
        jobs.append(job)

    for _ in range(SESSIONS):
        submit()
    alive = {fake.gates.wait_reached("all are there", 90.0) for _ in range(SESSIONS)}
    assert len(alive) == SESSIONS
    fake.gates.open("all are there")
    killer = Killer(fleet)
    killer.start()
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end or fleet.snapshot().counters.retries < ENOUGH:
            # The queue is bounded, so submitting goes at the pace of the fleet.
            submit()
    finally:
        killer.over.set()
        killer.join(WITHIN)
    results = {job.id: job.result(0).result for job in as_completed(jobs, 90.0)}
    fleet.drain(WITHIN)

    wanted = {str(number): f"prompt {number}" for number in range(len(jobs))}
    assert results == wanted
    assert wait_until(lambda: reported == Counter(dict.fromkeys(wanted, 1)), WITHIN)
    ends = [decode_line(line) for line in journal.read_bytes().splitlines(keepends=True)]
    assert Counter(end.id for end in ends if isinstance(end, records.TaskFinished)) == reported
    assert fleet.snapshot().counters.done == len(jobs) > SESSIONS
    assert killer.kills >= ENOUGH
    assert fleet.snapshot().sessions == ()
    assert not any(is_running(run.pid) for run in conversations(fake))
