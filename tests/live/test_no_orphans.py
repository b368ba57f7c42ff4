"""Sessions leave nothing: no process, no zombie, no thread, no file, however they, their actors or Python end."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pykka
import pytest
from support.leaks import Snapshot, descendants, is_running, wait_until
from support.live import DEADLINE, in_thread, joined

from claude_actors import ActorFailed, Session, SessionFailed, SessionStopped, start_session
from claude_actors.actors.keeper import SessionKeeper
from claude_actors.actors.port import PortActor
from claude_actors.actors.session import SessionActor
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Die, IgnoreEof, IgnoreTerm, SpawnChild
from claude_actors.testing.script import Script, WaitFor, reply, script

WITHIN = 5.0
#: Children of the CLI that will not leave by themselves, one of them in a session of its own.
CHILDREN = (SpawnChild(ignore_term=True), SpawnChild(ignore_term=True, new_session=True))
QUICK: dict[str, Any] = {"eof_grace": 0.2, "term_grace": 0.2}


def pids_of(cli: FakeCLI) -> list[int]:
    """Every process that any run of this CLI was, or has started."""
    runs = cli.runs()
    return [run.pid for run in runs] + [note["pid"] for run in runs for note in run.of("child")]


def cycle(cli: FakeCLI, number: int) -> None:
    """Start a session and end it, in one of several ways."""
    session = start_session("go", cli.options(**QUICK))
    assert session.pid is not None
    match number % 4:
        case 0:
            session.stop()
        case 1:
            os.kill(session.pid, signal.SIGKILL)
        case 2:
            os.kill(session.pid, signal.SIGTERM)
        case _:
            assert session.last_turn is not None
            session.last_turn.result(DEADLINE)
            session.stop()
    assert session.wait(DEADLINE) is not None


def test_two_hundred_sessions_that_start_crash_and_stop_leave_nothing() -> None:
    with FakeCLI(script(reply("done", times=None))) as cli:
        cycle(cli, 0)
        before = Snapshot()

        def cycles(first: int) -> None:
            for number in range(first, first + 50):
                cycle(cli, number)

        joined(*(in_thread(cycles, first) for first in range(0, 200, 50)))
        assert wait_until(lambda: not before.leaks(), WITHIN), before.leaks()
        assert len(cli.runs()) == 201
        assert not any(map(is_running, pids_of(cli)))


@pytest.mark.parametrize("ending", ["stop", "crash", "kill"])
def test_the_children_of_the_cli_end_with_it_also_those_that_have_left_its_group(ending: str) -> None:
    with FakeCLI(script(reply(*CHILDREN, WaitFor("go"), Die(1)))) as cli:
        session = start_session("go", cli.options(**QUICK))
        cli.gates.wait_reached("go")
        pids = pids_of(cli)
        assert len(pids) == 3
        assert all(map(is_running, pids))
        if ending == "stop":
            session.stop()
        elif ending == "crash":
            cli.gates.open("go")
        else:
            os.kill(pids[0], signal.SIGKILL)
        assert session.wait(DEADLINE) is not None
        assert wait_until(lambda: not any(map(is_running, pids)), WITHIN)


STUBBORN = script(reply(IgnoreTerm(), IgnoreEof(), *CHILDREN, WaitFor("never")))


def fail(_self: object, _message: object) -> None:
    raise LookupError("a bug of ours")


@pytest.mark.parametrize(("actor", "method"), [(SessionActor, "on_message"), (PortActor, "_write")])
def test_the_failure_of_an_actor_ends_its_session_and_its_processes(
    actor: type[pykka.Actor], method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeCLI(STUBBORN) as cli:
        session = start_session("go", cli.options(**QUICK))
        cli.gates.wait_reached("never")
        pids = pids_of(cli)
        monkeypatch.setattr(actor, method, fail)
        # What the actor is told next is its end.
        session.send("one more")
        final = session.wait(DEADLINE)
        monkeypatch.undo()
        assert isinstance(final, SessionFailed)
        assert isinstance(final.error, ActorFailed)
        assert "a bug of ours" in str(final.error)
        # An end is told when nothing is left, not before.
        assert not any(map(is_running, pids[:1]))
        assert wait_until(lambda: not any(map(is_running, pids)), WITHIN)
        with pytest.raises(ActorFailed):
            list(session.messages())


def test_the_failure_of_the_keeper_itself_leaves_nobody_waiting_and_nothing_running(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FakeCLI(STUBBORN) as cli:
        session = start_session("go", cli.options(**QUICK))
        assert session.last_turn is not None
        cli.gates.wait_reached("never")
        pids = pids_of(cli)
        monkeypatch.setattr(SessionKeeper, "on_message", fail)
        session.finish()
        final = session.wait(DEADLINE)
        monkeypatch.undo()
        assert isinstance(final, SessionFailed)
        with pytest.raises(ActorFailed):
            session.last_turn.result(DEADLINE)
        assert wait_until(lambda: not any(map(is_running, pids)), WITHIN)


def test_stop_all_of_the_host_program_ends_every_session_as_stopped() -> None:
    with FakeCLI(STUBBORN) as cli:
        sessions = [start_session("go", cli.options(**QUICK)) for _ in range(3)]
        for _ in sessions:
            cli.gates.wait_reached("never")
        pykka.ActorRegistry.stop_all()
        assert [type(session.final_event) for session in sessions] == [SessionStopped] * 3
        assert pykka.ActorRegistry.get_all() == []
        assert wait_until(lambda: not any(map(is_running, pids_of(cli))), WITHIN)


# --- Python itself ends ---

SERVICE = """
import os, signal, sys, threading
from claude_actors import Backoff, Hooks, Options, RestartPolicy, start_session

