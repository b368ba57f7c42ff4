"""Whether new attempts may start: somebody holds the fleet, or a rate limit is used up.

Pure; `now` is the monotonic clock, `wall` Unix seconds, in which limits are told.
"""

from __future__ import annotations

from claude_actors.errors import ClaudeActorsError, RateLimited
from claude_actors.protocol.restarts import Backoff
from claude_actors.wire.notices import RateLimitInfo


def reset_time(info: RateLimitInfo) -> float | None:
    """Return until when a rate limit forbids new work, in Unix seconds; None if it does not."""
    spills_over = info.is_using_overage or info.overage_status in ("allowed", "allowed_warning")
    return info.resets_at if info.status == "rejected" and not spills_over else None


class Gate:
    """Open, held, or closed until a time."""

    def __init__(self, backoff: Backoff) -> None:
        self._backoff = backoff
        self._until = float("-inf")
        self._streak = 0
        self.held = False
        self.resets_at: float | None = None

    def is_closed(self, now: float) -> bool:
        """Say whether nothing may start now."""
        return self.held or self.is_limited(now)

    def is_limited(self, now: float) -> bool:
        """Say whether a rate limit keeps it closed."""
        return now < self._until

    def opens_at(self, now: float) -> float | None:
        """Return when the rate limit ends, None if there is none."""
        return self._until if self.is_limited(now) else None

    def close_until(self, resets_at: float, now: float, wall: float) -> float | None:
        """Close it until a Unix time; return that time if it is news."""
        until = now + resets_at - wall
        if until <= max(now, self._until):
            return None
        self._until, self.resets_at = until, resets_at
        return resets_at

    def limited(self, error: ClaudeActorsError, now: float, wall: float) -> bool:
        """Close it because an attempt met a rate limit; say whether it is known when that ends.

        A limit that is said to end now, and does not, closes it for longer each time.
        """
        if self.is_limited(now):
            return True
        self._streak += 1
        resets_at = error.resets_at if isinstance(error, RateLimited) else None
        least = wall + self._backoff.delay(self._streak, 0.0)
        self.close_until(max(resets_at or least, least), now, wall)
        return resets_at is not None

    def succeeded(self) -> None:
        """Forget earlier limits: a turn has ended well."""
        self._streak = 0
