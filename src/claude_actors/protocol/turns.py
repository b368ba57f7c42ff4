"""Turns: which result answers which prompt.

A prompt carries a uuid. A CLI that names it in its results is matched by name; one that never does is matched by order.
A turn that the CLI starts by itself completes nobody's.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from claude_actors.errors import ControlError, TooManyPendingRequests


class OpenTurn(msgspec.Struct, frozen=True):
    """A prompt without a result: its uuid, its encoded frame, and whether the CLI has begun on it."""

    uuid: str
    line: bytes
    written: bool = False
    started: bool = False


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
        self._named = self._named or uuid is not None
        turn = self._oldest_unnamed() if uuid is None else self._open.get(uuid)
        if turn is None or turn.started:
            return None
        self._open[turn.uuid] = msgspec.structs.replace(turn, started=True)
        return turn.uuid

    def finish(self, uuid: str | None, uuids: Sequence[str]) -> list[str]:
        """Remove and return the turns that a result answers."""
        names = dict.fromkeys((*uuids, uuid) if uuid is not None else uuids)
        if names:
            self._named = True
            return [name for name in names if self._open.pop(name, None) is not None]
        oldest = self._oldest_unnamed()
        if oldest is None:
            return []
        del self._open[oldest.uuid]
        return [oldest.uuid]

    def any_started(self) -> bool:
        """Say whether the CLI is at work on a prompt of ours."""
        return any(turn.started for turn in self._open.values())

    def discard(self, uuid: str) -> bool:
        """Forget a turn that the CLI has dropped; say whether it was open."""
        return self._open.pop(uuid, None) is not None

    def take_all(self) -> tuple[OpenTurn, ...]:
        """Remove and return every open turn, oldest first."""
        taken = tuple(self._open.values())
        self._open.clear()
        return taken

    def _oldest_unnamed(self) -> OpenTurn | None:
        if self._named:
            return None
        return next((turn for turn in self._open.values() if turn.written), None)
