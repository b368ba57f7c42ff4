"""One call of a user's callback: where it runs, how it is told to stop, and the one report that it ends with.

It must not decide anything: the report goes to the session, where the first event wins. User code never runs in the
reactor's thread, not even a future's done-callback.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple

import pykka
from msgspec import Struct
from pykka import ActorDeadError

from claude_actors.actors.answer_box import AnswerBox
from claude_actors.actors.base import deliver_inline
from claude_actors.actors.contained import describe, note, run_contained
from claude_actors.actors.port_types import check_size
from claude_actors.actors.shared_loop import LoopClosed, SharedLoop
from claude_actors.actors.task_pool import PoolExhausted, TaskPool
from claude_actors.callbacks.context import CallbackContext
from claude_actors.events import CallbackKind, CallbackWarned
from claude_actors.protocol.inputs import CallbackFailed, CallbackFinished
from claude_actors.wire.codec import encode_success

Answer = Callable[[Any], "tuple[Mapping[str, Any], str | None]"]


class JobHome(NamedTuple):
    """Where the jobs of one session run and report; answers have at most `max_answer` bytes."""

    session: pykka.ActorRef[Any]
    answers: AnswerBox
    pool: TaskPool
    loop: SharedLoop
    max_answer: int


class CallbackJob:
    """Runs `call()` and reports `answer(value)` to the session, exactly once unless it never returns."""

    __slots__ = (
        "_answer",
        "_call",
        "_future",
        "_home",
        "_on_loop",
        "ctx",
        "kind",
        "name",
    )

    def __init__(
        self,
        *,
        kind: CallbackKind,
        name: str,
        ctx: CallbackContext,
        call: Callable[[], Any],
        answer: Answer,
        on_loop: bool,
        home: JobHome,
    ) -> None:
        self.kind, self.name, self.ctx = kind, name, ctx
        self._call = call
        self._answer = answer
        self._on_loop = on_loop
        self._home = home
        self._future: Future[Any] | None = None

    def start(self) -> None:
        """Begin, in a task's thread or on the loop; raises PoolExhausted. Never blocks."""
        if self._on_loop:
            self._watch(self._home.loop.submit(self._run_on_loop()), inline=True)
        else:
            self._home.pool.run(self._run_in_thread)

    @property
    def holds_thread(self) -> bool:
        """Whether user code runs in a thread, where it can only be told to stop."""
        return self._future is None

    def cancel(self, reason: str) -> None:
        """Tell the callback that it is too late: a coroutine is cancelled, a thread can only be told. Never blocks."""
        self.ctx._cancel(reason)
        future = self._future
        if future is None:
            return
        try:
            # Done-callbacks of a user's future run where it is cancelled.
            self._home.pool.run(future.cancel)
        except PoolExhausted:
            run_contained("callback_cancel_failed", self._home.loop.submit, _cancel(future))

    async def _run_on_loop(self) -> Any:
        value = self._call()
        return await value if inspect.isawaitable(value) else value

    def _run_in_thread(self) -> None:
        try:
            value = self._call()
        except BaseException as error:
            self._report_failure(error, inline=True)
            return
        # Looked at from the plain to the odd: asking whether nothing can be awaited takes longer than most callbacks.
        if value is None or isinstance(value, Struct | dict):
            self._report(value, inline=True)
        elif isinstance(value, Future):
            self._watch(value, inline=False)
        elif inspect.isawaitable(value):
            self._await(value)
        else:
            self._report(value, inline=True)

    def _await(self, value: Awaitable[Any]) -> None:
        try:
            future = self._home.loop.submit(_awaited(value))
        except LoopClosed as error:
            if inspect.iscoroutine(value):
                value.close()
            self._report_failure(error, inline=True)
        else:
            self._watch(future, inline=True)

    def _watch(self, future: Future[Any], *, inline: bool) -> None:
        self._future = future
        if self.ctx.cancelled:
            future.cancel()
        future.add_done_callback(lambda done: self._settled(done, inline=inline))

    def _settled(self, future: Future[Any], *, inline: bool) -> None:
        try:
            value = future.result()
        except BaseException as error:
            self._report_failure(error, inline=inline)
        else:
            if isinstance(value, Future):
                self._watch(value, inline=False)
            else:
                self._report(value, inline=inline)

    def _report(self, value: Any, *, inline: bool) -> None:
        try:
            output, warning = self._answer(value)
            line = encode_success(self.ctx.request_id, output)
            check_size(len(line), self._home.max_answer)
        except BaseException as error:
            self._report_failure(error, inline=inline)
            return
        if warning is not None:
            self._tell(CallbackWarned(self.kind, self.name, self.ctx.request_id, warning), inline=False)
        self._home.answers.put(CallbackFinished(self.ctx.request_id, line), inline=inline)

    def _report_failure(self, error: BaseException, *, inline: bool) -> None:
        if not self.ctx.cancelled:
            note(
                "callback_failed",
                session_id=self.ctx.session_id,
                kind=self.kind,
                name=self.name,
                request_id=self.ctx.request_id,
                exc_info=error,
            )
        self._tell(CallbackFailed(self.ctx.request_id, describe(error)), inline=inline)

    def _tell(self, message: object, *, inline: bool) -> None:
        """Report; inline only where the user's code has returned, so that its stack is not under the control plane."""
        tell = deliver_inline if inline else pykka.ActorRef.tell
        try:
            tell(self._home.session, message)
        except ActorDeadError:
            return  # The session is over; its end has told everybody.


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


async def _cancel(future: Future[Any]) -> None:
    run_contained("callback_cancel_failed", future.cancel)
