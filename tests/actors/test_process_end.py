"""The end of a process: EOF, TERM, KILL, each in its time, for the whole group and whoever has left it."""

from __future__ import annotations

import os
import signal

import pytest
from support.leaks import is_running, wait_until
from support.ports import ECHO, STUBBORN, started

from claude_actors.actors.port_types import KILL_NOW, PortExit, StopDeadlines
from claude_actors.errors import WriteFailed

#: Starts a child that ignores TERM and says both pids; {leave} may take the child out of the group.
PARENT = """
    import os, signal, time
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        {leave}
        os.write(writing, b"x")
        while True:
            signal.pause()
    os.read(reading, 1)
    print(child, flush=True)
    {then}
"""

LEAVING = ["", "os.setsid()", "os.setpgid(0, 0)"]


def test_a_process_that_ends_at_the_end_of_its_input_gets_no_signal() -> None:
    port, sink = started(ECHO)
    sink.pid()
    port.stop(StopDeadlines(eof=30.0))
    assert sink.exit() == PortExit(code=0)


def test_a_process_that_ignores_the_end_of_its_input_gets_term() -> None:
    port, sink = started("import signal; print(1, flush=True); signal.pause()")
    sink.lines(1)
    port.stop(StopDeadlines(eof=0.05, term=30.0))
    assert sink.exit() == PortExit(signal=signal.SIGTERM)


def test_a_process_that_ignores_term_too_is_killed() -> None:
    port, sink = started(STUBBORN)
    sink.lines(1)
    port.stop(StopDeadlines(eof=0.05, term=0.05, kill=30.0))
    assert sink.exit() == PortExit(signal=signal.SIGKILL)


def test_a_second_stop_can_only_hasten_the_end() -> None:
    port, sink = started(STUBBORN)
    sink.lines(1)
    port.stop(StopDeadlines(eof=1000.0, term=1000.0))
    port.stop(KILL_NOW)
    port.stop(StopDeadlines(eof=1000.0, term=1000.0))
    assert sink.exit() == PortExit(signal=signal.SIGKILL)


def test_a_stuck_input_does_not_hold_up_the_end() -> None:
    port, sink = started(STUBBORN)
    sink.lines(1)
    port.write(b"a" * 10_000_000 + b"\n")
    port.stop(StopDeadlines(eof=0.05, term=0.05, kill=30.0))
    assert sink.exit() == PortExit(signal=signal.SIGKILL)
    with pytest.raises(WriteFailed):
        port.write(b"late\n")


@pytest.mark.parametrize("leave", LEAVING)
@pytest.mark.parametrize(
    "then", ["os.read(0, 1)", "os._exit(0)", "os.kill(os.getpid(), 9)"], ids=["stopped", "exits", "crashes"]
)
def test_no_child_of_the_process_outlives_it(leave: str, then: str) -> None:
    port, sink = started(PARENT.format(leave=leave, then=then))
    (child,) = sink.numbers()
    if "read" in then:
        port.stop(StopDeadlines(eof=30.0))
    sink.exit()
    assert wait_until(lambda: not is_running(child), 5.0)


@pytest.mark.parametrize("leave", LEAVING)
def test_the_report_of_the_end_comes_when_the_children_are_dead_or_dying(leave: str) -> None:
    port, sink = started(PARENT.format(leave=leave, then="os.read(0, 1)"))
    (child,) = sink.numbers()
    port.stop(KILL_NOW)
    sink.exit()
    # A killed process that nobody has reaped yet cannot run any more.
    assert not is_running(child)


def test_a_chain_of_children_that_fork_away_from_the_group_is_found_to_its_end() -> None:
    port, sink = started("""
        import os, signal
        for generation in range(5):
            reading, writing = os.pipe()
            if os.fork():
                os.read(reading, 1)
                break
            os.setsid()
            print(os.getpid(), flush=True)
            os.write(writing, b"x")
        if generation == 0:
            os.read(0, 1)
        while generation:
            signal.pause()
    """)
    pids = sink.numbers(4)
    port.stop(StopDeadlines(eof=30.0))
    sink.exit()
    assert wait_until(lambda: not any(map(is_running, pids)), 5.0)


def test_other_ports_of_the_same_process_are_left_alone() -> None:
    doomed, doomed_sink = started(STUBBORN)
    other, other_sink = started(ECHO)
    doomed_sink.lines(1)
    other_sink.pid()
    doomed.stop(KILL_NOW)
    doomed_sink.exit()
    other.write(b"still here\n")
    assert other_sink.lines(1) == [b"still here"]
    other.stop(KILL_NOW)
    other_sink.exit()


def test_a_process_that_outlives_kill_is_given_up_in_time_and_reaped_when_it_dies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real_killpg = os.killpg
    monkeypatch.setattr(os, "killpg", lambda _group, _number: None)
    port, sink = started(STUBBORN)
    sink.lines(1)
    port.stop(StopDeadlines(eof=0.0, term=0.0, kill=0.05))
    assert sink.exit() == PortExit()
    monkeypatch.setattr(os, "killpg", real_killpg)
    os.kill(sink.pid(), signal.SIGKILL)


def test_fifty_processes_crash_and_stop_at_once_and_nothing_is_left() -> None:
    ports = [started(PARENT.format(leave=LEAVING[n % 3], then="os.read(0, 1)")) for n in range(50)]
    children = [sink.numbers()[0] for _port, sink in ports]
    for n, (port, sink) in enumerate(ports):
        if n % 2:
            os.kill(sink.pid(), signal.SIGKILL)
        else:
            port.stop(KILL_NOW)
    for _port, sink in ports:
        sink.exit()
    assert wait_until(lambda: not any(map(is_running, children)), 5.0)
