"""What is written to a process: whole lines, bounded, never blocking."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from support.leaks import wait_until
from support.ports import DEADLINE, ECHO, STUBBORN, started

from claude_actors.actors.port_types import KILL_NOW, PortExit
from claude_actors.errors import WriteFailed

MIB = 1024 * 1024

#: Reads nothing until it gets a signal, then counts what it reads.
READS_LATE = """
    import os, signal, sys
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    print("ready", flush=True)
    signal.sigwait({signal.SIGUSR1})
    print(sum(len(line) for line in sys.stdin.buffer))
"""


def test_sixteen_mebibytes_in_both_directions_at_once_do_not_deadlock() -> None:
    port, sink = started("""
        import os, sys
        for _ in range(256):
            sys.stdout.buffer.write(b"x" * 65536)
        sys.stdout.flush()
        print(len(sys.stdin.buffer.readline()))
    """)
    port.write(b"y" * (16 * MIB - 1) + b"\n")
    port.close_input()
    assert sink.exit() == PortExit(code=0)
    assert sink.output == b"x" * (16 * MIB) + b"%d\n" % (16 * MIB)


def test_lines_written_by_many_threads_are_never_interleaved() -> None:
    port, sink = started(ECHO)
    lines = [[b"%d-%d-" % (thread, number) + b"z" * 9000 + b"\n" for number in range(50)] for thread in range(8)]
    threads = [threading.Thread(target=lambda mine=mine: [*map(port.write, mine)]) for mine in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    port.close_input()
    sink.exit()
    came = sink.output.splitlines(keepends=True)
    assert sorted(came) == sorted(line for mine in lines for line in mine)
    for mine in lines:
        assert [line for line in came if line in set(mine)] == mine


def test_a_line_over_the_bound_is_refused_whole_and_those_before_it_arrive() -> None:
    port, sink = started(READS_LATE, max_unwritten=MIB)
    sink.lines(1)
    port.write(b"a" * (MIB - 1) + b"\n")
    with pytest.raises(WriteFailed, match="not written"):
        port.write(b"b" * MIB + b"\n")
    port.close_input()
    os.kill(sink.pid(), signal.SIGUSR1)
    sink.exit()
    assert sink.output.split() == [b"ready", b"%d" % MIB]


def test_a_process_that_reads_nothing_for_too_long_is_reported_as_stuck() -> None:
    port, sink = started(STUBBORN, write_timeout=0.1)
    sink.lines(1)
    port.write(b"a" * MIB + b"\n")
    assert "has read nothing" in str(sink.first("write_failed"))
    with pytest.raises(WriteFailed):
        port.write(b"more\n")
    port.stop(KILL_NOW)
    sink.exit()


def test_a_process_that_has_closed_its_input_makes_the_next_line_fail() -> None:
    port, sink = started("""
        import os, signal
        os.close(0)
        print("closed", flush=True)
        signal.pause()
    """)
    sink.lines(1)
    with pytest.raises(WriteFailed, match="closed its input"):
        port.write(b"x\n")
    with pytest.raises(WriteFailed):
        port.write(b"y\n")
    port.stop(KILL_NOW)
    sink.exit()


def test_a_process_that_dies_with_unwritten_lines_is_reported_by_its_exit() -> None:
    port, sink = started(READS_LATE)
    sink.lines(1)
    port.write(b"a" * (4 * MIB) + b"\n")
    port.stop(KILL_NOW)
    sink.exit()
    with pytest.raises(WriteFailed):
        port.write(b"late\n")


def test_nothing_can_be_written_after_the_input_was_closed() -> None:
    port, sink = started(ECHO)
    port.write(b"x\n")
    port.close_input()
    port.close_input()
    with pytest.raises(WriteFailed, match="closed"):
        port.write(b"y\n")
    sink.exit()
    assert sink.output == b"x\n"


def test_writing_to_a_process_that_does_not_read_never_blocks() -> None:
    port, sink = started(READS_LATE)
    sink.lines(1)
    done = threading.Event()

    def write_much() -> None:
        for _ in range(16):
            port.write(b"a" * MIB + b"\n")
        done.set()

    writer = threading.Thread(target=write_much)
    writer.start()
    assert done.wait(DEADLINE)
    writer.join()
    port.stop(KILL_NOW)
    sink.exit()
    assert wait_until(lambda: sink.kinds[-1] == "exited")
