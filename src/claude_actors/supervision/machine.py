"""TreeMachine: one supervisor as a pure machine. What happened goes in with the time, what is to be done comes out.

It never calls, waits for or looks at a child: it knows ids, numbers of starts, and reasons. Each step only changes what
is wanted of the children; then `_settle` begins whatever the order of starts and stops allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias, assert_never

from claude_actors.errors import (
    ChildExists,
    ChildNotFound,
    ChildNotStopped,
    ChildStartFailed,
    SupervisionError,
    SupervisorStopped,
    TooManyChildren,
    TooManyRestarts,
    describe_end,
)
from claude_actors.protocol.restarts import Intensity
from claude_actors.supervision import steps
from claude_actors.supervision.decisions import affected, after_end, after_stop, in_group_restart
from claude_actors.supervision.entries import Entry, Phase, next_starts, next_stop
from claude_actors.supervision.specs import ChildSpec, TreeConfig

TreeState: TypeAlias = Literal["starting", "running", "stopping", "ended"]


class TreeMachine:
    """The children of one supervisor and what is to become of them; `handle()` is its only door."""

    def __init__(self, config: TreeConfig, children: Iterable[ChildSpec], chance: Callable[[], float]) -> None:
        self.config = config
        self.entries: dict[str, Entry] = {spec.id: Entry(spec) for spec in children}
        self.state: TreeState = "starting"
        self.reason: BaseException | None = None
        self.restarts = 0
        self._chance = chance
        self._intensity = Intensity(config.max_restarts, config.max_seconds)
        self._runs: dict[int, Entry] = {}
        self._last_run = 0
        self._effects: list[steps.Effect] = []

    def handle(self, event: steps.Input, now: float) -> list[steps.Effect]:
        """Take in one event and say what is to be done, in this order."""
        self._effects = []
        match event:
            case steps.Begun() | steps.TimePassed():
                self._cut_short(now)
            case steps.ChildStarted(run, target):
                self._started(run, target, now)
            case steps.ChildStartFailed(run, error):
                self._start_failed(run, error, now)
            case steps.ChildEnded(run, reason):
                self._ended(run, reason, now)
            case steps.StopTree():
                self._end_all(None)
            case _:
                self._command(event, now)
        self._settle(now)
        return self._effects

    def wants_start(self, run: int) -> bool:
        """Tell whether the child of this start is still wanted."""
        entry = self._runs.get(run)
        return entry is not None and entry.phase is Phase.STARTING

    def next_deadline(self, now: float) -> float | None:
        """Say when `TimePassed` is due next, None if nothing waits for the time."""
        times = [entry.deadline for entry in self.entries.values() if entry.deadline is not None]
        # What was due before now waits for another child and not for the time.
        times += [entry.due for entry in self.entries.values() if entry.may_start and entry.due > now]
        return min(times, default=None)

    # --- what happened to a child ---

    def _started(self, run: int, target: Any, now: float) -> None:
        entry = self._runs.get(run)
        if entry is None:
            self._effects.append(steps.Discard(run))
        elif target is None:
            self._reply(entry, None)
            entry.wanted, entry.starts = False, entry.starts + 1
            self._went_down(entry)
        elif entry.phase is Phase.ABORTING:
            # The deadline of the stop has been running since the start was no longer wanted.
            entry.phase = Phase.STOPPING
            self._effects.append(
                steps.BeginStop(run, None if entry.deadline is None else max(0.0, entry.deadline - now))
            )
        else:
            entry.phase, entry.up_since, entry.starts = Phase.UP, now, entry.starts + 1
            self._reply(entry, target)

    def _start_failed(self, run: int, error: BaseException, now: float) -> None:
        entry = self._runs.get(run)
        if entry is None:
            return
        entry.reason = error
        aborted, asked_for = entry.phase is Phase.ABORTING, entry.opener is not None
        failure = ChildStartFailed(id=entry.id, reason=describe_end(error))
        failure.__cause__ = error
        if not aborted and asked_for:
            self._reply(entry, error=failure)
            entry.wanted = False
        self._went_down(entry)
        if aborted or asked_for:
            return
        if self.state == "starting" and not entry.starts:
            self._end_all(failure)
        else:
            self._restart(entry, error, now)

    def _ended(self, run: int, reason: BaseException | None, now: float) -> None:
        entry = self._runs.get(run)
        if entry is None:
            return
        entry.reason = reason
        asked_for = entry.phase is not Phase.UP
        if entry.up_since is not None and now - entry.up_since >= self.config.max_seconds:
            entry.streak = 0
        self._went_down(entry)
        if asked_for:
            return
        if after_end(entry.spec.restart, failed=reason is not None) == "restart":
            self._restart(entry, reason, now)
        else:
            entry.wanted = False
            self._forget_if_temporary(entry)

    def _restart(self, failed: Entry, reason: BaseException | None, now: float) -> None:
        if self.state == "stopping":
            return
        config = self.config
        if not self._intensity.allow(now):
            limits = {"max_restarts": config.max_restarts, "max_seconds": config.max_seconds}
            gave_up = TooManyRestarts(id=failed.id, reason=reason, **limits)  # type: ignore[arg-type]
            gave_up.__cause__ = reason
            self._end_all(gave_up)
            return
        self.restarts += 1
        failed.streak += 1
        delay = config.backoff.delay(failed.streak, self._chance()) if config.backoff is not None else 0.0
        ids = affected(config.strategy, tuple(self.entries), failed.id)
        for entry in [self.entries[id] for id in ids]:
            if entry is failed or in_group_restart(entry.spec.restart) == "restart":
                entry.wanted, entry.again, entry.due = True, entry.phase is not Phase.DOWN, now + delay
            elif entry.phase is not Phase.DOWN:
                entry.wanted = False
        self._effects.append(steps.ReportRestart(failed.id, ids, reason, delay))

    # --- what is asked for ---

    def _command(self, command: steps.Command, now: float) -> None:
        try:
            if self.state in ("stopping", "ended"):
                raise SupervisorStopped(self.reason)
            match command:
                case steps.StartChild(spec, request):
                    self._add(spec, request, now)
                case steps.TerminateChild(id, request):
                    self._terminate(self._known(id), request)
                case steps.RestartChild(id, request):
                    entry = self._stopped(id)
                    entry.wanted, entry.due, entry.streak = True, now, 0
                    entry.opener, entry.kept = request, True
                case steps.DeleteChild(id, request):
                    del self.entries[self._stopped(id).id]
                    self._effects.append(steps.Reply(request))
                case _:
                    assert_never(command)
        except SupervisionError as error:
            self._effects.append(steps.Reply(command.request, error=error))

    def _add(self, spec: ChildSpec, request: Any, now: float) -> None:
        limit = self.config.max_children
        if spec.id in self.entries:
            raise ChildExists(id=spec.id, state=self.entries[spec.id].state)
        if limit is not None and len(self.entries) >= limit:
            raise TooManyChildren(limit=limit)
        entry = self.entries[spec.id] = Entry(spec, opener=request, kept=False)
        entry.due = now

    def _terminate(self, entry: Entry, request: Any) -> None:
        entry.wanted = entry.again = False
        entry.closers.append(request)
        if entry.phase is Phase.DOWN:
            self._went_down(entry)

    def _known(self, id: str) -> Entry:
        if id not in self.entries:
            raise ChildNotFound(id=id)
        return self.entries[id]

    def _stopped(self, id: str) -> Entry:
        entry = self._known(id)
        if entry.state != "stopped":
            raise ChildNotStopped(id=id, state=entry.state)
        return entry

    # --- going on ---

    def _settle(self, now: float) -> None:
        """Begin every stop and start whose turn it is."""
        one_at_a_time = self.state == "stopping" or self.config.strategy != "one_for_one"
        while (entry := next_stop(self.entries.values(), one_at_a_time=one_at_a_time)) is not None:
            self._begin_stop(entry, now)
        first_starts = self.state == "starting"
        for entry in next_starts(self.entries.values(), self.config.strategy, now, first_starts=first_starts):
            self._begin_start(entry)
        known = self.entries.values()
        if self.state == "starting" and all(entry.starts or entry.opener or not entry.wanted for entry in known):
            self.state = "running"
            self._effects.append(steps.ReportStarted())
            self._settle(now)
        elif self.state == "stopping" and all(entry.phase is Phase.DOWN for entry in known):
            self.state = "ended"
            self._effects.append(steps.ReportEnded(self.reason))

    def _begin_start(self, entry: Entry) -> None:
        self._last_run += 1
        entry.run, entry.phase, entry.attempts = self._last_run, Phase.STARTING, entry.attempts + 1
        self._runs[entry.run] = entry
        self._effects.append(steps.BeginStart(entry.run, entry.spec))

    def _begin_stop(self, entry: Entry, now: float) -> None:
        grace, starting = entry.spec.grace, entry.phase is Phase.STARTING
        if starting:
            self._effects.append(steps.AbortStart(entry.run))
        if grace == "kill":
            self._kill(entry)
            return
        entry.phase = Phase.ABORTING if starting else Phase.STOPPING
        entry.deadline = None if grace is None else now + grace
        if not starting:
            self._effects.append(steps.BeginStop(entry.run, grace))

    def _cut_short(self, now: float) -> None:
        for entry in [*self.entries.values()]:
            if entry.deadline is not None and entry.deadline <= now:
                self._kill(entry)

    def _kill(self, entry: Entry) -> None:
        if entry.phase in (Phase.UP, Phase.STOPPING):
            self._effects.append(steps.Kill(entry.run))
        self._went_down(entry)

    def _went_down(self, entry: Entry) -> None:
        self._runs.pop(entry.run, None)
        entry.phase, entry.again, entry.deadline, entry.up_since = Phase.DOWN, False, None, None
        for request in entry.closers:
            self._effects.append(steps.Reply(request))
        entry.closers = []
        if not entry.wanted:
            self._reply(entry, error=ChildStartFailed(id=entry.id, reason="it was terminated meanwhile"))
            self._forget_if_temporary(entry)

    def _forget_if_temporary(self, entry: Entry) -> None:
        if after_stop(entry.spec.restart) == "forget" or not (entry.starts or entry.kept):
            self.entries.pop(entry.id, None)

    def _reply(self, entry: Entry, value: Any = None, error: BaseException | None = None) -> None:
        if entry.opener is not None:
            self._effects.append(steps.Reply(entry.opener, value, error))
            entry.opener = None

    def _end_all(self, reason: BaseException | None) -> None:
        if self.state in ("stopping", "ended"):
            return
        self.state, self.reason = "stopping", reason
        for entry in self.entries.values():
            entry.wanted = entry.again = False
            self._reply(entry, error=SupervisorStopped(reason))
