"""A fork of a process with sessions: the child has none of them and can have its own, the parent notices nothing."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest
from support.leaks import is_running, wait_until
from support.live import DEADLINE

from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Echo
from claude_actors.testing.script import reply, script

#: The child of each fork ends with 0 if all went well there. Callbacks have run before, so that every shared thread is.
FORKING = """
import os, signal, sys, threading, traceback
import pykka
from claude_actors import Allow, Hooks, Options, SessionStopped, SessionStoppedError, start_session

hooks = Hooks()
options = Options(cli_path=sys.argv[1], hooks=hooks, control_timeout=30.0)

@hooks.user_prompt_submit()
def in_a_thread(event, ctx):
    return None

@hooks.user_prompt_submit()
async def on_the_loop(event, ctx):
    return None

def in_child(function):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            function()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, code

session = start_session("hello", options)
assert session.last_turn.result(30).result == "hello"
"""

CHILDREN = {
    "the parent's session is over there": """
        def child():
            turn = session.last_turn
            assert isinstance(session.stop(), SessionStopped)
            assert session.state == "stopped"
            assert list(session.messages()) == []
            assert isinstance(list(session.events())[-1], SessionStopped)
            session.snapshot()
            try:
                session.send("more")
            except SessionStoppedError as error:
                assert "fork" in str(error)
            else:
                raise AssertionError("nobody could have answered")
    """,
    "it leaves the block of the parent's session": """
        def child():
            with session:
                pass
    """,
    "it can have sessions of its own, with callbacks of all kinds": """
        def child():
            with start_session("mine", options) as own:
                assert own.last_turn.result(30).result == "mine"
                assert own.set_model("sonnet") is not None
                assert own.pid != session.pid
    """,
    "it stops all actors": """
        def child():
            pykka.ActorRegistry.stop_all(timeout=30)
    """,
    "it exits as Python does": """
        def child():
            import atexit
            atexit._run_exitfuncs()
    """,
}


@pytest.mark.parametrize("child", CHILDREN.values(), ids=CHILDREN.keys())
def test_a_forked_child_is_no_danger_to_itself_or_its_parent(child: str) -> None:
    program = (
        FORKING
        + dedent(child)
        + dedent("""
        for _ in range(3):
            in_child(child)
        # The parent's session has noticed nothing.
        assert session.state == "running"
        assert session.send("again").result(30).result == "again"
        assert session.set_model("sonnet") is not None
        session.stop()
        print("all is well")
    """)
    )
    with FakeCLI(script(reply(Echo(), times=None))) as cli:
        done = subprocess.run(
            [sys.executable, "-c", program, str(cli.cli_path)],
            capture_output=True,
            text=True,
            timeout=4 * DEADLINE,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "all is well\n"), done.stderr
        assert wait_until(lambda: not any(is_running(run.pid) for run in cli.runs()))


def test_forks_in_the_midst_of_heavy_use_never_hang_in_the_child() -> None:
    program = FORKING + dedent("""
        enough = threading.Event()

        def use():
            while not enough.is_set():
                with start_session("hello", options) as own:
                    own.last_turn.result(30)

        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()

        def child():
            # Whatever lock another thread held at the fork: nothing here may wait for it.
            session.stop()
            with start_session("mine", options) as own:
                assert own.last_turn.result(30).result == "mine"

        for _ in range(15):
            in_child(child)
        enough.set()
        for thread in threads:
            thread.join()
        session.stop()
        print("all is well")
    """)
    with FakeCLI(script(reply(Echo(), times=None))) as cli:
        done = subprocess.run(
            [sys.executable, "-c", program, str(cli.cli_path)],
            capture_output=True,
            text=True,
            timeout=4 * DEADLINE,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "all is well\n"), done.stderr
        assert wait_until(lambda: not any(is_running(run.pid) for run in cli.runs()))
