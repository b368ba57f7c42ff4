"""Whether the consumers of a mailbox are behind though they are at work, so that its producer had better rest.

It decides how long; who rests, and how, is the producer's business. Reading on would fill memory or the disk, and take
the interpreter from those who are behind.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from claude_actors.mailbox.limits import MIB
from claude_actors.mailbox.memory import Memory
from claude_actors.mailbox.store import Store

# A backlog that a consumer at work takes a few milliseconds to empty: long enough that it never runs dry meanwhile.
CROWDED_ITEMS: Final = 1000
CROWDED_BYTES: Final = MIB // 2
REST: Final = 0.001
# Few items of so many bytes are large. They are decoded one after another, some milliseconds each, and take as much
# memory as they have bytes: who reads on meanwhile has one more in memory. (Measured on lines of 1 MB: a quarter more.)
FEW_ITEMS: Final = 2
LONG_REST: Final = 0.005
AT_WORK: Final = 0.01


class Crowd:
    """One for a mailbox, for its one producer that can rest."""

    def __init__(self, store: Store, memory: Memory) -> None:
        self._store = store
        self._memory = memory
        self._taken_before = 0
        self._at_work_until = 0.0

    def rest(self, relieved: Callable[[], object]) -> float:
        """Tell how many seconds to rest: 0, a moment behind many items, longer behind large ones.

        `relieved` is called, in any thread, when a consumer comes for the next of the large ones. The disk that takes
        the overflow is a consumer, too.
        """
        memory, now = self._memory, time.monotonic()
        taken = memory.taken_bytes
        have_taken = taken != self._taken_before
        if have_taken:
            self._taken_before, self._at_work_until = taken, now + AT_WORK
        if now < self._at_work_until and self._holds_large_ones():
            memory.relief = relieved
            # Looked at once more: a consumer that came before the line above has counted what it took by now, or will
            # come again.
            return LONG_REST if self._holds_large_ones() else 0.0
        if have_taken and (len(self._store) >= CROWDED_ITEMS or memory.bytes >= CROWDED_BYTES):
            return REST
        return REST if self._store.disk_is_behind() else 0.0

    def _holds_large_ones(self) -> bool:
        return self._memory.bytes >= CROWDED_BYTES and len(self._memory) <= FEW_ITEMS
