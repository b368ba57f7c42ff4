"""The callbacks that one session has running, and those it has given up on.

A Python thread cannot be killed: a callback that overruns is told, counted and bounded. It decides only whether one
more may be started; which answer counts is decided by the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import count
from typing import Any

import pykka

from claude_actors import events
from claude_actors.actors.answer_box import AnswerBox
from claude_actors.actors.callback_jobs import CallbackJob, JobHome
from claude_actors.actors.contained import describe
from claude_actors.actors.invocations import Invocations
from claude_actors.actors.record import SessionRecord
from claude_actors.actors.shared_loop import SharedLoop
from claude_actors.actors.task_pool import PoolExhausted, TaskPool
from claude_actors.callbacks.context import CallbackContext
from claude_actors.errors import NotSupported
from claude_actors.mailbox.pace import PACE
from claude_actors.mcp.host import tool_use_id_of
from claude_actors.protocol.callbacks import CallbackRules
from claude_actors.protocol.effects import StartCallback
from claude_actors.protocol.inputs import CallbackFailed, CallbackRejected, CallbacksFinished
from claude_actors.wire.control import McpMessage, UnknownRequest


class CallbackRunner:
    """Starts and cancels callback jobs; used by the SessionActor only, so one thread at a time."""

    def __init__(self, record: SessionRecord, session: pykka.ActorRef[Any], pool: TaskPool) -> None:
        self._record = record
        self._session = session
        self._loop = SharedLoop.acquire()
        self._servers_loop = SharedLoop.acquire("servers")
        self._home = JobHome(session, AnswerBox(session), pool, self._loop, record.options.write_limit_bytes)
        self._running: dict[str, CallbackJob] = {}
        self._abandoned: set[str] = set()
        self._closed = False
        try:
            self.invocations = Invocations(record.options, self._servers_loop.submit)
        except BaseException:
            self._loop.release()
            self._servers_loop.release()
            raise

    def rules(self) -> CallbackRules:
        """What the protocol must know of the callbacks."""
        return self.invocations.rules()

    def start(self, wanted: StartCallback) -> None:
        """Start the job; what cannot be started is reported back as such."""
        PACE.hurry()
        most = self._record.options.max_abandoned_callbacks
        if len(self._abandoned) >= most:
            self._session.tell(CallbackRejected(wanted.request_id, f"{most} callbacks hang and were abandoned"))
            return
        try:
            job = self._job(wanted)
            job.start()
        except PoolExhausted as error:
            self._session.tell(CallbackRejected(wanted.request_id, str(error)))
        except Exception as error:
            # One callback that cannot be started is no reason to end a session.
            self._session.tell(CallbackFailed(wanted.request_id, describe(error)))
        else:
            self._running[wanted.request_id] = job

    def cancel(self, request_id: str, reason: str) -> None:
        """Tell a job that its request is decided; until it ends it counts as abandoned."""
        job = self._running.get(request_id)
        if job is None:
            return
        job.cancel(reason)
        if job.kind == "mcp":
            self.invocations.cancelled(job.name, request_id)
        self._abandoned.add(request_id)
        self._record.abandoned = len(self._abandoned)
        if reason == "timed_out" and job.holds_thread:
            abandoned = events.CallbackAbandoned(job.kind, job.name, request_id, len(self._abandoned))
            self._record.deliveries.emit(abandoned)

    def ended(self, report: CallbacksFinished | CallbackFailed) -> None:
        """Forget the jobs that have ended, in whatever way."""
        for job in report.finished if isinstance(report, CallbacksFinished) else (report,):
            self._running.pop(job.request_id, None)
            self._abandoned.discard(job.request_id)
        self._record.abandoned = len(self._abandoned)

    def close(self) -> None:
        """Let everything go; idempotent."""
        if self._closed:
            return
        self._closed = True
        for job in self._running.values():
            job.cancel("stopped")
        self._loop.release()
        _when_all_done(self.invocations.close(), self._servers_loop.release)

    def _job(self, wanted: StartCallback) -> CallbackJob:
        request = wanted.request
        if isinstance(request, UnknownRequest):
            raise NotSupported(f"nobody answers {request.subtype!r}")
        machine = self._record.machine
        own = tool_use_id_of(request.message) if isinstance(request, McpMessage) else None
        ctx = CallbackContext(
            session=self._record.handle,
            request_id=wanted.request_id,
            deadline=wanted.deadline,
            session_id=machine.conversation.session_id if machine is not None else None,
            tool_use_id=own or getattr(request, "tool_use_id", None),
        )
        call, answer, on_loop = self.invocations.invocation(request, ctx)
        return CallbackJob(
            kind=wanted.kind,
            name=wanted.name,
            ctx=ctx,
            call=call,
            answer=answer,
            on_loop=on_loop,
            home=self._home,
        )


def _when_all_done(futures: Sequence[Future[None]], then: Callable[[], None]) -> None:
    """Call `then` once, in the thread of whichever ends last. Never blocks."""
    if not futures:
        then()
    ended = count(1)
    for future in futures:
        future.add_done_callback(lambda _: then() if next(ended) == len(futures) else None)
