"""Going on after an earlier fleet: its processes first have to be gone."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.fleets import WITHIN, MakeFake, MakeFleet
from support.leaks import state_of, wait_until

from claude_actors.errors import InvalidOptions
from claude_actors.fleet import Fleet, Spent, Task, records
from claude_actors.fleet.records import encode_record
from claude_actors.fleet.recovery import wait_for_processes
from claude_actors.testing.faults import Echo
from claude_actors.testing.script import reply, script

ECHO = script(reply(Echo(), times=None))


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])


def test_processes_that_are_gone_are_not_waited_for() -> None:
    gone = sleeper()
    gone.kill()
    gone.wait()
    wait_for_processes([gone.pid], patience=1e9)


def test_a_process_that_is_dead_but_not_collected_is_not_waited_for() -> None:
    dead = sleeper()
    dead.kill()
    assert wait_until(lambda: state_of(dead.pid) == "Z", WITHIN)
    wait_for_processes([dead.pid], patience=1e9)
    dead.wait()


def test_a_process_that_still_lives_is_waited_for() -> None:
    alive = sleeper()
    waiting = threading.Thread(target=wait_for_processes, args=([alive.pid], 1e9))
    waiting.start()
    assert waiting.is_alive()
    alive.kill()
    alive.wait()
    waiting.join(WITHIN)
    assert not waiting.is_alive()


def test_a_number_that_stays_in_use_costs_only_the_patience() -> None:
    alive = sleeper()
    wait_for_processes([alive.pid], patience=0.05)
    alive.kill()
    alive.wait()


def test_a_fleet_waits_for_the_processes_of_its_predecessor(fakes: MakeFake, fleets: MakeFleet, tmp_path: Path) -> None:
    alive, journal = sleeper(), tmp_path / "j"
    story: list[records.AnyRecord] = [
        records.TaskAdded(id="a", task={"prompt": "hello"}),
        records.AttemptBegan(id="a", attempt=1, session_id="00000000-0000-4000-8000-000000000001"),
        records.SessionRan(id="a", pid=alive.pid),
    ]
    journal.write_bytes(b"".join(map(encode_record, story)))
    fake, made = fakes(ECHO), list[Fleet]()
    making = threading.Thread(target=lambda: made.append(fleets(fake, journal=journal)))
    making.start()
    assert making.is_alive()
    alive.kill()
    alive.wait()
    making.join(WITHIN)
    (job,) = made[0].recovered
    # The conversation is not there, so the task begins anew.
    assert job.result(WITHIN).result == "hello"


def test_a_journal_whose_tasks_cannot_be_made_again_is_not_kept_locked(
    fakes: MakeFake, fleets: MakeFleet, tmp_path: Path
) -> None:
    journal = tmp_path / "j"
    bad = records.TaskAdded(id="a", task={"prompt": "hello", "options": {"no_such_option": 1}})
    journal.write_bytes(encode_record(bad))
    fake = fakes(ECHO)
    with pytest.raises(InvalidOptions, match="no_such_option"):
        fleets(fake, journal=journal)
    end = records.TaskFinished(id="a", outcome="cancelled", spent=Spent())
    journal.write_bytes(journal.read_bytes() + encode_record(end))
    assert fleets(fake, journal=journal).submit(Task("hello", id="b")).result(WITHIN).result == "hello"
