"""The warden: one for all ports, gone with the last, and never a danger to anybody else."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from support.leaks import command_of, descendants, is_running, wait_until
from support.ports import ECHO, CollectingSink, python, started

from claude_actors.actors import process_end, sweeper, warden
from claude_actors.actors.port_types import KILL_NOW
from claude_actors.actors.process_port import ProcessPort
from claude_actors.actors.warden_link import WardenLink


def our_wardens() -> set[int]:
    return {pid for pid in descendants() if is_running(pid) and "warden.py" in command_of(pid)}


def end(*ports: tuple[ProcessPort, CollectingSink]) -> None:
    for port, _sink in ports:
        port.stop(KILL_NOW)
    for _port, sink in ports:
        sink.exit()


def test_one_warden_serves_all_ports_and_ends_with_the_last_of_them() -> None:
    ports = [started(ECHO) for _ in range(3)]
    for _port, sink in ports:
        sink.pid()
    assert wait_until(lambda: len(our_wardens()) == 1)
    end(*ports)
    assert wait_until(lambda: not our_wardens())


def test_a_warden_that_was_killed_is_replaced_by_a_later_start() -> None:
    first = started(ECHO)
    assert wait_until(our_wardens)
    (killed,) = our_wardens()
    os.kill(killed, signal.SIGKILL)
    assert wait_until(lambda: not is_running(killed))
    # The loss is noticed when there is something to tell it.
    second = started(ECHO)
    second[1].pid()
    third = started(ECHO)
    assert wait_until(our_wardens)
    end(first, second, third)


@pytest.mark.parametrize("executable", ["", "/usr/sbin/host-program", "/nowhere/python3"])
def test_ports_work_where_no_warden_can_be_started(executable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    port, sink = ProcessPort(python(ECHO), env={}), CollectingSink()
    monkeypatch.setattr(sys, "executable", executable)
    port.start(sink)
    port.write(b"x\n")
    assert sink.lines(1) == [b"x"]
    assert not our_wardens()
    end((port, sink))


def test_the_warden_keeps_to_what_it_was_told() -> None:
    ward = warden.Ward()
    for line in (b"* aa", b"+ 11 aa", b"+ 12 bb", b"- 11", b". aa", b"* cc", b"", b"nonsense 1 2 3"):
        ward.hear(line)
    assert (ward.groups, ward.cookies, ward.goodbye) == ({12}, {b"bb", b"cc"}, False)
    ward.hear(b"q")
    assert ward.goodbye


def test_a_group_is_killed_and_forgotten_before_it_is_reaped_and_its_cookie_after_the_sweep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps: list[str] = []

    def note(step: str, owner: object, attribute: str) -> None:
        real = getattr(owner, attribute)

        def noted(*args: object) -> object:
            steps.append(step)
            return real(*args)

        monkeypatch.setattr(owner, attribute, noted)

    note("group forgotten", WardenLink, "forget_group")
    note("group killed", os, "killpg")
    note("reaped", process_end, "reap")
    note("swept", sweeper, "kill_bearers")
    note("cookie forgotten", WardenLink, "forget_cookie")
    _port, sink = started("pass")
    sink.exit()
    assert steps == ["group killed", "group forgotten", "reaped", "swept", "cookie forgotten"]


def test_the_sweep_never_ends_the_process_that_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warden, "_bears", lambda pid, _cookies: pid == os.getpid())
    assert warden.kill_bearers([b"cookie"]) == 0


def test_a_number_that_has_become_a_strangers_between_two_looks_is_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    port, sink = started(ECHO)
    pid = sink.pid()
    looks = iter([True, False])
    monkeypatch.setattr(warden, "_bears", lambda looked_at, _cookies: looked_at == pid and next(looks))
    assert warden.kill_bearers([b"cookie"]) == 0
    monkeypatch.undo()
    port.write(b"alive\n")
    assert sink.lines(1) == [b"alive"]
    end((port, sink))
