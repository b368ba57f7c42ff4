"""The answers of one session's callbacks, on their way from the threads that gave them to the session.

It decides only which of them go together; whether one still counts is decided by the machine.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import pykka
from pykka import ActorDeadError

from claude_actors.actors.base import deliver_inline
from claude_actors.actors.cork import CORK, hold
from claude_actors.protocol.inputs import CallbackFinished, CallbacksFinished

# A longer answer is worth a write of its own.
_SHORT: Final = 4096


class AnswerBox:
    """Takes answers from any thread and tells the session of them. Nothing here blocks or raises."""

    def __init__(self, session: pykka.ActorRef[Any]) -> None:
        self._session = session
        self._held: deque[CallbackFinished] = deque()

    def put(self, answer: CallbackFinished, *, inline: bool) -> None:
        """Tell the session, now or with the next ones.

        `inline` runs the session in this thread: only where the user's code has returned, so that its stack is not
        under the control plane.
        """
        if not inline:
            self._tell((answer,), inline=False)
        elif CORK.holds and len(answer.line) <= _SHORT:
            # In this order: whoever flushes after the second step finds the answer.
            self._held.append(answer)
            hold(self)
        else:
            self._tell((answer,), inline=True)

    def flush(self) -> None:
        """Tell the session of what waits."""
        answers = []
        try:
            while True:
                answers.append(self._held.popleft())
        except IndexError:
            pass
        if answers:
            self._tell(tuple(answers), inline=True)

    def _tell(self, answers: tuple[CallbackFinished, ...], *, inline: bool) -> None:
        tell = deliver_inline if inline else pykka.ActorRef.tell
        try:
            tell(self._session, CallbacksFinished(answers))
        except ActorDeadError:
            return  # The session is over; its end has told everybody.
