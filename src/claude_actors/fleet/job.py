"""`Job`: a submitted task, as its submitter sees it.

A handle for any thread. It reads what the fleet's actor writes; only its outcome is its own.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from claude_actors.actors.contained import run_user_code
from claude_actors.errors import ClaudeActorsError
from claude_actors.fleet.entry import Entry, JobState
from claude_actors.fleet.errors import JobTimeout
from claude_actors.fleet.gate import Gate
from claude_actors.fleet.inputs import Outcome
from claude_actors.fleet.spending import Spent
from claude_actors.fleet.task import KeptMessages, Task
from claude_actors.mailbox import Mailbox, MailboxLimits, OverflowReport
from claude_actors.mailbox.promise import Promise
from claude_actors.options import Options
from claude_actors.wire.messages import Message, ResultMessage, decode_message

if TYPE_CHECKING:
    from claude_actors.session import Session

_RECENT: Final = MailboxLimits(max_items=1000, max_bytes=1024 * 1024)
_FINAL: Final = frozenset({"done", "failed", "cancelled", "stopped"})


class JobSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One look at a job; times are in seconds, `limited_until` is Unix time.

    `worked` is what its attempts have taken, `silent_for` the time since its session was last heard of.
    """

    id: str
    state: JobState
    limited_until: float | None
    priority: int
    attempt: int
    session_id: str | None
    spent: Spent
    worked: float
    silent_for: float | None


