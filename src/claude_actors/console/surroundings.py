"""What the machine gives to sessions: Python, limits, memory, places for files, and the environment's names.

It only looks. Of environment variables it tells the names, never a value: many of them are secrets.
"""

from __future__ import annotations

import os
import platform
import resource
import sys
import tempfile
from pathlib import Path
from typing import Final

from claude_actors import __version__
from claude_actors.cli.launch import STREAM_CLOSE_TIMEOUT
from claude_actors.cli.version import SKIP_VARIABLE
from claude_actors.console.findings import Finding
from claude_actors.mailbox.segment import open_anonymous

MIB: Final = 1024 * 1024
#: Measured: descriptors that a session holds in this process, and the memory that its CLI takes.
FILES_PER_SESSION: Final = 4
MEMORY_PER_SESSION: Final = 225 * MIB
#: What the program around the sessions may need itself.
FILES_BESIDE: Final = 64
ENOUGH_FILES: Final = 1024
ENOUGH_SPACE: Final = 256 * MIB

_PREFIXES: Final = ("ANTHROPIC_", "CLAUDE", "CLOUD_ML_", "VERTEX_", "AWS_", "GOOGLE_", "DISABLE_", "MCP_")
_NAMES: Final = frozenset(
    {
        "HOME",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NODE_EXTRA_CA_CERTS",
        "NODE_OPTIONS",
        "NODE_TLS_REJECT_UNAUTHORIZED",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "TMPDIR",
        "XDG_CONFIG_HOME",
    }
)
_EFFECTS: Final = {
    STREAM_CLOSE_TIMEOUT: "replaces Options.initialize_timeout",
    SKIP_VARIABLE: "switches the version check off",
    "CLAUDECODE": "is taken away from sessions: with it the CLI would refuse to start",
    "NODE_TLS_REJECT_UNAUTHORIZED": "can switch the check of certificates off",
}


def examine_surroundings() -> list[Finding]:
    """Look at everything here. Blocks on the disk for moments; never raises."""
    return [_python(), _files(), _memory(), _temporary_files(), _home(), _environment()]


def _python() -> Finding:
    running = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    return Finding(subject="library", text=f"claude-actors {__version__}, {running}", facts=(sys.executable,))


def _files() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    processes, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    facts = (f"open files: {_limit(soft)}, at most {_limit(hard)}", f"processes: {_limit(processes)}")
    if soft == resource.RLIM_INFINITY:
        return Finding(subject="limits", text="no limit of open files", facts=facts)
    room = max(0, soft - FILES_BESIDE) // FILES_PER_SESSION
    text = f"open files for about {room} sessions at once"
    if soft >= ENOUGH_FILES:
        return Finding(subject="limits", text=text, facts=facts)
    return Finding(subject="limits", status="warning", text=text, facts=facts, advice="raise it: ulimit -n 4096")


def _limit(value: int) -> str:
    return "no limit" if value == resource.RLIM_INFINITY else str(value)


def _memory() -> Finding:
    free = available_memory()
    if free is None:
        return Finding(subject="memory", text="how much is free cannot be told here")
    room = free // MEMORY_PER_SESSION
    text = f"{free // MIB} MiB are free: about {room} sessions of {MEMORY_PER_SESSION // MIB} MiB at once"
    if room:
        return Finding(subject="memory", text=text)
    return Finding(subject="memory", status="warning", text=text, advice="free some memory before you start a session")


def available_memory(proc: Path = Path("/proc"), cgroup: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the bytes that are free for us: the machine's, or fewer if a container sets a limit; None if unknown."""
    known = [amount for amount in (_free_in_machine(proc), _free_in_container(cgroup)) if amount is not None]
    return min(known, default=None)


def _free_in_machine(proc: Path) -> int | None:
    try:
        lines = (proc / "meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _free_in_container(cgroup: Path) -> int | None:
    try:
        limit, used = ((cgroup / name).read_text().strip() for name in ("memory.max", "memory.current"))
        return max(0, int(limit) - int(used))
    except (OSError, ValueError):
        return None


def _temporary_files() -> Finding:
    """Do what a mailbox that overflows does: open a file without a name."""
    subject, advice = "temporary files", "set TMPDIR to a directory that can be written to and has room"
    try:
        directory = tempfile.gettempdir()
        descriptor = open_anonymous(None)
        try:
            os.write(descriptor, b"x")
            found = os.fstatvfs(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        text = f"none can be written: {error}"
        return Finding(subject=subject, status="problem", text=text, advice=advice)
    wanted, free = os.environ.get("TMPDIR"), found.f_bavail * found.f_frsize
    text, facts = f"mailboxes can spill to disk; {free // MIB} MiB are free", (f"other files go to {directory}",)
    if wanted and not os.path.samefile(directory, wanted if os.path.isdir(wanted) else os.devnull):
        text = f"TMPDIR cannot be used, so another place is taken; {text}"
        return Finding(subject=subject, status="warning", text=text, facts=facts, advice=advice)
    if free < ENOUGH_SPACE:
        return Finding(subject=subject, status="warning", text=text, facts=facts, advice=advice)
    return Finding(subject=subject, text=text, facts=facts)


def _home() -> Finding:
    home = os.path.expanduser("~")
    if os.path.isdir(home) and os.access(home, os.W_OK):
        return Finding(subject="home", text="the CLI can keep conversations below it", facts=(home,))
    return Finding(
        subject="home",
        status="warning",
        text=f"{home} cannot be written to: the CLI keeps its conversations there, so nothing could be resumed",
        advice="give the process a HOME of its own, or Options(env={'HOME': ...})",
    )


def _environment() -> Finding:
    names = sorted(name for name in os.environ if name.upper() in _NAMES or name.startswith(_PREFIXES))
    facts = tuple(f"{name} ({_EFFECTS[name]})" if name in _EFFECTS else name for name in names)
    root = " You are root: the CLI refuses the permission mode bypassPermissions." if os.geteuid() == 0 else ""
    return Finding(
        subject="environment",
        text=f"{len(names)} variables that sessions inherit matter to the CLI (names only).{root}",
        facts=facts,
    )
