"""Which process numbers a search for descendants must look at, told from what Linux counts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from claude_actors.actors import births
from claude_actors.actors.births import Birth, lowest_number

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="nobody counts births here")


def told(monkeypatch: pytest.MonkeyPatch, *, born: object, last: object, highest: object) -> None:
    """Have /proc say these numbers."""
    files = {
        "/proc/stat": f"cpu 1 2\nctxt 3\nprocesses {born}\nprocs_running 1\n" if born is not None else "",
        "/proc/loadavg": f"0.1 0.2 0.3 1/99 {last}\n" if last is not None else "",
        "/proc/sys/kernel/pid_max": f"{highest}\n" if highest is not None else "",
    }
    monkeypatch.setattr(births, "_read", lambda path: files[path].encode())


@pytest.mark.parametrize(
    ("born", "last", "highest", "lowest"),
    [
        (1_010, 510, 32_768, 500),
        (1_000 + 16_384, 510, 32_768, 0),  # so many births may be a whole round
        (1_010, 310, 32_768, 0),  # the numbers have begun again from below
        (0, 510, 32_768, 0),
        (1_010, 0, 32_768, 0),
        (None, 510, 32_768, 0),
        (1_010, None, 32_768, 0),
        (1_010, 510, None, 0),
    ],
)
def test_only_what_is_certainly_older_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, born: object, last: object, highest: object, lowest: int
) -> None:
    told(monkeypatch, born=born, last=last, highest=highest)
    assert lowest_number([Birth(500, 1_000), Birth(505, 1_005)]) == lowest


def test_one_process_of_unknown_birth_makes_everybody_a_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, born=1_010, last=510, highest=32_768)
    assert lowest_number([Birth(500, 1_000), Birth(505, None)]) == 0


@pytest.mark.parametrize(("before", "born", "last"), [(999, 1_000, True), (999, 1_001, False), (999, None, False)])
def test_a_process_was_the_last_if_just_one_was_born_since_it_was_about_to_be(
    monkeypatch: pytest.MonkeyPatch, before: int, born: object, last: bool
) -> None:
    told(monkeypatch, born=born, last=1, highest=1)
    assert Birth(500, before).was_the_last() is last
    assert not Birth(500, None).was_the_last()


def test_a_file_that_is_not_there_tells_nothing() -> None:
    assert births._read("/proc/there is no such file") == b""


@LINUX
def test_a_child_is_counted_and_has_a_higher_number_than_what_was_there_before() -> None:
    before = births.births()
    assert before is not None
    child = subprocess.Popen([sys.executable, "-c", ""])
    try:
        counted = births.births()
        assert counted is not None
        assert counted > before
        assert lowest_number([Birth(child.pid, before)]) in (child.pid, 0)
    finally:
        child.wait()
