"""The tasks that wait: in order of priority and age, some until a time, some for their conversation to be free.

Pure. Whoever leaves is found lazily: a heap keeps entries that have gone, and passes over them.
"""

from __future__ import annotations

import heapq
from typing import Final

from claude_actors.fleet.entry import Entry

_FEW: Final = 64


class WaitingTasks:
    """Everything that is admitted and not running."""

    def __init__(self) -> None:
        self._members: dict[str, Entry] = {}
        self._ready: list[tuple[tuple[int, int], Entry]] = []
        self._delayed: list[tuple[float, int, Entry]] = []
        self._parked: dict[str, list[Entry]] = {}
        self._aside: list[Entry] = []
        self._busy: set[str] = set()

    def __len__(self) -> int:
        return len(self._members)

    def entries(self) -> list[Entry]:
        """Return all that wait, in the order in which they came to wait."""
        return list(self._members.values())

    def push(self, entry: Entry, *, due: float | None = None) -> None:
        """Let an entry wait for its turn, until `due` at least."""
        self._members[entry.id] = entry
        if due is None:
            heapq.heappush(self._ready, (entry.order, entry))
        else:
            heapq.heappush(self._delayed, (due, entry.number, entry))

    def remove(self, entry: Entry) -> bool:
        """Take an entry out, wherever it waits; say whether it was there."""
        found = self._waits(entry)
        if found:
            del self._members[entry.id]
            self._forget_those_gone()
        return found

    def peek(self, now: float) -> Entry | None:
        """Return the entry whose turn it is, None if nobody can run now."""
        self._wake(now)
        while self._ready:
            entry = self._ready[0][1]
            if not self._waits(entry):
                heapq.heappop(self._ready)
            elif entry.conversation in self._busy:
                heapq.heappop(self._ready)
                self._parked.setdefault(str(entry.conversation), []).append(entry)
            else:
                return entry
        return None

    def pop(self, entry: Entry) -> None:
        """Let the entry that `peek` gave go; its conversation is busy until `release`."""
        heapq.heappop(self._ready)
        del self._members[entry.id]
        if entry.conversation is not None:
            self._busy.add(entry.conversation)

    def set_aside(self, entry: Entry) -> None:
        """Let the others go past the entry that `peek` gave, until `bring_back`."""
        heapq.heappop(self._ready)
        self._aside.append(entry)

    def bring_back(self) -> None:
        """Let those that were set aside have their turn again."""
        for entry in self._aside:
            heapq.heappush(self._ready, (entry.order, entry))
        self._aside.clear()

    def release(self, conversation: str | None) -> None:
        """Let the next entry of this conversation take its turn."""
        if conversation is None:
            return
        self._busy.discard(conversation)
        for entry in self._parked.pop(conversation, ()):
            heapq.heappush(self._ready, (entry.order, entry))

    def next_due(self) -> float | None:
        """Return when the next delayed entry is due."""
        while self._delayed and not self._waits(self._delayed[0][2]):
            heapq.heappop(self._delayed)
        return self._delayed[0][0] if self._delayed else None

    def _waits(self, entry: Entry) -> bool:
        """Say whether the entry is still a member; another task may have its id by now."""
        return self._members.get(entry.id) is entry

    def _forget_those_gone(self) -> None:
        """Keep no more than a few that have gone: behind somebody who waits for long, they would pile up."""
        most = 2 * len(self._members) + _FEW
        if len(self._ready) > most:
            self._ready = [item for item in self._ready if self._waits(item[1])]
            heapq.heapify(self._ready)
        if len(self._delayed) > most:
            self._delayed = [item for item in self._delayed if self._waits(item[2])]
            heapq.heapify(self._delayed)
        if sum(map(len, self._parked.values())) + len(self._aside) > most:
            parked = {key: [entry for entry in entries if self._waits(entry)] for key, entries in self._parked.items()}
            self._parked = {key: entries for key, entries in parked.items() if entries}
            self._aside = [entry for entry in self._aside if self._waits(entry)]

    def _wake(self, now: float) -> None:
        while (due := self.next_due()) is not None and due <= now:
            entry = heapq.heappop(self._delayed)[2]
            heapq.heappush(self._ready, (entry.order, entry))
