"""The event loop on which coroutine callbacks of all sessions run, and the one for MCP servers that live on a loop.

A coroutine that blocks its loop delays nobody for long: what could not begin within a moment moves to a new loop, and
the blocked one is left to the coroutine that blocks it. Servers keep state on their loop, so theirs is never replaced.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeVar

from claude_actors.actors.contained import warn
from claude_actors.actors.reactor import Reactor

if TYPE_CHECKING:
    from claude_actors.actors.loop_thread import LoopThread, Submitted
    from claude_actors.actors.timers import TimerHandle

T = TypeVar("T")
Role = Literal["callbacks", "servers"]

_PATIENCE: Final = 1.0
# A blocked loop holds a thread; beyond so many the coroutines wait after all.
_MOST_RETIRED: Final = 16


class LoopClosed(RuntimeError):
    """A coroutine came after the last session had ended."""


class SharedLoop:
    """Counted like the reactor: `acquire()` it, `release()` it once; `submit` starts the thread when first needed."""

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _current: ClassVar[dict[Role, SharedLoop]] = {}

    def __init__(self, role: Role) -> None:
        self._role = role
        self._users = 0
        self._closed = False
        self._reactor: Reactor | None = None
        self._thread: LoopThread | None = None
        self._retired: list[LoopThread] = []
        self._waiting: deque[Submitted] = deque()
        self._alarms: dict[Submitted, TimerHandle] = {}

    @classmethod
    def acquire(cls, role: Role = "callbacks") -> SharedLoop:
        """Give the process's loop. Any thread."""
        with cls._lock:
            loop = cls._current.setdefault(role, cls(role))
            loop._users += 1
            return loop

    def release(self) -> None:
        """Give it back; with the last user its tasks are cancelled and its thread ends. Any thread; never blocks."""
        with SharedLoop._lock:
            self._users -= 1
            if self._users:
                return
            if SharedLoop._current.get(self._role) is self:
                del SharedLoop._current[self._role]
            self._closed = True
            threads = [*self._retired, *([self._thread] if self._thread is not None else ())]
            dropped = list(self._waiting)
            self._waiting.clear()
        for submitted in dropped:
            self._alarms.pop(submitted).cancel()
            submitted.drop()
        for thread in threads:
            thread.end()
        if self._reactor is not None:
            self._reactor.release()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run the coroutine on the loop; cancelling the future cancels it. Any thread; never blocks.

        Raises LoopClosed after the last user's release.
        """
        from claude_actors.actors.loop_thread import Submitted  # asyncio: 40 ms that few programs need

        submitted = Submitted(coroutine)
        try:
            with SharedLoop._lock:
                thread, reactor = self._running()
                alarm = reactor.call_at(reactor.now() + _PATIENCE, lambda: self._overdue(submitted))
                self._alarms[submitted] = alarm
                self._waiting.append(submitted)
        except BaseException:
            submitted.drop()
            raise
        thread.call(lambda: self._begin_next(thread))
        return submitted.future

    def _running(self) -> tuple[LoopThread, Reactor]:
        if self._closed:
            # A new thread would have nobody to end it.
            raise LoopClosed("no session is left that would wait for a coroutine")
        from claude_actors.actors.loop_thread import LoopThread

        self._reactor = self._reactor or Reactor.acquire()
        self._thread = self._thread or LoopThread()
        return self._thread, self._reactor

    def _begin_next(self, thread: LoopThread) -> None:
        """Runs in the loop's thread, once for each coroutine."""
        with SharedLoop._lock:
            if thread is not self._thread or not self._waiting:
                return  # They have moved on while this loop was blocked.
            submitted = self._waiting.popleft()
            self._alarms.pop(submitted).cancel()
        submitted.begin()

    def _overdue(self, submitted: Submitted) -> None:
        """Runs in the reactor, when a coroutine should have begun long ago."""
        with SharedLoop._lock:
            retired = self._retired = [thread for thread in self._retired if thread.thread.is_alive()]
            if submitted not in self._waiting or self._role == "servers" or len(retired) >= _MOST_RETIRED:
                return
            from claude_actors.actors.loop_thread import LoopThread

            blocked, self._thread = self._thread, LoopThread()
            assert blocked is not None
            retired.append(blocked)
            thread, moved = self._thread, len(self._waiting)
        warn("event_loop_blocked", for_seconds=_PATIENCE, moved=moved)
        blocked.retire()
        for _ in range(moved):
            thread.call(lambda: self._begin_next(thread))

    @classmethod
    def forget(cls) -> None:
        """Forget the loops in the child of a fork, where their threads do not exist."""
        loops = tuple(cls._current.values())
        cls._current = {}
        cls._lock = threading.Lock()
        for loop in loops:
            loop._closed = True


os.register_at_fork(after_in_child=SharedLoop.forget)
