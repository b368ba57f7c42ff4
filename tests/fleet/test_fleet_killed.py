"""A fleet's process is killed by SIGKILL, again and again, and the next one goes on from its journal."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from support.fleets import WITHIN, MakeFake, conversations
from support.leaks import is_running, wait_until

from claude_actors.fleet import records
from claude_actors.fleet.records import decode_line
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Echo
from claude_actors.testing.script import Pause, WaitFor, reply, script

TASKS = 12

#: A service that does its tasks with a fleet and says each end once: those of now, and those that the journal knows.
SERVICE = """
import sys
from claude_actors.fleet import Fleet, Task, as_completed
from claude_actors.options import Options

cli_path, journal, count = sys.argv[1:]
with Fleet(max_sessions=3, options=Options(cli_path=cli_path), journal=journal) as fleet:
    jobs = fleet.submit_many([Task(f"prompt {n}", id=f"task {n}") for n in range(int(count))])
    for job in as_completed(jobs):
        print("recorded" if job.recorded else "reported", job.id, job.result().result, sep="|", flush=True)
"""


class Service:
    """One run of the service, in a process of its own."""

    def __init__(self, fake: FakeCLI, journal: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVICE, str(fake.cli_path), str(journal), str(TASKS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def says(self) -> tuple[str, ...] | None:
        """Wait for the next line; None when there will be none."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return tuple(line.rstrip("\n").split("|")) if line else None

    def kill(self) -> list[tuple[str, ...]]:
        """Kill it; gives what it had still said."""
        self._process.send_signal(signal.SIGKILL)
        said, _ = self._process.communicate(timeout=WITHIN)
        return [tuple(line.split("|")) for line in said.splitlines()]

    def finish(self) -> list[tuple[str, ...]]:
        """Wait for its end, which must be a good one."""
        said, complaints = self._process.communicate(timeout=WITHIN)
        assert self._process.returncode == 0, complaints
        return [tuple(line.split("|")) for line in said.splitlines()]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "fleet.journal"


def ends_in(journal: Path) -> Counter[str]:
    """How often each task has ended, by the journal."""
    found = (decode_line(line) for line in journal.read_bytes().splitlines(keepends=True))
    return Counter(record.id for record in found if isinstance(record, records.TaskFinished))


EVERY = {f"task {number}": 1 for number in range(TASKS)}


def test_a_killed_fleet_is_continued_by_the_next_in_the_same_conversations(fakes: MakeFake, journal: Path) -> None:
    slow = [reply(WaitFor("gate"), Echo(), when=f"prompt {number}", times=None) for number in (3, 4, 5)]
    fake = fakes(script(*slow, reply(Echo(), times=None)))
    service = Service(fake, journal)
    said = [service.says() for _ in range(3)]
    stuck = {fake.gates.wait_reached("gate") for _ in range(3)}
    cut_off = {run.pid: run.received[1]["message"]["content"] for run in conversations(fake) if run.pid in stuck}
    said += service.kill()
    assert wait_until(lambda: not any(map(is_running, stuck)), WITHIN)
    before = len(conversations(fake))
    fake.gates.open("gate")
    later = Service(fake, journal).finish()
    assert Counter(line[1] for line in [*said, *later] if line and line[0] == "reported") == EVERY
    assert all(line[2] == line[1].replace("task", "prompt") for line in later)
    assert {line[1] for line in later if line[0] == "recorded"} == {"task 0", "task 1", "task 2"}
    resumed = [run for run in conversations(fake)[before:] if any(word.startswith("--resume=") for word in run.argv)]
    assert sorted(run.received[1]["message"]["content"] for run in resumed) == sorted(cut_off.values())
    assert ends_in(journal) == EVERY


def test_a_fleet_that_is_killed_at_any_time_loses_no_task_and_reports_none_twice(
    fakes: MakeFake, journal: Path
) -> None:
    fake = fakes(script(reply(Pause(0.02), Echo(), times=None)))
    chance = random.Random(7)
    said: list[tuple[str, ...]] = []
    for _ in range(4):
        service = Service(fake, journal)
        for _ in range(chance.randint(0, 4)):
            line = service.says()
            if line is not None:
                said.append(line)
        said += service.kill()
    said += Service(fake, journal).finish()
    reports = Counter(line[1] for line in said if line[0] == "reported")
    assert set(reports.values()) <= {1}
    # Whoever was killed between the record and the report finds the outcome in the next run.
    assert {line[1] for line in said} == set(EVERY)
    assert ends_in(journal) == EVERY
    assert wait_until(lambda: not any(is_running(run.pid) for run in conversations(fake)), WITHIN)
