"""A fake CLI can be run at once, although other threads start processes that hold its file for a moment."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from claude_actors.testing import fake


@pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")
def test_it_is_not_ready_while_anybody_has_it_open_for_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = tmp_path / "claude"
    launcher.write_text("#!/bin/sh\n")
    waits: list[float] = []
    with launcher.open("a") as writer:

        def sleep(seconds: float) -> None:
            waits.append(seconds)
            writer.close()

        monkeypatch.setattr(fake, "time", SimpleNamespace(sleep=sleep))
        fake._wait_unwritten(launcher)
    assert len(waits) == 1
    fake._wait_unwritten(launcher)
    assert len(waits) == 1
