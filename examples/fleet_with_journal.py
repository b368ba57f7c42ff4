"""A list of tasks in three sessions at a time, with a journal: a run that breaks off is continued by the next.

The first run is stopped in the middle. The second is the same program again: what has ended is not run again, what has
not goes on, in its own conversation where it had one. After a crash or a SIGKILL it is the same.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from claude_actors import Fleet, Options, Task, as_completed
from claude_actors.testing import Echo, FakeCLI, reply, script

CHAPTERS = [f"chapter-{number}" for number in range(1, 9)]


def tasks() -> list[Task]:
    """An id of your own for each task is what the journal knows it by."""
    return [
        Task(f"Summarise {name}.", id=name, timeout=600, max_turns=10, priority=name == "chapter-8")
        for name in CHAPTERS
    ]


def run(options: Options, journal: Path, *, stop_after: int | None = None) -> list[str]:
    """Work through the tasks; gives those that ended in this run."""
    ended = []
    with Fleet(max_sessions=3, options=options, journal=journal) as fleet:
        print(f"{len(fleet.recovered)} tasks were left by an earlier run")
        for job in as_completed(fleet.submit_many(tasks())):
            if job.state == "stopped":
                continue
            how = "known from the journal" if job.recorded else f"{job.spent.tokens} tokens, ${job.spent.usd:.5f}"
            print(f"  {job.id}: {job.result().result} ({how})")
            if not job.recorded:
                ended.append(job.id)
            if len(ended) == stop_after:
                fleet.stop()
    return ended


def main(cli: FakeCLI, journal: Path) -> None:
    options = Options(cli_path=cli.cli_path)
    first = run(options, journal, stop_after=3)
    second = run(options, journal)
    print("every chapter was reported once:", sorted(first + second) == CHAPTERS)


if __name__ == "__main__":
    answer = script(reply(Echo(before="Done: "), times=None))
    with FakeCLI(answer) as stand_in, tempfile.TemporaryDirectory() as directory:
        main(stand_in, Path(directory) / "book.journal")
