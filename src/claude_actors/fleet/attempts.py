"""The options of one attempt: which conversation it goes on with, and what is left of its budgets.

Pure. Every attempt runs in a session of its own, with a conversation id that is known before it starts, so that a
journal can name it even if the fleet dies at once.
"""

from __future__ import annotations

from typing import Any

from claude_actors.fleet.spending import Budget
from claude_actors.options import Options


def chooses_conversation(options: Options) -> bool:
    """Say whether the options themselves say which conversation a session begins with."""
    return options.session_id is not None or options.resume is not None or options.continue_conversation


def attempt_options(
    options: Options, *, resume: str | None = None, session_id: str | None = None, left: Budget | None = None
) -> Options:
    """Return the options for an attempt that resumes a conversation, or begins one under `session_id`.

    Raises InvalidOptions.
    """
    changes: dict[str, Any] = {}
    if resume is not None:
        changes = {
            "resume": resume,
            "session_id": None,
            "continue_conversation": False,
            "fork_session": False,
            "resume_session_at": None,
            "resume_drops_turn": None,
        }
    elif session_id is not None:
        changes["session_id"] = session_id
    if left is not None and left.turns is not None:
        changes["max_turns"] = _least(left.turns, options.max_turns)
    if left is not None and left.usd is not None:
        # The CLI counts this from the start of its process, also when it resumes.
        changes["max_budget_usd"] = _least(left.usd, options.max_budget_usd)
    return options.replace(**changes) if changes else options


def _least(one: float, other: float | None) -> float:
    return one if other is None else min(one, other)
