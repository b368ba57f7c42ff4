"""Endurance: many fake sessions under random turns, hooks, kills, floods, hangs, stalls and restarts, then the books.

`python benchmarks/soak.py --minutes 10 --sessions 100 --seed 7`. Every prompt must have come to exactly one end, every
finished turn must have had its hook and its permission, and nothing may be left or have grown. Exits with 1 otherwise.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from claude_actors import (
    Allow,
    CallbackContext,
    ClaudeActorsError,
    Hooks,
    Options,
    RestartPolicy,
    Session,
    StartError,
    ToolPermissionRequest,
    ToolServer,
    TurnTimeout,
    start_session,
)
from claude_actors.hook_events import PreToolUse
from claude_actors.testing import Die, Echo, FakeCLI, Flood, Hang, Junk, Script, UseTool, reply

PATIENCE = 60.0
TURNS_A_SESSION = 12
#: What may be left over between two looks at a process that is flat: allocator arenas, caches.
GROWTH = 64 * 1024 * 1024
#: How often each kind of turn is played.
KINDS = {"talk": 8, "tool": 8, "flood": 3, "junk": 2, "kill": 2, "die": 1, "hang": 1, "control": 3}

BASH = UseTool("Bash", {"command": "touch soak"})
SCRIPT = Script(
    replies=(
        reply(
            UseTool("Bash", {"command": "touch soak"}), UseTool("mcp__soak__twice", {"n": 21}), when="tool", times=None
        ),
        reply(Flood(2_000, 400, "mixed"), Echo(), when="flood", times=None),
        reply(Junk("no frame at all"), Echo(), when="junk", times=None),
        reply(Die(code=1), when="die", times=None),
        reply(Hang(), when="hang", times=None),
        reply(Echo(), times=None),
    )
)


class Books:
    """What was asked and what came of it; safe in every thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []

    def add(self, what: str, count: int = 1) -> None:
        """Count something."""
        with self._lock:
            self.counts[what] += count

    def check(self, holds: bool, claim: str) -> None:
        """Note a claim that does not hold."""
        if not holds:
            with self._lock:
                self.wrong.append(claim)


