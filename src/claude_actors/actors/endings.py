"""Why an actor ended, kept with its ref for whoever asks later.

pykka forgets the reason of an end with the actor; a ref is what others still hold then.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

import pykka


class Unknown(Enum):
    """The reason was not kept."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
_KEY: Final = "_claude_actors_end_reason"


def keep_reason(ref: pykka.ActorRef[Any], reason: BaseException | None) -> BaseException | None:
    """Keep the reason of an actor's end, None for a normal one, and give the first that was kept. Any thread."""
    kept: BaseException | None = ref.__dict__.setdefault(_KEY, reason)
    return kept


def kept_reason(ref: pykka.ActorRef[Any]) -> BaseException | Unknown | None:
    """Give the reason that was kept, or UNKNOWN. Any thread."""
    kept: BaseException | Unknown | None = ref.__dict__.get(_KEY, UNKNOWN)
    return kept
