"""Turns: which result answers which prompt.

A prompt carries a uuid. A CLI that names it in its results is matched by name; one that never does is matched by order.
A turn that the CLI starts by itself completes nobody's.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from claude_actors.errors import ControlError, TooManyPendingRequests


class OpenTurn(msgspec.Struct, frozen=True):
    """A prompt without a result: its uuid, its encoded frame, and how far the CLI has come with it.

    `over` says that the CLI is done with a prompt that it had begun on: the next result names it, or none ever will.
    """

    uuid: str
    line: bytes
    written: bool = False
    started: bool = False
    over: bool = False


class TurnTable:
    """The prompts that have no result yet, oldest first, at most `limit` of them."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._open: dict[str, OpenTurn] = {}
        # Learnt from the wire: once a CLI has named a prompt, a result without a name is a turn of its own.
        self._named = False

    def __len__(self) -> int:
        return len(self._open)

    def open(self, uuid: str, line: bytes) -> ControlError | None:
        """Add a prompt that is not written yet, or return why it cannot be taken."""
        if len(self._open) >= self._limit:
            return TooManyPendingRequests(limit=self._limit)
        self._open[uuid] = OpenTurn(uuid, line)
        return None

    def written(self, uuid: str) -> bytes:
        """Note that the prompt goes to the CLI and return its line."""
        turn = self._open[uuid]
        self._open[uuid] = msgspec.structs.replace(turn, written=True)
        return turn.line

    def started(self, uuid: str | None) -> str | None:
        """Note that the CLI began a turn; return its uuid if it is one of ours and was not begun before."""
        turn = self._oldest_unnamed() if uuid is None else self._sent(uuid)
        if turn is None or turn.started:
            return None
        self._open[turn.uuid] = msgspec.structs.replace(turn, started=True)
        return turn.uuid

    def names_prompts(self) -> None:
        """Note that the CLI names prompts, so that order means nothing any more."""
        self._named = True

    def finish(self, names: Iterable[str]) -> list[str]:
        """Remove and return the turns that a result names, each once."""
        finished = [name for name in dict.fromkeys(names) if self._sent(name) is not None]
        for name in finished:
            del self._open[name]
        return finished

    def finish_oldest(self) -> list[str]:
        """Remove and return the turn that a result without a name answers, if any can be told by order."""
        oldest = self._oldest_unnamed()
        return [] if oldest is None else self.finish([oldest.uuid])

    def end(self, uuid: str) -> OpenTurn | None:
        """Note that the CLI is done with a prompt; remove and return one that it never began, for it has no result."""
        turn = self._sent(uuid)
        if turn is None:
            return None
        if turn.started:
            self._open[uuid] = msgspec.structs.replace(turn, over=True)
            return None
        return self._open.pop(uuid)

    def take_over(self) -> list[OpenTurn]:
        """Remove and return the turns that the CLI is done with and that the result has not named."""
        taken = [turn for turn in self._open.values() if turn.over]
        for turn in taken:
            del self._open[turn.uuid]
        return taken

    def withdraw(self, uuid: str) -> None:
        """Forget a prompt that is not sent after all."""
        del self._open[uuid]

    def take_all(self) -> tuple[OpenTurn, ...]:
        """Remove and return every open turn, oldest first."""
        taken = tuple(self._open.values())
        self._open.clear()
        return taken

    def _sent(self, uuid: str) -> OpenTurn | None:
        """Find a turn by what the CLI calls it; it cannot mean a prompt that it was never sent."""
        turn = self._open.get(uuid)
        return turn if turn is not None and turn.written else None

    def _oldest_unnamed(self) -> OpenTurn | None:
        if self._named:
            return None
        return next((turn for turn in self._open.values() if turn.written), None)
