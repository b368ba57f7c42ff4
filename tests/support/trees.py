"""For tests of supervisors: a driver for the pure machine, and actors that keep a journal and die as told."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pykka

from claude_actors import ChildSpec
from claude_actors.supervision import steps
from claude_actors.supervision.machine import TreeMachine
from claude_actors.supervision.specs import TreeConfig

DEADLINE = 30.0


def nothing() -> None:
    """A start function for machines, which never call it."""


def spec(id: str, **fields: Any) -> ChildSpec:
    return ChildSpec(id, nothing, **fields)


class Replies:
    """A request that remembers its answer."""

    def __init__(self) -> None:
        self.answers: list[Any] = []

    @property
    def only(self) -> Any:
        assert len(self.answers) == 1
        return self.answers[0]


class TreeDriver:
    """Feeds a TreeMachine and keeps what it wants done; time stands still unless moved.

    With `instant`, starts and stops are done as soon as they are begun; a start fails as often as `failures` says.
    """

    def __init__(self, children: Iterable[ChildSpec], *, instant: bool = False, chance: float = 0.0, **config: Any):
        self.machine = TreeMachine(TreeConfig(**{"backoff": None} | config), children, lambda: chance)
        self.now = 0.0
        self.instant = instant
        self.failures: dict[str, int] = {}
        self.ignored: set[str] = set()
        #: ("start", id), ("stop", id), ("kill", id) … in the order in which they were begun.
        self.journal: list[tuple[str, str]] = []
        self.effects: list[steps.Effect] = []
        self._ids: dict[int, str] = {}
        self._runs: dict[str, int] = {}
        self._todo: deque[steps.Input] = deque()

    def feed(self, event: steps.Input) -> list[steps.Effect]:
        """Feed one event, and with `instant` all that follows; gives every effect."""
        self._todo.append(event)
        effects: list[steps.Effect] = []
        while self._todo:
            for effect in self.machine.handle(self._todo.popleft(), self.now):
                effects.append(effect)
                self._note(effect)
        self.effects += effects
        return effects

    def _note(self, effect: steps.Effect) -> None:
        match effect:
            case steps.BeginStart(run, child):
                self._ids[run], self._runs[child.id] = child.id, run
                self.journal.append(("start", child.id))
                if self.instant:
                    self._todo.append(self._outcome(run, child.id))
            case steps.BeginStop(run):
                self.journal.append(("stop", self._ids[run]))
                if self.instant:
                    self._todo.append(steps.ChildEnded(run, None))
            case steps.Kill(run) | steps.AbortStart(run) | steps.Discard(run):
                word = type(effect).__name__.lower()
                self.journal.append((word, self._ids[run]))
            case steps.Reply(request, value, error):
                request.answers.append(value if error is None else error)
            case steps.ReportEnded():
                self.journal.append(("ended", ""))
            case steps.ReportStarted():
                self.journal.append(("started", ""))
            case steps.ReportRestart():
                pass

    def _outcome(self, run: int, id: str) -> steps.Input:
        if self.failures.get(id, 0):
            self.failures[id] -= 1
            return steps.ChildStartFailed(run, OSError(f"no {id}"))
        return steps.ChildStarted(run, None if id in self.ignored else id)

    # --- what happens ---

    def begin(self) -> TreeDriver:
        self.feed(steps.Begun())
        return self

    def started(self, id: str, target: Any = "it") -> list[steps.Effect]:
        return self.feed(steps.ChildStarted(self._runs[id], target))

    def start_failed(self, id: str) -> list[steps.Effect]:
        return self.feed(steps.ChildStartFailed(self._runs[id], OSError(f"no {id}")))

    def ended(self, id: str, reason: BaseException | None = None) -> list[steps.Effect]:
        return self.feed(steps.ChildEnded(self._runs[id], reason))

    def failed(self, id: str) -> list[steps.Effect]:
        return self.ended(id, ValueError(id))

    def wait(self, seconds: float) -> list[steps.Effect]:
        self.now += seconds
        return self.feed(steps.TimePassed())

    def ask(self, make: Callable[[Any], steps.Input]) -> Replies:
        replies = Replies()
        self.feed(make(replies))
        return replies

    def start_child(self, child: ChildSpec) -> Replies:
        return self.ask(lambda request: steps.StartChild(child, request))

    def terminate(self, id: str) -> Replies:
        return self.ask(lambda request: steps.TerminateChild(id, request))

    def restart(self, id: str) -> Replies:
        return self.ask(lambda request: steps.RestartChild(id, request))

    def delete(self, id: str) -> Replies:
        return self.ask(lambda request: steps.DeleteChild(id, request))

    def stop(self) -> list[steps.Effect]:
        return self.feed(steps.StopTree())

    # --- what is ---

    def run_of(self, id: str) -> int:
        return self._runs[id]

    def take_journal(self) -> list[tuple[str, str]]:
        taken, self.journal = self.journal, []
        return taken

    def states(self) -> dict[str, str]:
        return {id: entry.state for id, entry in self.machine.entries.items()}


class Journal:
    """What actors did, in order, from any thread; `wait_for` blocks until it happened."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._changed = threading.Condition()

    def write(self, line: str) -> None:
        with self._changed:
            self.lines.append(line)
            self._changed.notify_all()

    def wait_for(self, line: str, times: int = 1) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.lines.count(line) >= times, DEADLINE), (line, self.lines)

    def wait_until(self, condition: Callable[[list[str]], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: condition(self.lines), DEADLINE), self.lines


class Worker(pykka.ThreadingActor):
    """A user's own actor: writes what happens to it, calls what is callable, answers the rest."""

    def __init__(self, id: str, journal: Journal) -> None:
        super().__init__()
        self.id, self.journal = id, journal

    def on_start(self) -> None:
        self.journal.write(f"start {self.id}")

    def on_stop(self) -> None:
        self.journal.write(f"stop {self.id}")

    def on_failure(self, *_failure: object) -> None:
        self.journal.write(f"fail {self.id}")

    def on_receive(self, message: Any) -> Any:
        return message() if callable(message) else (self.id, message)


class Thing:
    """Something of a user's that is no actor: it can be stopped and says when it is over."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[object], object]] = []
        self._outcomes: list[object] = []

    def stop(self, timeout: float | None = None) -> None:
        self.end(None)

    def end(self, outcome: object) -> None:
        self._outcomes.append(outcome)
        self._tell()

    def add_done_callback(self, function: Callable[[object], object]) -> None:
        self._callbacks.append(function)
        self._tell()

    def _tell(self) -> None:
        while self._outcomes and self._callbacks:
            self._callbacks.pop()(self._outcomes[0])

    def snapshot(self) -> dict[str, int]:
        return {"answers": 42}


def failing(error: BaseException) -> Callable[..., None]:
    def fail(*_args: object) -> None:
        raise error

    return fail


def worker(id: str, journal: Journal, kind: type[Worker] = Worker, **fields: Any) -> ChildSpec:
    return ChildSpec(id, partial(kind.start, id, journal), **fields)


def workers(ids: str, journal: Journal, **fields: Any) -> list[ChildSpec]:
    return [worker(id, journal, **fields) for id in ids]


def in_thread(function: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Call it elsewhere; what it returns or raises is in the list when the thread has ended."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(function())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcome
