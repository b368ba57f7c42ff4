"""FleetActor: the shell over FleetMachine. Feeds it whatever happens and carries out its effects, in order.

It shares the reactor's thread, so it never waits: sessions are started and told, records are handed to the journal's
thread, and a job is reported when its record is safe.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import assert_never, get_args

from claude_actors.actors.base import ReactorActor
from claude_actors.actors.contained import run_contained, run_user_code, warn
from claude_actors.actors.task_pool import TaskPool
from claude_actors.actors.timers import TimerHandle
from claude_actors.errors import ActorFailed, ClaudeActorsError
from claude_actors.fleet import inputs
from claude_actors.fleet.errors import FleetStopped, JournalFailed
from claude_actors.fleet.feed import SlotFeed
from claude_actors.fleet.inputs import Effect, FinishJob, Input
from claude_actors.fleet.job import Job
from claude_actors.fleet.machine import FleetMachine
from claude_actors.fleet.roster import Roster
from claude_actors.fleet.scribe import JournalBroke, ReportSafe, Scribe


class FleetActor(ReactorActor):
    """Runs one fleet; ends when the fleet was told to and everything is over."""

    accepts = (*get_args(Input), ReportSafe, JournalBroke)

    def __init__(self, roster: Roster, machine: FleetMachine) -> None:
        super().__init__()
        self._roster, self._machine = roster, machine
        self._scribe = Scribe(roster.journal, self.actor_ref)
        self._timer: TimerHandle | None = None

    def on_start(self) -> None:
        """Begin, with sessions in advance if they are wanted."""
        self._pool = TaskPool.of(self.reactor)
        self._step(inputs.Ticked())

    def on_message(self, message: Input | ReportSafe | JournalBroke) -> None:
        """Feed the machine, or report a job whose record is safe."""
        match message:
            case ReportSafe(finish):
                self._settle(self._roster.jobs[finish.job], finish.outcome, finish.line, finish.error)
            case JournalBroke(failure, finish):
                self._journal_broke(failure, finish)
            case inputs.SlotRunning(slot) | inputs.SlotNamed(slot):
                self._step(message)
                self._note_session(slot)
            case _:
                self._step(message)
        self._finish_when_over()

    def stop_requested(self) -> None:
        """pykka's own stop: end as on request; whoever asked waits until everything is over."""
        self._roster.close()
        self._step(inputs.StopRequested(FleetStopped("the fleet's actor was stopped")))
        self._finish_when_over()

    def on_end(self, reason: BaseException | None) -> None:
        """Leave nothing behind and nobody waiting, also if this actor itself has failed."""
        self._roster.close()
        self._set_timer(None)
        for feed in list(self._roster.feeds.values()):
            run_contained("fleet_session_not_stopped", feed.session.stop_soon, "the fleet has ended")
        failure = None
        if reason is not None:
            failure = ActorFailed(f"the fleet's actor failed: {reason!r}")
            failure.__cause__ = reason
        for job in list(self._roster.jobs.values()):
            self._settle(job, "stopped", None, failure or FleetStopped())
        self._scribe.close(lambda: self._roster.over.settle(failure))

    # --- the machine ---

    def _step(self, event: Input) -> None:
        now = self.reactor.now()
        if isinstance(event, inputs.SlotEnded):
            self._roster.feeds.pop(event.slot, None)
        for effect in self._machine.step(event, now, time.time()):
            self._carry_out(effect)
        self._set_timer(self._machine.next_wake(now))

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case inputs.StartSlot(slot, options):
                self._roster.feeds[slot] = feed = SlotFeed(slot, options, self.actor_ref)
                feed.start()
            case inputs.SendPrompt():
                self._send(effect)
            case inputs.EndSlot(slot, reason):
                self._end(slot, reason)
            case inputs.NoteAttempt(job):
                self._roster.counters.attempts += 1
                self._scribe.began(self._machine.state.jobs[job])
            case inputs.NoteFailure(job, error):
                self._failed(job, error)
            case inputs.NoteLimit(resets_at):
                warn("fleet_limited", resets_at=resets_at)
                self._scribe.limited(resets_at)
            case inputs.FreePlace():
                self._roster.places.give_back()
            case FinishJob():
                self._finish_job(effect)
            case _:
                assert_never(effect)

    def _send(self, effect: inputs.SendPrompt) -> None:
        feed, job = self._roster.feeds[effect.slot], self._roster.jobs[effect.job]
        task = job.task
        prompt = task.continue_prompt if effect.again and task.continue_prompt is not None else task.prompt
        self._note_session(effect.slot)
        feed.work_for(job, prompt, effect.tokens_left)

    def _end(self, slot: int, reason: str) -> None:
        feed = self._roster.feeds.get(slot)
        if feed is not None:
            feed.session.stop_soon(reason)

    def _failed(self, job: str, error: ClaudeActorsError) -> None:
        self._roster.counters.retries += 1
        self._roster.jobs[job].attend(None)
        entry = self._machine.state.jobs[job]
        warn("task_attempt_failed", task=job, attempt=entry.attempt, reason=type(error).__name__)
        self._scribe.failed(entry, error)

    def _note_session(self, number: int) -> None:
        slot, feed = self._machine.state.slots.get(number), self._roster.feeds.get(number)
        if slot is None or slot.job is None or feed is None:
            return
        facts = (slot.job, feed.session.pid, slot.session_id)
        if facts != feed.noted:
            feed.noted = facts
            self._scribe.ran(*facts)

    # --- ending ---

    def _finish_job(self, finish: FinishJob) -> None:
        job = self._roster.jobs[finish.job]
        job.close_account()
        self._scribe.finished(finish, job)

    def _journal_broke(self, failure: JournalFailed, finish: FinishJob | None) -> None:
        """Stop: whoever was told of an end now would be told again by the next fleet on this journal."""
        self._roster.close()
        if finish is not None:
            self._settle(self._roster.jobs[finish.job], "stopped", None, failure)
        self._step(inputs.StopRequested(failure))

    def _settle(self, job: Job, outcome: inputs.Outcome, line: bytes | None, error: BaseException | None) -> None:
        self._roster.counters.count(outcome)
        self._roster.jobs.pop(job.id, None)
        job.settle(outcome, line, None if outcome == "done" else error)
        callbacks = job.take_callbacks()
        if callbacks:
            # Somebody may wait for nothing else.
            run_contained("done_callbacks_failed", self._pool.run, lambda: _call_all(callbacks, job), needed=True)

    def _finish_when_over(self) -> None:
        if self._machine.is_over and not self._roster.jobs and not self.ended:
            self.finish()

    def _set_timer(self, when: float | None) -> None:
        timer = self._timer
        if timer is not None and timer.active and timer.when == when:
            return
        if timer is not None:
            timer.cancel()
        self._timer = None if when is None else self.tell_at(when, inputs.Ticked())


def _call_all(callbacks: list[Callable[[Job], object]], job: Job) -> None:
    for function in callbacks:
        run_user_code("done_callback_failed", function, job)
