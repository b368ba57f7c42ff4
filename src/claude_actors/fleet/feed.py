"""What a session tells its fleet: messages go to the job's mailbox, the little that decides anything to the actor.

Runs where the session's actors run, so nothing here may block. Of a flood of messages the fleet's actor hears nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pykka
from pykka import ActorDeadError

from claude_actors import events
from claude_actors.errors import ClaudeActorsError, SessionEnded
from claude_actors.fleet import inputs
from claude_actors.fleet.gate import reset_time
from claude_actors.fleet.job import Job
from claude_actors.fleet.spending import Meter
from claude_actors.options import Options
from claude_actors.protocol.results import result_error
from claude_actors.session import Session
from claude_actors.turn import Turn
from claude_actors.wire.messages import decode_message
from claude_actors.wire.notices import RateLimitEvent


class SlotFeed:
    """One session of a fleet, with the job that it works for now."""

    def __init__(self, slot: int, options: Options, actor: pykka.ActorRef[Any]) -> None:
        self.slot = slot
        self.session = Session(options)
        self.meter = Meter()
        self.job: Job | None = None
        self.resets_at: float | None = None
        self.noted: tuple[str, int | None, str | None] | None = None
        self._actor = actor
        self._tokens_left: int | None = None
        self._waits = False

    def start(self) -> None:
        """Start the session; the fleet's actor hears of it from its first event on."""
        # The job has a mailbox of its own; what is put here twice would only take memory.
        self.session.messages().discard()
        self.session.events().discard()
        self.session._record.deliveries.subscribe(MessageFeed(self), messages=True)
        self.session._record.deliveries.subscribe(EventFeed(self), messages=False)
        self.session._start()

    def work_for(self, job: Job, prompt: str | Sequence[object], tokens_left: int | None) -> None:
        """Send a job's prompt; its end is told as TurnSettled."""
        self.job, self._tokens_left = job, tokens_left
        job.attend(self.session, lambda: self.meter.live)
        try:
            turn = self.session.send(prompt)
        except ClaudeActorsError as error:
            self.tell(inputs.TurnSettled(self.slot, job.id, error=self._why(error)))
            return
        watch = TurnWatch(self, job, turn)
        turn.outcome.join(watch)
        if turn.done:
            watch.wake()

    def turn_over(self, job: Job, turn: Turn) -> None:
        """Tell how a turn has ended."""
        error = turn.outcome.error
        if error is not None:
            why = self._why(error)
            self.tell(inputs.TurnSettled(self.slot, job.id, error=why, spent=self.meter.take_live()))
            return
        line, result = turn.outcome.value(), turn.result(0)
        failure = result_error(result, resets_at=self.resets_at)
        self.tell(inputs.TurnSettled(self.slot, job.id, line=line, error=failure, spent=self.meter.settle(result)))

    def heard(self, lines: Sequence[bytes]) -> None:
        """Take in conversation lines."""
        job = self.job
        if job is not None:
            job.heard_at = time.monotonic()
            job.messages().put_many(lines)
        for line in lines:
            self.meter.see(line)
            if b'"rate_limit_event"' in line:
                self._limit(line)
        if self._tokens_left is not None and job is not None and self.meter.live.tokens >= self._tokens_left:
            self._tokens_left = None
            self.tell(inputs.TokensUsedUp(self.slot, job.id, self.meter.take_live()))

    def happened(self, event: events.Event) -> None:
        """Take in an event."""
        match event:
            case events.LifecycleChanged(state="running"):
                self.tell(inputs.SlotRunning(self.slot))
            case events.StateChanged(state=state):
                self._asked(state == "requires_action")
            case events.TurnStarted() if self.session.session_id is not None:
                self.tell(inputs.SlotNamed(self.slot, self.session.session_id))
            case _:
                return

    def over(self, final: events.FinalEvent) -> None:
        """Tell that nothing is left of the session."""
        self.tell(inputs.SlotEnded(self.slot, final.error if isinstance(final, events.SessionFailed) else None))

    def tell(self, message: inputs.Input) -> None:
        """Tell the fleet's actor, if it still lives."""
        try:
            self._actor.tell(message)
        except ActorDeadError:
            return

    def _asked(self, waits: bool) -> None:
        if waits is not self._waits:
            self._waits = waits
            self.tell(inputs.SlotAsked(self.slot, waits))

    def _limit(self, line: bytes) -> None:
        message = decode_message(line)
        resets_at = reset_time(message.rate_limit_info) if isinstance(message, RateLimitEvent) else None
        if resets_at is not None:
            self.resets_at = resets_at
            self.tell(inputs.LimitSeen(resets_at))

    def _why(self, error: BaseException) -> ClaudeActorsError:
        """Return what ended the turn: the session's own failure tells more than that it has ended."""
        final = self.session.final_event
        if isinstance(final, events.SessionFailed):
            return final.error
        return error if isinstance(error, ClaudeActorsError) else SessionEnded(str(error))


class TurnWatch:
    """Told by a turn that it is over, once."""

    def __init__(self, feed: SlotFeed, job: Job, turn: Turn) -> None:
        self._feed, self._job, self._turn = feed, job, turn
        self._marks: list[object] = []

    def wake(self) -> bool:
        """Hand it on. Two threads may come here; the one whose mark is the first does it."""
        mark = object()
        self._marks.append(mark)
        if self._marks[0] is mark:
            self._feed.turn_over(self._job, self._turn)
        return True


class MessageFeed:
    """The session's messages, as a subscriber gets them."""

    closed = False

    def __init__(self, feed: SlotFeed) -> None:
        self._feed = feed

    def put_many(self, items: Sequence[bytes]) -> None:
        """Take in lines in order."""
        self._feed.heard(items)

    def put_last(self, item: bytes) -> None:
        """Take in a last line."""
        self._feed.heard((item,))

    def close(self, error: BaseException | None = None) -> None:
        """Nothing more will come; the events tell why."""


class EventFeed:
    """The session's events, as a subscriber gets them."""

    closed = False

    def __init__(self, feed: SlotFeed) -> None:
        self._feed = feed

    def put_many(self, items: Sequence[events.Event]) -> None:
        """Take in events in order."""
        for event in items:
            self._feed.happened(event)

    def put_last(self, item: events.FinalEvent) -> None:
        """Take in the final event."""
        self._feed.over(item)

    def close(self, error: BaseException | None = None) -> None:
        """Nothing more will come."""
