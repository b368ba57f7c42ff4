"""The warden: one for all ports, gone with the last, and never a danger to anybody else."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from support.leaks import command_of, descendants, is_running, wait_until
from support.ports import ECHO, CollectingSink, python, started

from claude_actors.actors import births, process_end, spawn, sweeper, warden
from claude_actors.actors.port_types import KILL_NOW
from claude_actors.actors.process_port import ProcessPort
from claude_actors.actors.ward_table import WardTable
from claude_actors.actors.warden_link import WardenLink

HAS_HAD_A_CHILD = """
    import os
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
"""


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
    second = started(ECHO)
    second[1].pid()
    assert wait_until(our_wardens)
    end(first, second)


@pytest.mark.parametrize("executable", ["", "/usr/sbin/host-program", "/nowhere/python3"])
def test_ports_work_where_no_warden_can_be_started(executable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    port, sink = ProcessPort(python(ECHO), env={}), CollectingSink()
    monkeypatch.setattr(sys, "executable", executable)
    port.start(sink)
    port.write(b"x\n")
    assert sink.lines(1) == [b"x"]
    assert not our_wardens()
    end((port, sink))


def told(table: WardTable) -> tuple[set[int], set[bytes]]:
    """What a warden finds in the table."""
    ward = warden.Ward.read(os.pread(table.fd, 1 << 20, 0))
    return ward.groups, ward.cookies


def test_the_table_holds_who_is_alive_and_nobody_else() -> None:
    table = WardTable()
    try:
        assert told(table) == (set(), set())
        for number in range(100):
            table.add(f"cookie{number}")
            table.set_group(f"cookie{number}", 1000 + number)
        table.set_group("cookie7", 0)
        for number in range(0, 100, 2):
            table.remove(f"cookie{number}")
        odd = range(1, 100, 2)
        assert told(table) == ({1000 + n for n in odd if n != 7}, {b"cookie%d" % n for n in odd})
        assert len(table) == 50
    finally:
        table.close()


def test_the_table_grows_no_longer_than_there_were_bearers_at_once() -> None:
    table = WardTable()
    try:
        for number in range(1000):
            table.add(f"cookie{number}")
            table.remove(f"cookie{number - 3}")
        assert os.fstat(table.fd).st_size == 4 * warden.ROW
    finally:
        table.close()


def test_what_is_told_of_an_unknown_cookie_or_twice_changes_nothing() -> None:
    table = WardTable()
    try:
        table.add("here")
        table.remove("never there")
        table.set_group("never there", 5)
        table.add("gone")
        table.remove("gone")
        table.remove("gone")
        table.add("first")
        table.add("second")
        assert told(table) == (set(), {b"here", b"first", b"second"})
    finally:
        table.close()


@pytest.mark.parametrize("damaged", [b" ", b"\0", b"nonsense", b"-1 cookie", b"1 2 3", b"12"])
def test_a_damaged_row_hides_no_sound_one(damaged: bytes) -> None:
    ward = warden.Ward.read(damaged.ljust(warden.ROW) + warden.row(11, "sound") + b"13 cut off")
    assert (ward.groups, ward.cookies) == ({11}, {b"sound"})


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
    _port, sink = started(HAS_HAD_A_CHILD)
    sink.exit()
    assert steps == ["group killed", "group forgotten", "reaped", "swept", "cookie forgotten"]


@pytest.mark.parametrize(("born_since", "searches"), [(1, 0), (2, 1)], ids=["itself", "another"])
def test_descendants_are_only_looked_for_if_anybody_was_born_since(
    born_since: int, searches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    monkeypatch.setattr(sweeper, "kill_bearers", lambda *looked: len(looks.append(looked) or ()))  # type: ignore[func-returns-value]
    monkeypatch.setattr(spawn, "births", lambda: 1000)
    monkeypatch.setattr(births, "births", lambda: 1000 + born_since)
    _port, sink = started("pass")
    sink.exit()
    assert len(looks) == searches


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