class Client:
    """One user of sessions: starts one after another, plays turns in it, and keeps the books."""

    def __init__(self, cli: FakeCLI, books: Books, seed: int) -> None:
        self._cli, self._books, self._random = cli, books, random.Random(seed)
        self._hooked = self._asked = self._called = 0
        self.hooks, self.tools = Hooks(), ToolServer("soak")
        self.hooks.pre_tool_use(self._hook)
        self.tools.tool(name="twice")(self._twice)

    def _hook(self, event: PreToolUse, ctx: CallbackContext) -> None:
        self._hooked += 1

    def _permit(self, request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        self._asked += 1
        return Allow()

    def _twice(self, n: int) -> int:
        """Double a number."""
        self._called += 1
        return 2 * n

    def run_until(self, deadline: float) -> None:
        """Play session after session."""
        while time.monotonic() < deadline:
            try:
                self._session(deadline)
            except StartError:
                # A kill can hit a process that is only starting.
                self._books.add("starts that failed")

    def _session(self, deadline: float) -> None:
        policy = RestartPolicy(max_restarts=50, max_seconds=60.0) if self._random.random() < 0.5 else None
        options = Options(
            cli_path=self._cli.cli_path,
            hooks=self.hooks,
            can_use_tool=self._permit,
            mcp_servers={"soak": self.tools},
            mailbox_max_items=500,
            eof_grace=0.2,
            term_grace=0.2,
        )
        reads = self._random.random() < 0.7
        with start_session(options=options, restart=policy) as session:
            self._books.add("sessions")
            for _ in range(TURNS_A_SESSION):
                if time.monotonic() > deadline or session.final_event is not None or not self._turn(session):
                    break
                if reads:
                    self._read(session)
        self._books.add("restarts", session.snapshot().restarts)
        self._close_books_on(session)

    def _turn(self, session: Session) -> bool:
        """Play one turn; False if the session is of no more use."""
        kind = self._random.choices(list(KINDS), list(KINDS.values()))[0]
        before = (self._hooked, self._asked, self._called)
        try:
            self._books.add("prompts")
            turn = session.send(kind)
            if kind == "kill":
                self._kill(session)
            if kind == "control":
                session.set_model("sonnet")
            result = turn.result(0.5 if kind == "hang" else PATIENCE)
        except TurnTimeout:
            self._books.check(kind == "hang", f"a turn of kind {kind} had no end within {PATIENCE:g} s")
            self._books.add("turns given up")
            return False
        except ClaudeActorsError as error:
            self._books.add(f"ended by {type(error).__name__}")
            return True
        self._books.add("results")
        if kind == "tool":
            calls = tuple(
                now - then for now, then in zip((self._hooked, self._asked, self._called), before, strict=True)
            )
            self._books.check(calls == (2, 2, 1), f"a turn with two tools made (hooks, permissions, calls) = {calls}")
        self._books.check(not result.is_error, f"a turn of kind {kind} ended with {result.subtype}")
        return True

    def _kill(self, session: Session) -> None:
        pid = session.pid
        if pid is not None:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                return
            self._books.add("kills")

    def _read(self, session: Session) -> None:
        while len(session.messages()):
            session.messages().get(timeout=PATIENCE)
            self._books.add("messages read")

    def _close_books_on(self, session: Session) -> None:
        counts, check = session.messages().counts(), self._books.check
        check(counts.put == counts.taken + counts.waiting + counts.dropped, f"messages do not add up: {counts}")
        check(counts.dropped == counts.refused == 0, "a spilling mailbox lost messages")
        finals = [event for event in session.events() if type(event).__name__ in FINAL]
        check(len(finals) == 1, f"{len(finals)} final events")
        check(session.snapshot().open_turns == 0, "a turn is open after the end")
        session.messages().discard()


FINAL = ("SessionCompleted", "SessionStopped", "SessionFailed")


def is_warden(process: psutil.Process) -> bool:
    """Tell a warden from what must not be left; a zombie is that."""
    try:
        return "warden" in " ".join(process.cmdline())
    except psutil.ZombieProcess:
        return False
    except psutil.NoSuchProcess:
        return True


def look(process: psutil.Process) -> dict[str, int]:
    """Measure what must be flat."""
    gc.collect()
    children = [child for child in process.children(recursive=True) if not is_warden(child)]
    return {
        "memory": process.memory_info().rss,
        "threads": threading.active_count(),
        "files": process.num_fds(),
        "processes": len(children),
    }


def play(cli: FakeCLI, books: Books, *, clients: int, seconds: float, seed: int) -> None:
    """Run the clients side by side for a while."""
    deadline = time.monotonic() + seconds
    workers = [Client(cli, books, seed + number) for number in range(clients)]
    threads = [threading.Thread(target=worker.run_until, args=(deadline,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def settled(process: psutil.Process, before: dict[str, int]) -> dict[str, int]:
    """Look until threads, files and processes are back, for what is only just ending."""
    give_up = time.monotonic() + PATIENCE
    while True:
        now = look(process)
        if all(now[what] <= before[what] for what in ("threads", "files", "processes")) or time.monotonic() > give_up:
            return now
        time.sleep(0.1)


def forget_records(cli: FakeCLI) -> None:
    for record in Path(cli.directory, "runs").glob("*.jsonl"):
        record.unlink()


def main() -> int:
    """Play, compare, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--sessions", type=int, default=100, help="how many run at once")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    wanted = parser.parse_args()
    process, books, seconds = psutil.Process(), Books(), wanted.minutes * 60
    print(f"{wanted.sessions} sessions at once for {wanted.minutes:g} minutes, seed {wanted.seed}", flush=True)
    with FakeCLI(SCRIPT) as cli:
        # The first part fills caches and pools; what it leaves is where flat begins.
        play(cli, books, clients=wanted.sessions, seconds=seconds * 0.25, seed=wanted.seed)
        empty = {"memory": 0, "threads": 1, "files": 10_000, "processes": 0}
        before = settled(process, empty)
        forget_records(cli)
        play(cli, books, clients=wanted.sessions, seconds=seconds * 0.75, seed=wanted.seed + wanted.sessions)
        after = settled(process, before)
    return tell(books, before, after)


def tell(books: Books, before: dict[str, int], after: dict[str, int]) -> int:
    """Print the account; 1 if something is wrong."""
    counts: dict[str, Any] = dict(sorted(books.counts.items()))
    ends = counts.get("results", 0) + counts.get("turns given up", 0)
    ends += sum(count for what, count in counts.items() if what.startswith("ended by"))
    books.check(ends == counts.get("prompts", 0), f"{counts.get('prompts', 0)} prompts came to {ends} ends")
    for what in ("threads", "files", "processes"):
        books.check(after[what] <= before[what], f"{what} grew from {before[what]} to {after[what]}")
    grown = after["memory"] - before["memory"]
    books.check(grown < GROWTH, f"memory grew by {grown >> 20} MiB")
    for what, count in counts.items():
        print(f"  {count:>9,}  {what}")
    for what in after:
        print(f"  {what}: {before[what]:,} before, {after[what]:,} after")
    for claim in books.wrong[:20]:
        print(f"WRONG: {claim}")
    print("everything adds up" if not books.wrong else f"{len(books.wrong)} things do not add up")
    return 1 if books.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
