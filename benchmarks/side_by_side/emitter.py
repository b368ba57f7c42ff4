"""Builds the emitter and talks to it by hand: what a start costs without any SDK."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

SOURCE = Path(__file__).with_name("emitter.c")
_INITIALIZE = b'{"type":"control_request","request_id":"req_1","request":{"subtype":"initialize","hooks":null}}\n'
_PROMPT = b'{"type":"user","message":{"role":"user","content":"go"},"session_id":"default"}\n'


def build(directory: Path) -> Path:
    """Compile the emitter with CC, cc or gcc; raises SystemExit where there is no compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("the emitter is a C program: set CC or install a C compiler")
    program = directory / "emitter"
    subprocess.run([compiler, "-O2", "-pthread", "-o", str(program), str(SOURCE)], check=True)
    return program


def bare_turn(program: Path) -> float:
    """Spawn it, initialize, have one turn, close its input and wait for its end; return the seconds."""
    began = time.perf_counter()
    with subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(_INITIALIZE)
        process.stdin.flush()
        process.stdout.readline()
        process.stdin.write(_PROMPT)
        process.stdin.flush()
        while b'"type":"result"' not in process.stdout.readline():
            pass
        process.stdin.close()
        process.wait()
    return time.perf_counter() - began
