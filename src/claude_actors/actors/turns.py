"""Two threads that take turns at a loop: one leads it, the other stands by, or runs what the leader must not.

A leader that has something to run which may block passes the lead on and runs it itself. The other thread wakes up
meanwhile, instead of in between: on an idle machine a wake-up takes about 40 µs, as long as all the rest of a hook's
round trip. It decides who leads; what the loop does and what is run is the caller's business.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from claude_actors.actors.contained import run_contained

Errand = Callable[[], object]


class Turns:
    """Runs `lead()` in one thread at a time; an errand that it returns is run after the lead is passed on.

    When `lead()` returns None both threads end. They are daemons: an errand that never returns must not hold up the
    interpreter's exit.
    """

    def __init__(self, name: str, lead: Callable[[], Errand | None]) -> None:
        self._name = name
        self._lead = lead
        # True is the lead, False the end.
        self._baton: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._other_started = False
        self._other_waits = False

    def start(self) -> None:
        """Start the first thread, which leads; raises RuntimeError where the system has none left."""
        self._baton.put(True)
        self._start_thread()

    def can_pass_on(self) -> bool:
        """Tell whether the other thread could lead now; it is started when first asked for. The leader only."""
        if not self._other_started:
            try:
                self._start_thread()
            except RuntimeError:  # The system has no thread left: the lead stays where it is.
                return False
            self._other_started = self._other_waits = True
        return self._other_waits

    def _start_thread(self) -> None:
        threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def _run(self) -> None:
        while self._baton.get():
            errand = self._lead()
            if errand is None:
                self._baton.put(False)
                return
            self._other_waits = False
            self._baton.put(True)
            run_contained("errand_failed", errand)
            # From now on whoever leads may hand the lead to this thread.
            self._other_waits = True
