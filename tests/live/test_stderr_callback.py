"""`Options.stderr` is called with every line that the CLI writes there, in order, and can hold up nothing."""

from __future__ import annotations

import sys
import threading

import pytest
from support.leaks import wait_until
from support.live import DEADLINE, next_event, running

from claude_actors import SessionCrashed, SessionStopped, StderrReceived, start_session
from claude_actors.actors import stderr_caller
from claude_actors.actors.stderr_caller import StderrCaller
from claude_actors.actors.task_pool import PoolExhausted, TaskPool
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Die, Stderr
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.script import reply, script


def test_every_line_of_a_process_comes_once_and_in_order_whole_also_the_last_before_it_dies() -> None:
    lines: list[str] = []
    many = tuple(f"line {number}" for number in range(500))
    with FakeCLI(script(reply(Stderr(many), "done", Stderr(("last words",)), Die(1)))) as cli:
        session = start_session("go", cli.options(stderr=lines.append))
        assert session.last_turn is not None
        with pytest.raises(SessionCrashed) as raised:
            session.last_turn.result(DEADLINE)
        assert wait_until(lambda: len(lines) == 501)
    assert lines == [*many, "last words"]
    # The tail of the error is bounded, the callback's lines are not.
    assert raised.value.stderr_tail == (*many, "last words")[-100:]


def test_a_line_that_is_no_text_is_made_one_and_blank_ones_are_left_out() -> None:
    cli, lines = MemoryCLI(), list[str]()
    with running(cli, stderr=lines.append):
        cli.push_stderr(b"caf\xe9\r\n\n  \nin two ")
        cli.push_stderr(b"parts\nunfinished")
        cli.exit(0)
    assert wait_until(lambda: len(lines) == 3)
    assert lines == ["caf\ufffd", "in two parts", "unfinished"]


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_a_callback_that_raises_gets_the_next_line_all_the_same(error: type[BaseException]) -> None:
    cli, lines = MemoryCLI(), list[str]()

    def callback(line: str) -> None:
        lines.append(line)
        raise error

    with running(cli, stderr=callback) as session:
        cli.push_stderr(b"one\ntwo\n")
        assert wait_until(lambda: lines == ["one", "two"])
        assert session.state == "running"


def test_a_callback_that_hangs_delays_nothing_and_what_does_not_fit_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stderr_caller, "_MOST_WAITING", 10)
    release, lines, cli = threading.Event(), list[str](), MemoryCLI()

    def callback(line: str) -> None:
        lines.append(line)
        release.wait(4 * DEADLINE)

    with running(cli, stderr=callback, stderr_events=True) as session:
        cli.push_stderr(b"first\n")
        assert wait_until(lambda: lines == ["first"])
        cli.push_stderr(b"".join(b"%d\n" % number for number in range(25)))
        # The event behind the lines shows that they were taken in without waiting.
        assert len(next_event(session, StderrReceived).lines) == 1
        assert len(next_event(session, StderrReceived).lines) == 25
        assert isinstance(session.stop(), SessionStopped)
        release.set()
    assert wait_until(lambda: len(lines) == 11)
    assert lines == ["first", *map(str, range(10))]


def test_lines_that_found_no_thread_are_called_with_the_next_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, lines = TaskPool.acquire(), list[str]()
    caller = StderrCaller(lines.append, pool)

    def exhausted(_pool: TaskPool, _job: object) -> None:
        raise PoolExhausted

    with monkeypatch.context() as patch:
        patch.setattr(TaskPool, "run", exhausted)
        caller.pass_on(("one",))
    assert lines == []
    caller.pass_on(("two",))
    assert wait_until(lambda: lines == ["one", "two"])
    pool.release()


def test_without_a_callback_nothing_is_kept_for_one() -> None:
    pool = TaskPool.acquire()
    caller = StderrCaller(None, pool)
    caller.pass_on(("one",) * 100_000)
    assert (caller.dropped, pool.threads) == (0, 0)
    pool.release()


def test_a_callback_may_write_to_stderr_itself(capsys: pytest.CaptureFixture[str]) -> None:
    cli, done = MemoryCLI(), threading.Event()

    def callback(line: str) -> None:
        print(line, file=sys.stderr)  # noqa: T201 - what users do first
        done.set()

    with running(cli, stderr=callback):
        cli.push_stderr(b"hello\n")
        assert done.wait(DEADLINE)
    assert "hello" in capsys.readouterr().err