class Job:
    """A task in a fleet; wait for its result with `result()`, or `await` it. Every member is thread-safe.

    `recovered`: it was taken over from a journal. `recorded`: it had ended in an earlier run; nothing was run now.
    """

    def __init__(
        self,
        task: Task,
        entry: Entry,
        gate: Gate,
        cancel: Callable[[str, ClaudeActorsError | None], object],
        *,
        messages: KeptMessages,
        recovered: bool = False,
        recorded: bool = False,
    ) -> None:
        self.id = entry.id
        self.task = task
        self.recovered, self.recorded = recovered, recorded
        self._entry, self._gate, self._cancel = entry, gate, cancel
        self._mailbox = _mailbox(messages, entry.options, self._overflowed)
        self.outcome: Promise[bytes] = Promise()
        self._final: Outcome | None = None
        self._claimed = not recovered
        self._settling = threading.Lock()
        self._callbacks: list[Callable[[Job], object]] = []
        # Written by the fleet's actor and the session's.
        self.heard_at: float | None = None
        self.live_spent: Callable[[], Spent] | None = None
        self._session: Session | None = None

    # --- what it is: never blocks ---

    @property
    def state(self) -> JobState:
        """Where it is; final states only once the outcome is safe, and so in the journal if there is one."""
        if self._final is not None:
            return self._final
        state = self._entry.state
        if state == "queued" and self._gate.is_limited(time.monotonic()):
            return "limited"
        return "running" if state in _FINAL else state

    @property
    def done(self) -> bool:
        """Whether it has an outcome, good or bad."""
        return self.outcome.ready

    @property
    def limited_until(self) -> float | None:
        """When the rate limit that it waits for ends, in Unix seconds; None if it waits for none."""
        return self._gate.resets_at if self.state == "limited" else None

    @property
    def attempt(self) -> int:
        """The number of the latest attempt, from 1; 0 before the first."""
        return self._entry.attempt

    @property
    def session(self) -> Session | None:
        """The session that works for it now, for its permissions and operations; None if none does."""
        return self._session

    @property
    def session_id(self) -> str | None:
        """The conversation of its latest attempt."""
        return self._entry.session_id

    @property
    def spent(self) -> Spent:
        """What all its attempts have used; of an open turn, as far as is known."""
        live = self.live_spent
        return self._entry.spent + (live() if live is not None else Spent())

    def snapshot(self) -> JobSnapshot:
        """Return its numbers as of now."""
        now, heard_at = time.monotonic(), self.heard_at
        return JobSnapshot(
            id=self.id,
            state=self.state,
            limited_until=self.limited_until,
            priority=self._entry.priority,
            attempt=self._entry.attempt,
            session_id=self._entry.session_id,
            spent=self.spent,
            worked=self._entry.work_time(now),
            silent_for=None if heard_at is None else now - heard_at,
        )

    def messages(self) -> Mailbox[Message]:
        """Return the conversation of all its attempts, as the task's `messages` says; it ends with the job."""
        return self._mailbox

    # --- its outcome ---

    def wait(self, timeout: float | None = None) -> bool:
        """Block until it has an outcome; False when the time is up first."""
        return self.outcome.wait(timeout)

    def result(self, timeout: float | None = None) -> ResultMessage:
        """Block until the task is done and return the result of its turn.

        Raises JobTimeout (the job goes on), or why it failed: a TurnFailed, a SessionEnded, a StartError, or one of the
        fleet's own errors.
        """
        if not self.outcome.wait(timeout):
            raise JobTimeout(after=timeout or 0.0)
        return _as_result(self.outcome.value())

    @property
    def error(self) -> BaseException | None:
        """Why it failed; None if it is not over or ended well."""
        return self.outcome.error

    def __await__(self) -> Generator[Any, None, ResultMessage]:
        return self._wait().__await__()

    async def _wait(self) -> ResultMessage:
        await self.outcome.wait_async()
        return _as_result(self.outcome.value())

    def cancel(self) -> bool:
        """Ask for its end; False if it is over already. Never blocks: `result()` tells whether it came in time."""
        if self.done:
            return False
        self._cancel(self.id, None)
        return True

    def add_done_callback(self, function: Callable[[Job], object]) -> None:
        """Have `function(job)` called once when it is over, in a thread of the task pool.

        If it is over already, it is called at once, in this thread. What it raises is logged.
        """
        with self._settling:
            if not self.done:
                self._callbacks.append(function)
                return
        run_user_code("done_callback_failed", function, self)

    def __repr__(self) -> str:
        return f"<Job {self.id} {self.state}>"

    # --- for the fleet ---

    def claim(self) -> bool:
        """Say whether this is the first who submits a task that was recovered: the job is his then."""
        claimed, self._claimed = self._claimed, True
        return not claimed

    def unclaim(self) -> None:
        """Let somebody else claim it: whoever did could not submit all that he wanted."""
        self._claimed = False

    def settle(self, outcome: Outcome, line: bytes | None, error: BaseException | None) -> None:
        """Give it its outcome, once."""
        with self._settling:
            if self.outcome.ready:
                return
            self._final = outcome
            self._session = self.live_spent = None
            if error is None:
                self.outcome.settle(line or b"")
            else:
                self.outcome.fail(error)
        self._mailbox.close(error)

    def attend(self, session: Session | None, live_spent: Callable[[], Spent] | None = None) -> None:
        """Note which session works for it."""
        self._session, self.live_spent = session, live_spent

    def close_account(self) -> None:
        """Note that no session works for it any more, and what the last one has used in a turn that was cut short."""
        self._entry.spent = self.spent
        self.attend(None)

    def take_callbacks(self) -> list[Callable[[Job], object]]:
        """Return whoever wants to be called, once."""
        with self._settling:
            callbacks, self._callbacks = self._callbacks, []
        return callbacks

    def _overflowed(self, report: OverflowReport) -> None:
        if isinstance(report.error, ClaudeActorsError):
            self._cancel(self.id, report.error)


def _mailbox(kept: KeptMessages, options: Options, on_overflow: Callable[[OverflowReport], None]) -> Mailbox[Message]:
    if kept == "all":
        directory = options.spill_directory
        limits = MailboxLimits(
            max_items=options.mailbox_max_items,
            max_bytes=options.mailbox_max_bytes,
            max_spill_bytes=options.mailbox_max_spill_bytes,
            spill_directory=None if directory is None else os.fspath(directory),
        )
        return Mailbox(
            decode_message, limits=limits, overflow=options.messages_overflow, name="job", on_overflow=on_overflow
        )
    mailbox = Mailbox(decode_message, limits=_RECENT, overflow="drop_oldest", name="job")
    if kept == "none":
        mailbox.close()
    return mailbox


def _as_result(line: bytes) -> ResultMessage:
    message = decode_message(line)
    return message if isinstance(message, ResultMessage) else ResultMessage(subtype="unreadable", is_error=True)
