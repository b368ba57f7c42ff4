"""SessionKeeper: keeps one session over the deaths of its processes, and ends it exactly once.

It starts a SessionActor for each CLI process, forwards what callers want to the present one, and decides with the pure
rules of `protocol.restarts` what follows an ending. It never touches the conversation itself.
"""

from __future__ import annotations

import random
from typing import Any, ClassVar, assert_never, get_args

import pykka
from msgspec import Struct
from pykka import ActorDeadError

from claude_actors import events
from claude_actors.actors import port_messages
from claude_actors.actors.base import ActorEnded, ReactorActor
from claude_actors.actors.contained import run_contained, warn
from claude_actors.actors.live_ports import LIVE_PORTS
from claude_actors.actors.preparation import discard_launch
from claude_actors.actors.record import SessionRecord
from claude_actors.actors.session import SessionActor
from claude_actors.actors.session_messages import ServersRequested, SessionOver, Wish
from claude_actors.actors.task_pool import TaskPool
from claude_actors.cli.servers import named_servers
from claude_actors.errors import ActorFailed, ClaudeActorsError, ResumeFailed
from claude_actors.mailbox import OverflowReport
from claude_actors.protocol import effects, inputs
from claude_actors.protocol.outcome import Completed, Failed, Outcome, Stopped
from claude_actors.protocol.restarts import RestartPolicy, Restarts, decide, must_resend
from claude_actors.protocol.turns import OpenTurn
from claude_actors.wire.control import McpSetServers

Command = Wish | inputs.FailureRequested | inputs.FinishRequested | inputs.StopRequested


class UnansweredSettled(Struct, frozen=True):
    """It is decided which prompts without a result are asked again."""

    turns: tuple[tuple[OpenTurn, bool], ...]
    error: ClaudeActorsError


