"""The reader of a pipe: slice by slice, resting while whoever takes its bytes is behind, and closed exactly once."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from itertools import repeat

import pytest
from support.leaks import wait_until

from claude_actors.actors.pipes import BULKY, PipeReader
from claude_actors.actors.reactor import Reactor

DEADLINE = 30.0


@pytest.fixture
def reactor() -> Iterator[Reactor]:
    reactor = Reactor.acquire()
    yield reactor
    reactor.release()


class Reading:
    """A reader of a pipe of our own, and what it has said."""

    def __init__(self, reactor: Reactor, crowded: Iterator[bool]) -> None:
        self.chunks: list[bytes] = []
        self.asked = 0
        self.ended = threading.Event()
        self.ends = 0
        self._crowded = crowded
        reading, self.writing = os.pipe()
        os.set_blocking(reading, False)
        self.reader: PipeReader
        started = threading.Event()

        def start() -> None:
            self.reader = PipeReader(reactor, reading, self.chunks.append, self._end, self._is_crowded)
            started.set()

        reactor.call_soon(start)
        assert started.wait(DEADLINE)

    def _is_crowded(self) -> bool:
        self.asked += 1
        return next(self._crowded)

    def _end(self) -> None:
        self.ends += 1
        self.ended.set()


def test_a_reader_rests_before_each_slice_but_never_twice_in_a_row(reactor: Reactor) -> None:
    reading = Reading(reactor, repeat(True))
    os.write(reading.writing, b"one")
    os.close(reading.writing)
    assert reading.ended.wait(DEADLINE)
    assert reading.chunks == [b"one"]
    # Asked once for the bytes and once for the end; what follows a rest is read without asking.
    assert (reading.asked, reading.ends) == (2, 1)


def test_a_reader_that_rests_can_be_drained_and_closed(reactor: Reactor) -> None:
    def crowded() -> Iterator[bool]:
        # While it rests, somebody closes it.
        reactor.call_soon(reading.reader.drain)
        yield from repeat(True)

    reading = Reading(reactor, crowded())
    os.write(reading.writing, b"last words")
    assert reading.ended.wait(DEADLINE)
    os.close(reading.writing)
    assert reading.chunks == [b"last words"]
    passed = threading.Event()
    reactor.call_at(reactor.now() + 0.01, passed.set)
    assert passed.wait(DEADLINE)
    assert reading.ends == 1


def test_a_reader_that_nobody_is_behind_reads_at_once(reactor: Reactor) -> None:
    reading = Reading(reactor, repeat(False))
    os.write(reading.writing, b"one")
    os.close(reading.writing)
    assert reading.ended.wait(DEADLINE)
    assert b"".join(reading.chunks) == b"one"


@pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="the room of a pipe is fixed here")
@pytest.mark.parametrize(("size", "widened"), [(BULKY - 1, False), (BULKY, True)])
def test_a_pipe_that_is_found_full_is_made_wider_and_no_other(reactor: Reactor, size: int, widened: bool) -> None:
    reading = Reading(reactor, repeat(False))
    before = fcntl.fcntl(reading.writing, fcntl.F_GETPIPE_SZ)
    os.write(reading.writing, b"x" * size)
    assert wait_until(lambda: sum(map(len, reading.chunks)) == size)
    os.write(reading.writing, b"behind it")
    assert wait_until(lambda: reading.chunks[-1].endswith(b"behind it"))
    assert (fcntl.fcntl(reading.writing, fcntl.F_GETPIPE_SZ) > before) is widened
    os.close(reading.writing)
    assert reading.ended.wait(DEADLINE)
