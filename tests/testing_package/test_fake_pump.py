"""The fake CLI's one wait, in a process of its own: signals belong to main threads."""

from __future__ import annotations

import subprocess
import sys

SIGNALLED_BEFORE_IT_WAITS = """
import os, signal
from claude_actors.testing.fake_cli.pump import Pump

pump = Pump()
signal.signal(signal.SIGTERM, lambda *_: None)
os.kill(os.getpid(), signal.SIGTERM)
looks = iter([False, True])
print(pump.wait(lambda: next(looks)))
"""


def test_a_signal_that_comes_just_before_the_wait_ends_it() -> None:
    program = [sys.executable, "-c", SIGNALLED_BEFORE_IT_WAITS]
    assert subprocess.run(program, capture_output=True, text=True, check=True, timeout=60).stdout == "True\n"
