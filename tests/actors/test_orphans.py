"""No orphan process ever: whatever ends a Python process, its CLIs and all that they have started end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import TypeAlias
from uuid import uuid4

import pytest
from support.leaks import command_of, environ_of, is_running, process_ids, wait_until

WITHIN = 5.0

#: A service that starts ports whose processes ignore EOF and TERM and have a child outside their group each, prints all
#: pids, and then ends in some way.
SERVICE = """
import os, signal, sys, threading
sys.path.insert(0, {support!r})
from support.ports import started

STUBBORN_FAMILY = '''
    import os, signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.write(writing, b"x")
    else:
        os.read(reading, 1)
        print(os.getpid(), child, sep="\\\\n", flush=True)
    while True:
        signal.pause()
'''

ports = [started(STUBBORN_FAMILY) for _ in range(3)]
pids = [pid for _port, sink in ports for pid in sink.numbers(2)]
print(*pids, flush=True)

{ending}
"""


class Service:
    """A Python process of its own that uses the library."""

    def __init__(self, ending: str) -> None:
        self._marker = uuid4().hex
        script = SERVICE.format(support=str(Path(__file__).parent.parent), ending=dedent(ending))
        self._process = subprocess.Popen(
            [sys.executable, "-c", script],
            env={**os.environ, "SERVICE_OF_A_TEST": self._marker},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.pids = [int(word) for word in self.says().split()]
        if len(self.pids) != 6:
            self._process.kill()
            raise AssertionError(self._process.communicate()[1].decode())

    @property
    def pid(self) -> int:
        return self._process.pid

    def says(self) -> bytes:
        """Wait for the next line that the script prints."""
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def wardens(self) -> set[int]:
        """The wardens of this service: they have its environment and are not below it when it is dead."""
        return {pid for pid in process_ids() if "warden.py" in command_of(pid) and self._marker in environ_of(pid)}

    def let_go(self) -> None:
        """Let the script go on to its ending and wait for the process to end."""
        self._process.communicate(b"go\n", timeout=30)

    def wait(self) -> int:
        """Wait for the process to end; gives its return code."""
        self._process.communicate(timeout=30)
        return self._process.returncode

    def survivors(self) -> set[int]:
        """Wait until none of the processes is alive; gives those that still are when the time is over."""
        wait_until(lambda: not any(map(is_running, self.pids)), WITHIN)
        return set(filter(is_running, self.pids))


Services: TypeAlias = Callable[[str], Service]


@pytest.fixture
def services() -> Iterator[Services]:
    """Make services; at the end nothing of them may be left, their wardens neither."""
    made: list[Service] = []

    def make(ending: str) -> Service:
        made.append(Service(ending))
        return made[-1]

    yield make
    for service in made:
        assert wait_until(lambda service=service: not service.wardens(), WITHIN)  # type: ignore[misc]


ENDINGS = {
    "killed by SIGKILL": "sys.stdin.readline(); os.kill(os.getpid(), signal.SIGKILL)",
    "ended by SIGTERM": "sys.stdin.readline(); os.kill(os.getpid(), signal.SIGTERM)",
    "os._exit": "sys.stdin.readline(); os._exit(0)",
    "falls off its end": "sys.stdin.readline()",
    "sys.exit": "sys.stdin.readline(); sys.exit(3)",
    "an exception": "sys.stdin.readline(); raise ValueError",
    "sys.exit in a thread, then its end": """
        sys.stdin.readline()
        thread = threading.Thread(target=sys.exit)
        thread.start()
        thread.join()
    """,
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())
def test_whatever_ends_a_python_process_no_descendant_is_left(ending: str, services: Services) -> None:
    service = services(ending)
    assert all(map(is_running, service.pids))
    service.let_go()
    assert service.survivors() == set()


#: A service that is killed in the moment in which its first process has come up, before anything could be told of it.
KILLED_AT_ITS_FIRST_SPAWN = """
import os, signal, sys
sys.path.insert(0, {support!r})
from claude_actors.actors import process_port
from support.ports import started

spawn = process_port.spawn

def spawn_and_die(*arguments):
    print(spawn(*arguments).pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

process_port.spawn = spawn_and_die
started("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()")
signal.pause()
"""


def test_a_python_process_that_is_killed_while_it_spawns_leaves_nothing_either() -> None:
    script = KILLED_AT_ITS_FIRST_SPAWN.format(support=str(Path(__file__).parent.parent))
    service = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, timeout=30, check=False)
    assert service.returncode == -signal.SIGKILL
    assert wait_until(lambda: not is_running(int(service.stdout)), WITHIN)


def test_ctrl_c_in_the_terminal_ends_the_service_and_its_descendants(services: Services) -> None:
    service = services("sys.stdin.readline()")
    os.kill(service.pid, signal.SIGINT)
    service.wait()
    assert service.survivors() == set()


def test_an_interpreter_that_exits_waits_for_its_processes_no_longer_than_the_short_deadlines(
    services: Services,
) -> None:
    service = services("sys.stdin.readline()")
    service.let_go()
    # Dead already, by the exit hook: nothing is left for the warden to do.
    assert not any(map(is_running, service.pids))


def test_a_fork_of_the_process_neither_hides_its_death_nor_ends_its_processes(
    tmp_path: Path, services: Services
) -> None:
    ending = """
        child = os.fork()
        if child == 0:
            os.close(1)
            os.close(2)
            open({path!r}, "w").write("forked")
            signal.pause()
        print(child, flush=True)
        sys.stdin.readline()
        os.kill(os.getpid(), signal.SIGKILL)
    """.format(path=str(tmp_path / "forked"))
    service = services(ending)
    assert wait_until((tmp_path / "forked").exists)
    assert all(map(is_running, service.pids))
    forked = int(service.says())
    try:
        service.let_go()
        assert service.survivors() == set()
        assert is_running(forked)
    finally:
        os.kill(forked, signal.SIGKILL)


def test_a_forked_child_that_exits_normally_leaves_its_parents_processes_alone(services: Services) -> None:
    service = services("""
        child = os.fork()
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        print("forked", flush=True)
        sys.stdin.readline()
    """)
    assert service.says() == b"forked\n"
    assert all(map(is_running, service.pids))
    service.let_go()
    assert service.survivors() == set()
