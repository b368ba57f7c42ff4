"""A fake CLI on disk: a launcher that can be given as `cli_path`, its scripts, its gates and its records.

The test side of `fake_cli`. Nothing is started here; whoever runs `cli_path` starts a process.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from claude_actors.options import Options
from claude_actors.testing.faults import Echo
from claude_actors.testing.script import Script, reply

DEFAULT_SCRIPT = Script(
    replies=(
        reply(
            Echo(
                before="I am the scripted stand-in for Claude Code, so I can only repeat what you said: ",
            ),
            times=None,
        ),
    )
)
_PACKAGE = Path(__file__).resolve().parent.parent
_LONGEST_SHEBANG = 126
_LEASE_TRIES = 5000
_BODY = """\
import sys
for name, path in {packages!r}:
    module = type(sys)(name)
    module.__path__ = [path]
    sys.modules[name] = module
from claude_actors.testing.fake_cli.main import main
main({directory!r})
"""


class Gates:
    """The test's side of the gates of one fake CLI. Any thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._open: dict[str, int] = {}

    def open(self, name: str) -> None:
        """Open a gate, for every process that stands before it or will."""
        os.write(self._fifo(name), b"x")

    def wait_reached(self, name: str, timeout: float = 30.0) -> int:
        """Wait until a process stands before a gate, each time it does; gives its pid.

        Raises `TimeoutError`.
        """
        fd = self._fifo(name + ".reached")
        line = b""
        deadline = time.monotonic() + timeout
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no process came to the gate {name!r} within {timeout} s")
            line += os.read(fd, 1)
        return int(line)

    def prepare(self, names: set[str]) -> None:
        """Listen at these gates from now on."""
        for name in names:
            self._fifo(name)
            self._fifo(name + ".reached")

    def _fifo(self, name: str) -> int:
        if name not in self._open:
            path = self._directory / name
            if not path.exists():
                os.mkfifo(path)
            self._open[name] = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        return self._open[name]

    def close(self) -> None:
        """Close every gate's file; processes that wait go on waiting."""
        while self._open:
            os.close(self._open.popitem()[1])


class Run:
    """The record of one process of the fake CLI."""

    def __init__(self, notes: list[dict[str, Any]]) -> None:
        self.notes = notes
        start = self.of("start")
        self.argv: list[str] = start[0]["argv"] if start else []
        self.env: Mapping[str, str | None] = start[0]["env"] if start else {}
        self.cwd: str = start[0]["cwd"] if start else ""
        self.pid: int = start[0]["pid"] if start else 0

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Give the notes of one kind: start, stdin, malformed, answer, unexpected_answer, api_request, child, exit …"""
        return [note for note in self.notes if note["kind"] == kind]

    @property
    def received(self) -> list[dict[str, Any]]:
        """Give every frame that came on standard input (very large ones as `None`)."""
        return [note["frame"] for note in self.of("stdin")]

    @property
    def exit_code(self) -> int | None:
        """Give the code it left with; nothing while it runs, or if it was killed."""
        notes = self.of("exit")
        return notes[0]["code"] if notes else None


class FakeCLI:
    """A scripted CLI in a directory of its own.

    Use `cli_path` as the program, or `options()`. The n-th process plays the n-th script, later ones the last. A
    session that is resumed goes on at the reply where it stopped. Close it (or use `with`) to free its files; that ends
    no process.
    """

    def __init__(self, *scripts: Script, directory: Path | str | None = None) -> None:
        self._own = directory is None
        self.directory = Path(tempfile.mkdtemp(prefix="fake-claude-") if directory is None else directory).resolve()
        for part in ("gates", "runs", "sessions", "work"):
            (self.directory / part).mkdir(parents=True, exist_ok=True)
        self.cwd = self.directory / "work"
        self.gates = Gates(self.directory / "gates")
        self.play(*scripts)
        self.cli_path = _write_launcher(self.directory)

    def options(self, **changes: Any) -> Options:
        """Make options that run this CLI, in a directory of its own; `changes` are further options."""
        return Options(**{"cli_path": self.cli_path, "cwd": self.cwd, **changes})

    def play(self, *scripts: Script) -> None:
        """Replace the scripts, for processes that start from now on."""
        given = [msgspec.to_builtins(item) for item in scripts or (DEFAULT_SCRIPT,)]
        for number, item in enumerate(given):
            item["number"] = number
            self.gates.prepare(_gate_names(item))
        (self.directory / "scripts.json").write_text(json.dumps(given), encoding="utf-8")

    def runs(self) -> list[Run]:
        """Read the records of all processes so far, in the order of their start."""
        files = sorted((self.directory / "runs").glob("*.jsonl"))
        return [Run([json.loads(line) for line in file.read_bytes().splitlines()]) for file in files]

    def close(self) -> None:
        """Free the gates, and remove the directory if it was made here."""
        self.gates.close()
        if self._own:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _gate_names(value: Any) -> set[str]:
    """Find the gates that a script names, wherever they stand."""
    if isinstance(value, list | tuple):  # of a tuple msgspec makes a tuple
        return set().union(*(_gate_names(item) for item in value)) if value else set()
    if not isinstance(value, dict):
        return set()
    names = {value[key] for key in ("gate", "wait_for", "run_until", "until") if isinstance(value.get(key), str)}
    return (names - {""}).union(*(_gate_names(item) for item in value.values()))


def _write_launcher(directory: Path) -> Path:
    packages = (("claude_actors", str(_PACKAGE)), ("claude_actors.testing", str(_PACKAGE / "testing")))
    body = _BODY.format(packages=packages, directory=str(directory))
    launcher = directory / "claude"
    shebang = f"#!{sys.executable} -IS"
    if " " in sys.executable or len(shebang.encode()) > _LONGEST_SHEBANG:
        program = directory / "claude.py"
        program.write_text(body, encoding="utf-8")
        launcher.write_text(f'#!/bin/sh\nexec {_quote(sys.executable)} -IS {_quote(str(program))} "$@"\n')
    else:
        launcher.write_text(f"{shebang}\n{body}", encoding="utf-8")
    launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR)
    _wait_unwritten(launcher)
    return launcher


def _wait_unwritten(path: Path) -> None:
    """Wait until nobody has the file open for writing, which would make it "busy" for who runs it.

    We have closed it; but a process that another thread started meanwhile has it open until it runs its own program.
    """
    lease = getattr(fcntl, "F_SETLEASE", None)
    if lease is None:
        return
    with path.open("rb") as file:
        for _ in range(_LEASE_TRIES):
            try:
                # Granted only while there is no writer.
                fcntl.fcntl(file, lease, fcntl.F_RDLCK)
            except BlockingIOError:
                time.sleep(0.001)
            except OSError:
                return  # a file system without leases
            else:
                fcntl.fcntl(file, lease, fcntl.F_UNLCK)
                return


def _quote(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
