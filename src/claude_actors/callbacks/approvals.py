"""Asking a person: permission requests wait in a mailbox until somebody, in any thread or actor, answers them.

A waiting request holds no thread: the callback returns a future. Whoever runs callbacks cancels that future when the
question is withdrawn (by the CLI, a timeout, the end of the session).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from typing import Any, Final, TypeAlias

from claude_actors.callbacks.auditing import Audited
from claude_actors.callbacks.context import CallbackContext
from claude_actors.callbacks.policies import FirstDecision
from claude_actors.callbacks.results import Allow, Deny
from claude_actors.mailbox import Mailbox, MailboxLimits
from claude_actors.wire.permissions import PermissionUpdate, ToolPermissionRequest

PendingDecision: TypeAlias = Future[Allow | Deny]

MAX_WAITING: Final = 10_000


class PendingApproval:
    """One question that waits for an answer; every member is safe in every thread and none blocks.

    The first answer counts. `allow` and `deny` return whether theirs was it: False means that it was too late, because
    somebody else had answered or the question was withdrawn.
    """

    __slots__ = ("_future", "id", "request", "session", "session_id")

    def __init__(self, request: ToolPermissionRequest, ctx: CallbackContext, future: PendingDecision) -> None:
        self.request = request
        self.id = ctx.request_id
        self.session = ctx.session
        self.session_id = ctx.session_id
        self._future = future

    @property
    def tool_name(self) -> str:
        """The tool that wants to run."""
        return self.request.tool_name

    @property
    def input(self) -> dict[str, Any]:
        """The input that it wants to run with."""
        return self.request.input

    @property
    def suggestions(self) -> tuple[PermissionUpdate, ...]:
        """Rule changes that would answer this question for the future; allow them through `updated_permissions`."""
        return self.request.suggestions

    @property
    def plan(self) -> str | None:
        """The text of the plan to approve, if this is about one."""
        return self.request.plan

    @property
    def withdrawn(self) -> bool:
        """True if the question needs no answer any more and nobody had given one."""
        return self._future.cancelled()

    @property
    def done(self) -> bool:
        """True once the question is answered or withdrawn."""
        return self._future.done()

    def allow(
        self,
        updated_input: Mapping[str, Any] | None = None,
        updated_permissions: Sequence[PermissionUpdate | Mapping[str, Any]] | None = None,
    ) -> bool:
        """Let the tool run; see `Allow`."""
        return self._answer(Allow(updated_input, updated_permissions))

    def deny(self, message: str = "denied by the user", interrupt: bool = False) -> bool:
        """Refuse; see `Deny`."""
        return self._answer(Deny(message, interrupt))

    def on_done(self, callback: Callable[[PendingApproval], object]) -> None:
        """Have `callback(self)` called once when the question is answered or withdrawn, at once if it is already.

        It runs in the thread that answers or withdraws and must not block.
        """
        self._future.add_done_callback(lambda _: callback(self))

    def _answer(self, answer: Allow | Deny) -> bool:
        try:
            self._future.set_result(answer)
        except InvalidStateError:
            return False
        return True

    def __repr__(self) -> str:
        state = "withdrawn" if self.withdrawn else "answered" if self.done else "waiting"
        return f"<PendingApproval {self.id} {self.tool_name} {state}>"


class Approvals:
    """A permission callback that has each request wait for a person; one object may serve many sessions.

    People are slow: give the session a permission timeout that they can keep. A request that nobody answers in time is
    denied. The mailbox still holds what was withdrawn meanwhile: look at `withdrawn`, or at what `allow` returns.
    """

    def __init__(self, *, name: str = "permissions") -> None:
        self._name = name
        self._mailbox: Mailbox[PendingApproval] | None = None
        self._lock = threading.Lock()
        self._pending: dict[PendingApproval, None] = {}
        self._sessions: dict[int, Mailbox[PendingApproval]] = {}
        self._closed = False

    @property
    def mailbox(self) -> Mailbox[PendingApproval]:
        """The requests of all sessions, from those on that wait when it is first asked for; one session's own are in
        `session.permissions()`.
        """
        # Made only for who reads it: it would else keep thousands of sessions in memory that ended long ago.
        with self._lock:
            if self._mailbox is None:
                limits = MailboxLimits(max_items=MAX_WAITING)
                self._mailbox = Mailbox(None, limits=limits, overflow="drop_oldest", name=self._name)
                self._mailbox.put_many(list(self._pending))
                if self._closed:
                    self._mailbox.close()
            return self._mailbox

    def attach(self, session: object, mailbox: Mailbox[PendingApproval]) -> None:
        """Put the requests of `session` into `mailbox` too; for the session."""
        with self._lock:
            self._sessions[id(session)] = mailbox

    def detach(self, session: object) -> None:
        """End that; for the session."""
        with self._lock:
            self._sessions.pop(id(session), None)

    def __call__(self, request: ToolPermissionRequest, ctx: CallbackContext) -> PendingDecision:
        """Park the request; the future is done when somebody has answered, and is cancelled to withdraw it."""
        future: PendingDecision = Future()
        pending = PendingApproval(request, ctx, future)
        with self._lock:
            self._pending[pending] = None
            closed = self._closed
            mailboxes = (self._mailbox, self._sessions.get(id(ctx.session)))
        pending.on_done(self._forget)
        if closed:
            pending.deny("nobody is there to approve")
            return future
        for mailbox in mailboxes:
            if mailbox is not None:
                mailbox.put(pending)
        return future

    def pending(self, session: object = None) -> tuple[PendingApproval, ...]:
        """Return the questions that wait now, oldest first; with `session`, only its own."""
        with self._lock:
            waiting = tuple(self._pending)
        return waiting if session is None else tuple(one for one in waiting if one.session is session)

    def close(self, message: str = "nobody is there to approve") -> None:
        """Deny what waits and all that comes, and end the mailbox. Idempotent."""
        with self._lock:
            self._closed = True
            mailbox = self._mailbox
        for pending in self.pending():
            pending.deny(message)
        if mailbox is not None:
            mailbox.close()

    def _forget(self, pending: PendingApproval) -> None:
        with self._lock:
            self._pending.pop(pending, None)


def find_approvals(callback: object) -> Approvals | None:
    """Return the `Approvals` in a permission callback, composed or audited as it may be; None if there is none."""
    if isinstance(callback, Approvals):
        return callback
    if isinstance(callback, Audited):
        return find_approvals(callback.policy)
    parts = callback.policies if isinstance(callback, FirstDecision) else ()
    return next((found for part in parts if (found := find_approvals(part)) is not None), None)
