"""How a turn can end without the answer that was hoped for."""

from __future__ import annotations

from claude_actors.errors.base import ClaudeActorsError


class TurnFailed(ClaudeActorsError):
    """A turn ended with an error result; `subtype` and `result` tell which. The session goes on."""

    def __init__(self, *, subtype: str, reason: str, result: object = None) -> None:
        self.subtype, self.reason, self.result = subtype, reason, result
        # The CLI tells an API error as a success that is an error.
        ended = "an API error" if subtype == "success" else subtype
        super().__init__(f"the turn ended with {ended}: {reason}")


class TurnInterrupted(TurnFailed):
    """The turn was interrupted, by `interrupt()` or by a denial that asked for it."""


class MaxTurnsReached(TurnFailed):
    """The turn used up `Options.max_turns`; raise it, or send another prompt to go on."""


class BudgetExhausted(TurnFailed):
    """The session used up `Options.max_budget_usd`; give the next one more."""


class StructuredOutputFailed(TurnFailed):
    """The model gave no output that matches `Options.output_format`, however often the CLI asked; make it simpler."""


class ApiFailed(TurnFailed):
    """The API refused a request (`status`, `reason`), or was not reached (`status` is None). The session goes on."""

    def __init__(self, *, subtype: str, reason: str, result: object = None, status: int | None = None) -> None:
        self.status = status
        super().__init__(subtype=subtype, reason=reason, result=result)


class AuthenticationFailed(ApiFailed):
    """There are no credentials, or the API does not accept them (401, 403); run `claude` and sign in, or give a key."""

    def __str__(self) -> str:
        return f"{super().__str__()} (run claude and sign in, or set ANTHROPIC_API_KEY)"


class RateLimited(ApiFailed):
    """A rate limit or quota is used up (429); `resets_at` is when it opens again, in Unix seconds, if that was told."""

    def __init__(
        self,
        *,
        subtype: str,
        reason: str,
        result: object = None,
        status: int | None = 429,
        resets_at: float | None = None,
    ) -> None:
        self.resets_at = resets_at
        super().__init__(subtype=subtype, reason=reason, result=result, status=status)


class Overloaded(ApiFailed):
    """The API is overloaded or broken (529, 500 …); the same request may succeed later."""


class TurnTimeout(ClaudeActorsError, TimeoutError):
    """The turn had no result within the time that its caller would wait. It goes on; wait, or `interrupt()` it."""

    def __init__(self, *, after: float) -> None:
        self.after = after
        super().__init__(f"the turn had no result within {after:g} s; it goes on: wait again, or interrupt() it")
