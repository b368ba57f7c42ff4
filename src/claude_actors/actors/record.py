"""What of a session outlives its processes and actors: mailboxes, subscribers, open turns and operations, its outcome.

Written by the session's own actors; read by the handle from any thread. Nothing here blocks or runs user code.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pykka
from pykka import ActorDeadError

from claude_actors.actors.contained import run_user_code
from claude_actors.actors.deliveries import Deliveries, mailbox_limits
from claude_actors.actors.port_types import check_size
from claude_actors.actors.preparation import LaunchFailed, Launching, LaunchReady, Preparation
from claude_actors.actors.present_options import PresentOptions
from claude_actors.callbacks.approvals import PendingApproval, find_approvals
from claude_actors.errors import ClaudeActorsError, SessionEnded, SessionStoppedError
from claude_actors.events import Event, FinalEvent, MailboxOverflowed, SessionFailed, SessionStopped
from claude_actors.mailbox import Mailbox, OverflowReport
from claude_actors.mailbox.promise import Promise
from claude_actors.options import Options
from claude_actors.protocol.machine import SessionMachine
from claude_actors.protocol.restarts import RestartPolicy
from claude_actors.turn import Turn
from claude_actors.wire.messages import Message

WhenOver = Callable[[FinalEvent], object]

_WHAT = {"spilling": "spilling", "drained": "spill_drained", "dropping": "dropped"}


class SessionRecord:
    """The durable part of one session."""

    def __init__(self, options: Options, policy: RestartPolicy | None) -> None:
        self.present = PresentOptions(options)
        self.policy = policy
        self.machine: SessionMachine | None = None
        self.deliveries = Deliveries(options, self._overflowed, self._identify)
        self._approvals = find_approvals(options.can_use_tool)
        self.permissions: Mailbox[PendingApproval] | None = None
        if self._approvals is not None:
            limits = mailbox_limits(options)
            self.permissions = Mailbox(None, limits=limits, overflow="drop_oldest", name="permissions")
        self.turns: dict[str, Turn] = {}
        self.last_turn: Turn | None = None
        self.operations: dict[int, Promise[dict[str, Any] | None]] = {}
        self._changes: dict[int, Mapping[str, Any]] = {}
        self._operation_numbers = itertools.count(1)
        self.running: Promise[None] = Promise()
        self.over: Promise[FinalEvent] = Promise()
        self.final: FinalEvent | None = None
        self.abandoned = 0
        self.restarts = 0
        self.started_at = time.monotonic()
        self.running_since: float | None = None
        self.keeper: pykka.ActorRef[Any] | None = None
        self.port: pykka.ActorRef[Any] | None = None
        #: Why a start that is still under way is not wanted any more.
        self.unwanted: str | None = None
        self.handle: Any = None
        self._first_launch: LaunchReady | LaunchFailed | None = None
        # Guards the callbacks against the end; nothing of a user's runs inside.
        self._ending = threading.Lock()
        self._when_over: list[WhenOver] = []

    # --- what it is: any thread ---

    @property
    def options(self) -> Options:
        """The options that it has now."""
        return self.present.options

    @property
    def messages(self) -> Mailbox[Message]:
        """The session's own mailbox of messages."""
        return self.deliveries.messages

    @property
    def events(self) -> Mailbox[Event]:
        """The session's own mailbox of events."""
        return self.deliveries.events

    @property
    def state(self) -> str:
        """The lifecycle state, of the present process or for good."""
        if self.final is not None:
            return "failed" if isinstance(self.final, SessionFailed) else "stopped"
        machine = self.machine
        return "starting" if machine is None or machine.state.is_final else machine.state.value

    @property
    def session_id(self) -> str | None:
        """The conversation's id, once it is known."""
        return self.machine.conversation.session_id if self.machine is not None else None

    @property
    def pid(self) -> int | None:
        """The process's id, while there is one."""
        machine = self.machine
        return machine.pid if machine is not None and not machine.state.is_final else None

    def _identify(self) -> tuple[str | None, int | None]:
        return self.session_id, self.pid

    def pending_permissions(self) -> tuple[str, ...]:
        """Name the tools that wait for a person's word in this session."""
        if self._approvals is None or self.final is not None:
            return ()
        pending = self._approvals.pending(self.handle)
        return tuple(approval.tool_name for approval in pending)

    # --- its launches ---

    def preparation(self, launching: Launching, resume: str | None = None) -> Preparation:
        """Say what the next process is to be."""
        return Preparation(self.present.for_launch(), self.messages.crowded, launching, resume)

    def launch_first(self) -> None:
        """Launch the first process in this thread, because its caller waits for that anyway. Blocks; never raises.

        It saves handing the launch to another thread and back, which takes as long as the launch does.
        """
        self._first_launch = self.preparation(Launching()).run()

    def take_first_launch(self) -> LaunchReady | LaunchFailed | None:
        """Give what came of `launch_first`, once."""
        launched, self._first_launch = self._first_launch, None
        return launched

    # --- operations ---

    def new_operation(self, changes: Mapping[str, Any] | None) -> tuple[int, Promise[dict[str, Any] | None]]:
        """Make the place of one operation's answer, and its number; `changes` are the options that it changes."""
        number, answer = next(self._operation_numbers), Promise[dict[str, Any] | None]()
        if changes is not None:
            self._changes[number] = changes
        self.operations[number] = answer
        return number, answer

    def check_size(self, size: int) -> None:
        """Raise WriteFailed for a line that could never be written: to try would end the session for everybody."""
        check_size(size, self.options.write_limit_bytes)

    def call_when_over(self, function: WhenOver) -> None:
        """Call `function` at the end, or now if it has come."""
        with self._ending:
            if self.final is None:
                self._when_over.append(function)
                return
        run_user_code("done_callback_failed", function, self.final)

    # --- outcomes: from the session's actors ---

    def complete_operation(self, number: int, payload: dict[str, Any] | None) -> None:
        """Give a caller its payload, and keep what it has changed."""
        changes = self._changes.pop(number, None)
        if changes is not None:
            self.present.change(changes)
        answer = self.operations.pop(number, None)
        if answer is not None:
            answer.settle(payload)

    def fail_operation(self, number: int, error: ClaudeActorsError) -> None:
        """Give a caller its error."""
        self._changes.pop(number, None)
        answer = self.operations.pop(number, None)
        if answer is not None:
            answer.fail(error)

    def complete_turn(self, uuid: str, line: bytes) -> None:
        """Give a turn its result."""
        turn = self.turns.pop(uuid, None)
        if turn is not None:
            turn.outcome.settle(line)

    def fail_turn(self, uuid: str, error: ClaudeActorsError) -> None:
        """Leave a turn without a result."""
        turn = self.turns.pop(uuid, None)
        if turn is not None:
            turn.outcome.fail(error)

    def renew_turn(self, uuid: str) -> Turn | None:
        """Give an open turn a new uuid, under which it can be asked again."""
        turn = self.turns.pop(uuid, None)
        if turn is not None:
            turn.renew()
            self.turns[turn.uuid] = turn
        return turn

    def has_started(self, now: float) -> None:
        """Wake who waits for the start."""
        self.running_since = now
        self.running.settle(None)

    def finish(self, final: FinalEvent) -> None:
        """End for good: tell everybody, exactly once, and leave nobody waiting."""
        with self._ending:
            self.final = final
        self.fail_all(self.ended_error())
        self.running.fail(self.error or self.ended_error())
        self.deliveries.end(final, self.error)
        if self._approvals is not None and self.permissions is not None:
            self._approvals.detach(self.handle)
            self.permissions.close()
        self.over.settle(final)

    def run_done_callbacks(self) -> None:
        """Call everybody who asked to be called at the end. User code: for a task's thread."""
        assert self.final is not None
        for function in self._when_over:
            run_user_code("done_callback_failed", function, self.final)

    @property
    def has_done_callbacks(self) -> bool:
        """Whether `run_done_callbacks` has anything to do."""
        return bool(self._when_over)

    def attach_approvals(self) -> None:
        """Have the requests of this session that wait for a person put into its mailbox."""
        if self._approvals is not None and self.permissions is not None:
            self._approvals.attach(self.handle, self.permissions)

    def fail_all(self, error: ClaudeActorsError) -> None:
        """Fail every open operation and turn."""
        for number in list(self.operations):
            self.fail_operation(number, error)
        for uuid in list(self.turns):
            self.fail_turn(uuid, error)

    def forget(self) -> None:
        """Be over in the child of a fork. Nothing that threads of the parent may hold or wait for is touched."""
        self._ending = threading.Lock()
        self.keeper, self.final = None, SessionStopped("this process is a fork: the session is its parent's")
        self.running, self.over, self.operations = Promise(), Promise(), {}
        self.over.settle(self.final)
        self.running.fail(self.ended_error())
        turns, self.turns = self.turns, {}
        for turn in turns.values():
            turn.outcome = Promise()
            turn.outcome.fail(self.ended_error())
        self.deliveries = Deliveries(self.options, self._overflowed, self._identify)
        self.deliveries.end(self.final, None)

    @property
    def error(self) -> ClaudeActorsError | None:
        """The error that ended the session, None if it lives or ended well."""
        return self.final.error if isinstance(self.final, SessionFailed) else None

    def ended_error(self) -> ClaudeActorsError:
        """The error for who comes after the end, or is still waiting at it."""
        if isinstance(self.error, SessionEnded):
            return self.error
        if isinstance(self.final, SessionStopped):
            return SessionStoppedError(f"the session was stopped: {self.final.reason}")
        ended = SessionEnded("the session has ended" if self.error is None else f"the session has failed: {self.error}")
        ended.__cause__ = self.error
        return ended

    def _overflowed(self, report: OverflowReport) -> None:
        """Have the keeper tell of it: this may be a consumer's thread."""
        try:
            if self.keeper is not None:
                self.keeper.tell(report)
        except ActorDeadError:
            return

    def tell_overflow(self, report: OverflowReport) -> None:
        """Tell of a mailbox that is full, or was."""
        what = _WHAT.get(report.kind, "failed")
        self.deliveries.emit(MailboxOverflowed(report.mailbox, what, report.dropped))  # type: ignore[arg-type]