class SessionKeeper(ReactorActor):
    """The supervisor of one session; ends with it."""

    accepts: ClassVar[tuple[type, ...]] = (
        *get_args(Command),
        OverflowReport,
        UnansweredSettled,
        SessionOver,
        ActorEnded,
    )

    def __init__(self, record: SessionRecord) -> None:
        super().__init__()
        self._record = record
        self._restarts = Restarts(record.policy or RestartPolicy())
        self._over: SessionOver | None = None
        self._session_id: str | None = None
        self._finished_turns = 0
        self._stop_reason: str | None = None
        self._finishing = False
        # What came for a session that had just died: for its next process, or for the sweep at the end.
        self._held: list[object] = []
        self._crash: BaseException | None = None

    def on_start(self) -> None:
        """Start the first process."""
        self._pool = TaskPool.of(self.reactor)
        self._record.keeper = self.actor_ref
        self._record.attach_approvals()
        self._start_session(resume=None, delay=0.0)

    def on_message(self, message: Command | OverflowReport | UnansweredSettled | SessionOver | ActorEnded) -> None:
        """Forward a command, or take in an ending."""
        match message:
            case SessionOver():
                self._over = message
            case ActorEnded(ref=ref, reason=reason):
                self._actor_ended(ref, reason)
            case inputs.StopRequested(reason):
                self._stop_session(reason)
            case OverflowReport():
                self._overflowed(message)
            case UnansweredSettled(turns, error):
                self._settle_turns(turns, error)
            case inputs.FinishRequested():
                self._finishing = True
                self._forward(message)
            case _:
                self._forward(message)

    def stop_requested(self) -> None:
        """pykka's own stop: end the session as on request."""
        self._stop_session("the session's actor was stopped")

    def on_end(self, reason: BaseException | None) -> None:
        """Leave nobody waiting and nothing running, even if this actor itself has failed."""
        if reason is not None and self._session.is_alive():
            self._session.tell(inputs.StopRequested("its keeper failed"))
        discard_launch(self._record.take_first_launch())
        if self._record.final is None:
            failure = ActorFailed(f"the session's keeper failed: {reason!r}")
            failure.__cause__ = reason
            self._record.finish(events.SessionFailed(failure, tuple(self._restarts.reasons)))
        if self._record.has_done_callbacks:
            run_contained("done_callbacks_failed", self._pool.run, self._record.run_done_callbacks, needed=True)

    def forget(self) -> None:
        """In the child of a fork: the session is the parent's; here it is over."""
        super().forget()
        self._record.forget()

    def _stop_session(self, reason: str) -> None:
        self._stop_reason = self._stop_reason or reason
        self._forward(inputs.StopRequested(reason))

    def _overflowed(self, report: OverflowReport) -> None:
        self._record.tell_overflow(report)
        if isinstance(report.error, ClaudeActorsError):
            self._forward(inputs.FailureRequested(report.error))

    # --- processes ---

    def _start_session(self, *, resume: str | None, delay: float) -> None:
        self._over = None
        self._resumed = resume is not None
        self._session: pykka.ActorRef[SessionActor] = SessionActor.start(
            self._record, self._pool, supervisor=self.actor_ref, resume=resume, delay=delay
        )

    def _forward(self, message: object) -> None:
        try:
            self._session.tell(message)
        except ActorDeadError:
            self._held.append(message)

    # --- endings ---

    def _actor_ended(self, ref: pykka.ActorRef[Any], reason: BaseException | None) -> None:
        port = self._record.port
        if ref == self._session and reason is not None and port is not None and port.is_alive():
            # The actor that would have waited for its process is gone, so we do: two processes must not share a
            # conversation, and an end is only told when nothing is left.
            self._crash = reason
            port.tell(port_messages.ReportTo(self.actor_ref))
        elif ref == self._session:
            self._session_ended(reason)
        elif ref == port and self._crash is not None:
            reason, self._crash = self._crash, None
            self._session_ended(reason)

    def _session_ended(self, reason: BaseException | None) -> None:
        over = self._over or SessionOver(self._crash_report(reason))
        end = over.end
        self._session_id = end.session_id or self._session_id
        self._count_turns()
        self._count_time()
        outcome: Outcome = end.outcome if self._stop_reason is None else Stopped(self._stop_reason)
        verdict = decide(
            outcome,
            self._record.policy,
            resumable=self._session_id is not None,
            forgettable=self._resumed and self._finished_turns == 0,
            allowed=self._restart_is_allowed,
        )
        match verdict:
            case "finish" | "give_up":
                self._finish(outcome)
            case "resume":
                self._restart(over, self._session_id)
            case "fresh":
                self._begin_anew(outcome)
                self._restart(over, None)
            case _:
                assert_never(verdict)

    def _begin_anew(self, outcome: Outcome) -> None:
        """Not try again, after the next crash either, what cannot be resumed: our id, or the one in the options."""
        self._session_id = None
        is_lost = isinstance(outcome, Failed) and isinstance(outcome.error, ResumeFailed)
        if is_lost and not self._resumed:
            self._record.present.forget_conversation()

    def _count_turns(self) -> None:
        machine = self._record.machine
        self._finished_turns += machine.counters.turns_finished if machine is not None else 0

    def _count_time(self) -> None:
        since, self._record.running_since = self._record.running_since, None
        if since is not None:
            self._restarts.ran(self.reactor.now() - since)

    def _restart_is_allowed(self) -> bool:
        return not LIVE_PORTS.exiting and self._restarts.allow()

    def _crash_report(self, reason: BaseException | None) -> effects.EndSession:
        """Make the ending that a SessionActor which failed itself could not report."""
        if isinstance(reason, ClaudeActorsError):
            failure = reason
        else:
            failure = ActorFailed(f"the session actor failed: {reason!r}")
            failure.__cause__ = reason
        for number in list(self._record.operations):
            self._record.fail_operation(number, failure)
        unanswered = tuple(OpenTurn(turn.uuid, turn.line, True, True) for turn in list(self._record.turns.values()))
        machine = self._record.machine
        return effects.EndSession(Failed(failure), unanswered, machine.conversation.session_id if machine else None)

    def _restart(self, over: SessionOver, resume: str | None) -> None:
        record, policy = self._record, self._record.policy
        assert policy is not None
        assert isinstance(over.end.outcome, Failed)
        error = over.end.outcome.error
        self._restarts.reasons.append(error)
        record.restarts += 1
        warn(
            "session_restarted",
            session_id=over.end.session_id or resume,
            attempt=record.restarts,
            reason=type(error).__name__,
            resumed=resume is not None,
        )
        self._start_session(resume=resume, delay=self._restarts.delay(random.random()))
        record.deliveries.emit(events.SessionRestarted(record.restarts, error, resume is not None))
        self._set_servers_again()
        # What no CLI has read yet has had no effect: it is not a matter of policy.
        unread = [_again(turn) for turn in over.end.unanswered if not turn.written]
        self._settle_unanswered(tuple(turn for turn in over.end.unanswered if turn.written), error, policy)
        held, self._held = self._held, []
        for wanted in (*unread, *over.late, *held):
            self._session.tell(wanted)

    def _set_servers_again(self) -> None:
        """Before any prompt: a turn that is asked again may need them."""
        servers, options = self._record.present.servers_to_set(), self._record.options
        if servers is not None:
            # The number of no operation: nobody waits for the answer.
            again = inputs.OperationRequested(0, McpSetServers(named_servers(servers)), options.control_timeout)
            self._session.tell(ServersRequested(servers, again))

    def _settle_unanswered(self, turns: tuple[OpenTurn, ...], error: ClaudeActorsError, policy: RestartPolicy) -> None:
        """Decide about prompts without a result; a policy that is a user's function is asked in a task's thread."""

        def ask() -> None:
            settled = tuple((turn, must_resend(policy, turn, str(error))) for turn in turns)
            self.actor_ref.tell(UnansweredSettled(settled, error))

        if callable(policy.unanswered) and turns:
            self._pool.run(ask, needed=True)
        else:
            self._settle_turns(tuple((turn, must_resend(policy, turn, str(error))) for turn in turns), error)

    def _settle_turns(self, turns: tuple[tuple[OpenTurn, bool], ...], error: ClaudeActorsError) -> None:
        for turn, resend in turns:
            again = self._record.renew_turn(turn.uuid) if resend else None
            resent_as = None if again is None else again.uuid
            self._record.deliveries.emit(events.TurnUnanswered(turn.uuid, str(error), turn.started, resent_as))
            if again is not None:
                self._forward(inputs.PromptRequested(again.uuid, again.line, resent=True))
            else:
                self._record.fail_turn(turn.uuid, error)
        if self._finishing:
            self._forward(inputs.FinishRequested())

    def _finish(self, outcome: Outcome) -> None:
        match outcome:
            case Completed(code):
                final: events.FinalEvent = events.SessionCompleted(code)
            case Stopped(reason):
                final = events.SessionStopped(reason)
            case Failed(error):
                final = events.SessionFailed(error, tuple(self._restarts.reasons))
            case _:
                assert_never(outcome)
        self._record.finish(final)
        self.finish()


def _again(turn: OpenTurn) -> inputs.PromptRequested:
    return inputs.PromptRequested(turn.uuid, turn.line, resent=True)
