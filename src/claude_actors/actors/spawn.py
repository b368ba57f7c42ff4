"""Starts a program without a shell, in a session of its own, with three pipes and a cookie.

It blocks for the moment of a fork and exec, or for as long as a disk hangs, so it runs in a task's thread. What becomes
of the process is not its business.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from claude_actors.actors import fds
from claude_actors.actors.births import Birth, births
from claude_actors.actors.warden import COOKIE_NAME
from claude_actors.errors import SpawnFailed


class Program(NamedTuple):
    """What to start: a full argv, the whole environment, and where."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path | None = None
    user: str | None = None


class Process(NamedTuple):
    """A started process, leader of its own session and group, with our non-blocking ends of its pipes."""

    birth: Birth
    stdin: int
    stdout: int
    stderr: int
    cookie: str

    @property
    def pid(self) -> int:
        return self.birth.pid


def spawn(program: Program, cookie: str) -> Process:
    """Start it with this cookie in its environment; raises SpawnFailed. Blocks until the program runs."""
    before = births()
    with ExitStack() as ours, ExitStack() as theirs:
        child_in, stdin = _pipe(theirs, ours, child_reads=True)
        child_out, stdout = _pipe(theirs, ours, child_reads=False)
        child_err, stderr = _pipe(theirs, ours, child_reads=False)
        pid = _popen(program, cookie, child_in, child_out, child_err)
        ours.pop_all()
    return Process(Birth(pid, before), stdin, stdout, stderr, cookie)


def _popen(program: Program, cookie: str, stdin: int, stdout: int, stderr: int) -> int:
    # Should this process die before anybody knows the pid, the child's stdin ends with it, and so does a CLI.
    # A session of its own: the terminal's Ctrl-C, stop and hang-up are for us alone, and it has no terminal to take.
    try:
        child = subprocess.Popen(
            program.argv,
            env={**program.env, COOKIE_NAME: _with_outer_cookies(program.env, cookie)},
            cwd=program.cwd,
            user=program.user,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except (OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
        raise SpawnFailed(program=str(program.argv[0]), reason=_reason(error)) from error
    # We reap it by its pid. With a return code set, Popen neither polls it nor complains that it still runs.
    child.returncode = 0
    return child.pid


def _with_outer_cookies(env: Mapping[str, str], cookie: str) -> str:
    """Keep the cookies of the sessions around us, so that their sweeps find our processes too."""
    outer = env.get(COOKIE_NAME) or os.environ.get(COOKIE_NAME)
    return f"{outer}:{cookie}" if outer else cookie


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


def _pipe(theirs: ExitStack, ours: ExitStack, *, child_reads: bool) -> tuple[int, int]:
    reading, writing = os.pipe()
    child, parent = (reading, writing) if child_reads else (writing, reading)
    theirs.callback(os.close, child)
    ours.callback(fds.close, fds.own(parent))
    os.set_blocking(parent, False)
    return child, parent
