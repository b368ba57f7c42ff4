"""Whether the program is new enough: it is asked once (`claude -v`), and only a clear "too old" is an obstacle.

A version that cannot be read in time, or at all, is no reason to refuse: the caller is told and goes on. Blocks up to
its timeout, so it must not run on the reactor.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from claude_actors.errors import UnsupportedVersion

MINIMUM: Final = (2, 0, 0)
SKIP_VARIABLE: Final = "CLAUDE_ACTORS_SKIP_VERSION_CHECK"
# More than any version line; a program that writes on and on is not asked further.
LONGEST_ANSWER: Final = 4096
_VERSION: Final = re.compile(rb"(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class VersionCheck:
    """What is known of the program's version; `warning` says why nothing is."""

    path: Path
    version: str | None = None
    warning: str | None = None


_known: dict[tuple[int, ...], VersionCheck] = {}


def check_version(path: Path, env: Mapping[str, str], *, timeout: float = 2.0, user: str | None = None) -> VersionCheck:
    """Ask the program at `path` for its version, in the environment and as the user that the session will have.

    Answers of the same file (device, inode, modification time, size) are remembered. Raises UnsupportedVersion when the
    version is below the minimum; every other trouble becomes `VersionCheck.warning`.
    """
    key = _identity(path)
    if key is not None and key in _known:
        return _known[key]
    check = _asked(path, env, timeout, user)
    if key is not None:
        _known[key] = check
    return check


def _asked(path: Path, env: Mapping[str, str], timeout: float, user: str | None) -> VersionCheck:
    try:
        answer, code = _run([str(path), "-v"], env, timeout, user)
    except TimeoutError:
        return VersionCheck(path, warning=f"no answer to -v within {timeout:g} s")
    except (OSError, subprocess.SubprocessError) as error:
        return VersionCheck(path, warning=f"-v could not be run: {error}")
    if code != 0:
        return VersionCheck(path, warning=f"-v ended with exit code {code}")
    found = _VERSION.search(answer)
    if found is None:
        return VersionCheck(path, warning="the answer to -v names no version")
    version = found[0].decode()
    if tuple(map(int, found.groups())) < MINIMUM:
        raise UnsupportedVersion(version=version, minimum=".".join(map(str, MINIMUM)), detail=str(path))
    return VersionCheck(path, version=version)


def _identity(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def _run(argv: list[str], env: Mapping[str, str], timeout: float, user: str | None) -> tuple[bytes, int]:
    deadline = time.monotonic() + timeout
    with subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
        user=user,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            answer = _read(process.stdout, deadline)
            return answer, process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        finally:
            _end_group(process)


def _read(stream: IO[bytes], deadline: float) -> bytes:
    answer = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while len(answer) < LONGEST_ANSWER:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            chunk = os.read(stream.fileno(), LONGEST_ANSWER)
            if not chunk:
                break
            answer += chunk
    return answer


def _end_group(process: subprocess.Popen[bytes]) -> None:
    # Only while the leader is not reaped is its group's number surely still its own.
    if process.returncode is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
