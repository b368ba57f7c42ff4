"""The loop that serves every file descriptor, timer and reactor actor of the process, in one thread at a time.

It decides who runs next and knows nothing of processes, protocols or sessions. Whoever leads it never runs user code
and never waits for anything but the selector. The loop starts with the first user and ends with the last.
"""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import ClassVar, Final, Protocol, TypeVar

from claude_actors.actors.contained import run_contained
from claude_actors.actors.helper import Helper
from claude_actors.actors.here import HERE, Runnable
from claude_actors.actors.timers import TimerHandle, TimerHeap
from claude_actors.actors.turns import Errand, Turns
from claude_actors.actors.wakeup import WakeUp

T = TypeVar("T")

# After so many slices the selector and the timers get their turn, however busy the actors are.
_SLICES_A_ROUND: Final = 256


class Forgettable(Protocol):
    """An actor, as far as a fork concerns it."""

    def forget(self) -> None:
        """Be dead, in the child."""
        ...


class Reactor:
    """Selector, timers and ready actors in one loop; get the running one with `Reactor.acquire()`.

    "Reactor thread" is whichever leads.
    """

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _current: ClassVar[Reactor | None] = None
    #: Seconds without a user after which it ends. A thread, a helper and a warden for each session of a program that
    #: runs one after another would cost several times what the session does.
    linger: ClassVar[float] = 0.1

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._bell = WakeUp()
        self._watched: dict[int, Callable[[int], object]] = {}
        self._bulky: set[int] = set()
        self.register(self._bell.reader, selectors.EVENT_READ, self._bell.clear)
        self._timers = TimerHeap()
        self._soon: deque[Callable[[], object]] = deque()
        # An ordered dict used as a queue without duplicates: setting a key is one atomic step, so a KeyboardInterrupt
        # in a telling thread can lose no actor, and a busy actor stands in the queue only once.
        self._ready: OrderedDict[Runnable, None] = OrderedDict()
        self._events: deque[tuple[selectors.SelectorKey, int]] = deque()
        self._parting: list[Callable[[], object]] = []
        self._errand: Errand | None = None
        self._guard: Callable[[], object] | None = None
        self._turns = Turns("claude-actors-reactor", self._lead)
        self._helper = Helper(self.call_soon)
        # A pykka ref holds its actor weakly, so somebody must keep those that nobody else knows.
        self.actors: set[Forgettable] = set()
        self._closers: list[Callable[[], object]] = []
        self._asleep = False
        self._asleep_until = float("inf")
        self._users = 0
        self._uses = 0
        self._closing = False

    # --- life ---

    @classmethod
    def acquire(cls) -> Reactor:
        """Give the process's reactor, starting it if need be; `release()` it once for each call. Any thread."""
        with cls._lock:
            reactor = cls._current
            if reactor is None:
                reactor = cls()
                try:
                    reactor._turns.start()
                except BaseException:
                    reactor._selector.close()
                    reactor._bell.close()
                    raise
                cls._current = reactor
            reactor._users += 1
            reactor._uses += 1
            return reactor

    def release(self) -> None:
        """Give it back; when the last user is gone and no other comes within a moment, the thread ends."""
        with Reactor._lock:
            self._users -= 1
            if self._users:
                return
            uses = self._uses
        if Reactor.linger:
            self.call_at(time.monotonic() + Reactor.linger, lambda: self._close_if_unused(uses))
        else:
            self._close_if_unused(uses)

    def _close_if_unused(self, since: int) -> None:
        with Reactor._lock:
            if self._uses != since:
                return
            if Reactor._current is self:
                Reactor._current = None
            self._closing = True
        self._bell.ring()

    def again(self) -> Reactor:
        """Count one more user of a reactor that is in use; it must be released too."""
        with Reactor._lock:
            self._users += 1
            self._uses += 1
        return self

    def at_close(self, function: Callable[[], object]) -> None:
        """Run `function` in the reactor's thread when it ends; last added, first run. Any thread of a user."""
        self._closers.append(function)

    # --- any thread ---

    @staticmethod
    def now() -> float:
        """Give the clock that `call_at` uses."""
        return time.monotonic()

    def call_soon(self, function: Callable[[], object]) -> None:
        """Run `function` in the reactor's thread, in the order of the calls. Any thread; never blocks."""
        self._soon.append(function)
        if self._asleep:
            self._bell.ring()

    def call_at(self, when: float, function: Callable[[], object]) -> TimerHandle:
        """Run `function` in the reactor's thread at `when` (of `now()`), unless cancelled. Any thread."""
        handle = TimerHandle(when, function)
        self._timers.incoming.append(handle)
        if self._asleep and when < self._asleep_until:
            self._bell.ring()
        return handle

    def make_ready(self, runnable: Runnable) -> None:
        """Queue `runnable` where this thread collects what is ready, else for the reactor's thread. Any thread."""
        ready = HERE.ready
        if ready is not None:
            ready[runnable] = None
            return
        self.hand_over(runnable)

    def hand_over(self, runnable: Runnable) -> None:
        """Queue `runnable` for the reactor's own thread. Any thread."""
        self._ready[runnable] = None
        if self._asleep:
            self._bell.ring()

    # --- reactor thread only ---

    def register(self, fd: int, events: int, function: Callable[[int], object]) -> None:
        """Call `function(events)` whenever `fd` is ready. Reactor thread only, as are `modify` and `unregister`."""
        self._selector.register(fd, events, function)
        self._watched[fd] = function

    def modify(self, fd: int, events: int, function: Callable[[int], object]) -> None:
        """Change what `fd` is watched for."""
        self._selector.modify(fd, events, function)
        self._watched[fd] = function

    def unregister(self, fd: int) -> None:
        """Stop watching `fd`; do so before closing it."""
        self._selector.unregister(fd)
        del self._watched[fd]
        self._bulky.discard(fd)

    def set_bulky(self, fd: int, bulky: bool) -> None:
        """Serve `fd` after those that are not bulky: who floods can wait, who asks is being waited for."""
        (self._bulky.add if bulky else self._bulky.discard)(fd)

    def _is_bulky(self, event: tuple[selectors.SelectorKey, int]) -> bool:
        return event[0].fd in self._bulky

    def run_blocking(
        self, job: Callable[[], T], done: Callable[[T], object], failed: Callable[[BaseException], object]
    ) -> None:
        """Run `job`, which cannot hang, on the helper thread, then `done(result)` or `failed(error)` here.

        Whoever calls it holds a user's count until then. Jobs run one after another, in order.
        """
        self._helper.submit(job, done, failed)

    def at_parting(self, function: Callable[[], object]) -> None:
        """Call `function` when this thread lets go of the interpreter: who is woken now would only wait for it."""
        self._parting.append(function)

    def take_errand(self, errand: Errand, guard: Callable[[], object]) -> bool:
        """Run `errand`, which may block, in this thread, once another leads; False if none is free to.

        The other one begins with `guard`, however early the errand blocks.
        """
        if self._errand is not None or not self._turns.can_pass_on():
            return False
        self._errand, self._guard = errand, guard
        return True

    # --- the loop ---

    def _lead(self) -> Errand | None:
        """Run the loop until there is an errand, or until it is over."""
        HERE.ready, HERE.leads = self._ready, self
        guard, self._guard = self._guard, None
        if guard is not None:
            run_contained("errand_guard_failed", guard)
        while self._errand is None and not (self._closing and not self._soon and not self._ready):
            self._run_once()
        self._part()
        errand, self._errand = self._errand, None
        HERE.leads = None
        if errand is None:
            self._end()
        HERE.ready = None
        return errand

    def _end(self) -> None:
        while self._closers:
            run_contained("reactor_closer_failed", self._closers.pop())
        self._helper.close()
        self._selector.close()
        self._bell.close()

    def _select(self) -> None:
        timeout = self._fall_asleep()
        self._part()
        events = self._selector.select(timeout)
        self._asleep = False
        if self._bulky and len(events) > 1:
            events.sort(key=self._is_bulky)
        self._events.extend(events)

    def _run_once(self) -> None:
        if not self._events:
            self._select()
        while self._events:
            self._part()
            key, mask = self._events.popleft()
            # An earlier callback of this round may have closed this descriptor, and its number may be another's by now.
            function = self._watched.get(key.fd)
            if function is not None and function is key.data:
                run_contained("reactor_callback_failed", function, mask)
                self._run_ready()
                if self._errand is not None:
                    return  # Whoever leads next goes on with the other events.
        if self._soon:
            self._run_soon()
        if self._asleep_until <= time.monotonic():
            self._run_due()
        self._run_ready()

    def _fall_asleep(self) -> float | None:
        deadline = self._timers.next_deadline()
        self._asleep_until = float("inf") if deadline is None else deadline
        # From here on others ring the bell; what they queued before they could see this is found by the check below.
        self._asleep = True
        if self._ready or self._soon or self._timers.incoming or self._closing:
            return 0.0
        return None if deadline is None else max(0.0, deadline - time.monotonic())

    def _part(self) -> None:
        while self._parting:
            run_contained("reactor_parting_failed", self._parting.pop())

    def _run_ready(self) -> None:
        for _ in range(_SLICES_A_ROUND):
            if not self._ready:
                return
            runnable, _none = self._ready.popitem(last=False)
            run_contained("reactor_slice_failed", runnable.run_slice)

    def _run_soon(self) -> None:
        for _ in range(len(self._soon)):
            run_contained("reactor_callback_failed", self._soon.popleft())
            self._run_ready()

    def _run_due(self) -> None:
        now = time.monotonic()
        while (function := self._timers.pop_due(now)) is not None:
            run_contained("reactor_timer_failed", function)
            self._run_ready()

    @classmethod
    def forget(cls) -> None:
        """Forget the reactor in the child of a fork, where its thread does not exist."""
        reactor, cls._current = cls._current, None
        cls._lock = threading.Lock()
        HERE.ready = HERE.leads = None
        if reactor is not None:
            reactor._asleep = False
            reactor._bell.disarm()
            reactor._selector.close()
            for actor in reactor.actors:
                actor.forget()


os.register_at_fork(after_in_child=Reactor.forget)
