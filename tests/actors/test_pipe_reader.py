"""The reader of a pipe: slice by slice, resting while whoever takes its bytes is behind, and closed exactly once."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from itertools import chain, repeat

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

    def __init__(self, reactor: Reactor, rests: Iterator[float]) -> None:
        self.chunks: list[bytes] = []
        self.asked = 0
        self.ended = threading.Event()
        self.ends = 0
        self._rests = rests
        self.relieve: Callable[[], object] = lambda: None
        reading, self.writing = os.pipe()
        os.set_blocking(reading, False)
        self.reader: PipeReader
        started = threading.Event()

        def start() -> None:
            self.reader = PipeReader(reactor, reading, self.chunks.append, self._end, self._crowded)
            started.set()

        reactor.call_soon(start)
        assert started.wait(DEADLINE)

    def _crowded(self, relieved: Callable[[], object]) -> float:
        self.asked += 1
        self.relieve = relieved
        return next(self._rests)

    def _end(self) -> None:
        self.ends += 1
        self.ended.set()


def test_a_reader_rests_before_each_slice_but_never_twice_in_a_row(reactor: Reactor) -> None:
    reading = Reading(reactor, repeat(0.001))
    os.write(reading.writing, b"one")
    os.close(reading.writing)
    assert reading.ended.wait(DEADLINE)
    assert reading.chunks == [b"one"]
    # Asked once for the bytes and once for the end; what follows a rest is read without asking.
    assert (reading.asked, reading.ends) == (2, 1)


def test_a_reader_that_is_relieved_reads_on_at_once_and_a_relief_that_comes_late_changes_nothing(
    reactor: Reactor,
) -> None:
    reading = Reading(reactor, chain([3600.0], repeat(0.0)))
    os.write(reading.writing, b"one")
    assert wait_until(lambda: reading.asked == 1)
    for _ in range(3):
        reading.relieve()
    assert wait_until(lambda: reading.chunks == [b"one"])
    os.write(reading.writing, b"two")
    assert wait_until(lambda: reading.chunks == [b"one", b"two"])
    os.close(reading.writing)
    assert reading.ended.wait(DEADLINE)
    reading.relieve()
    assert reading.ends == 1


def test_a_reader_that_rests_can_be_drained_and_closed(reactor: Reactor) -> None:
    def crowded() -> Iterator[float]:
        # While it rests, somebody closes it.
        reactor.call_soon(reading.reader.drain)
        yield from repeat(0.001)

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
    reading = Reading(reactor, repeat(0.0))
    os.write(reading.writing, b"one")
    os.close(reading.writing)
    assert reading.ended.wait(DEADLINE)
    assert b"".join(reading.chunks) == b"one"


@pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="the room of a pipe is fixed here")
@pytest.mark.parametrize(("size", "widened"), [(BULKY - 1, False), (BULKY, True)])
def test_a_pipe_that_is_found_full_is_made_wider_and_no_other(reactor: Reactor, size: int, widened: bool) -> None:
    reading = Reading(reactor, repeat(0.0))
    before = fcntl.fcntl(reading.writing, fcntl.F_GETPIPE_SZ)
    os.write(reading.writing, b"x" * size)
    assert wait_until(lambda: sum(map(len, reading.chunks)) == size)
    os.write(reading.writing, b"behind it")
    assert wait_until(lambda: reading.chunks[-1].endswith(b"behind it"))
    assert (fcntl.fcntl(reading.writing, fcntl.F_GETPIPE_SZ) > before) is widened
    os.close(reading.writing)
    assert reading.ended.wait(DEADLINE)