hooks = Hooks()

@hooks.user_prompt_submit()
def hangs(event, ctx):
    threading.Event().wait()

options = Options(cli_path=sys.argv[1], hooks=hooks)
restart = RestartPolicy(backoff=Backoff(first=0.0))
sessions = [start_session("go", options, restart=restart) for _ in range(3)]
for session in sessions:
    threading.Thread(target=list, args=(session.messages(),), daemon=True).start()
print("started", flush=True)
sys.stdin.readline()
"""

ENDINGS = {
    "falls off its end": "",
    "sys.exit": "sys.exit(3)",
    "an exception": "raise ValueError",
    "os._exit": "os._exit(0)",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
}
POLITE = Script(on_ready=CHILDREN)
STUBBORN_TOO = Script(on_ready=(IgnoreTerm(), IgnoreEof(), *CHILDREN))


@pytest.fixture
def served() -> Iterator[FakeCLI]:
    # The first ends at once, and could be started again while the others hold up the exit.
    with FakeCLI(POLITE, STUBBORN_TOO) as cli:
        yield cli


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())
def test_a_python_process_with_live_sessions_exits_without_hanging_and_leaves_nothing(
    ending: str, served: FakeCLI, tmp_path: Path
) -> None:
    service = subprocess.Popen(
        [sys.executable, "-c", SERVICE + ending, str(served.cli_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
    )
    assert service.stdout is not None
    assert service.stdout.readline() == b"started\n"
    assert wait_until(lambda: len(pids_of(served)) == 9)
    pids = pids_of(served)
    assert all(map(is_running, pids))
    # Sessions that would restart are among what must not hold up the exit.
    service.communicate(b"go\n", timeout=DEADLINE)
    assert wait_until(lambda: not any(map(is_running, pids_of(served))), WITHIN)
    assert len(served.runs()) == 3
    assert wait_until(lambda: not {pid for pid in descendants() if is_running(pid)}, WITHIN)


def test_a_session_that_nobody_holds_lives_on_and_one_that_has_ended_is_forgotten() -> None:
    with FakeCLI(script(reply("done", times=None))) as cli:
        session: Session | None = start_session(None, cli.options())
        assert session is not None
        held = weakref.ref(session)
        pid = session.pid
        assert pid is not None
        session = None
        gc.collect()
        alive = held()
        assert alive is not None
        assert alive.state == "running"
        assert is_running(pid)
        alive.stop()
        del alive
        assert wait_until(lambda: gc.collect() is not None and held() is None)
