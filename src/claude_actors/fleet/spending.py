"""What work costs, in turns, tokens and USD: how it is read from a conversation and held against a budget.

Pure. Tokens are input, output and cache-writing tokens; tokens read from a cache are not counted, because every request
reads the whole conversation again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self

import msgspec

from claude_actors.fleet.errors import BudgetKind
from claude_actors.wire.messages import ResultMessage


class Spent(msgspec.Struct, frozen=True):
    """What was used up."""

    turns: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.turns + other.turns, self.tokens + other.tokens, self.usd + other.usd)


class Exhausted(msgspec.Struct, frozen=True):
    """Which budget is used up."""

    budget: BudgetKind
    limit: float
    used: float


class Budget(msgspec.Struct, frozen=True):
    """What may be used up; None is no limit."""

    turns: int | None = None
    tokens: int | None = None
    usd: float | None = None

    def exhausted(self, spent: Spent) -> Exhausted | None:
        """Return the first budget of which nothing is left."""
        kinds: tuple[BudgetKind, ...] = ("turns", "tokens", "usd")
        for kind in kinds:
            limit, used = getattr(self, kind), getattr(spent, kind)
            if limit is not None and used >= limit:
                return Exhausted(kind, limit, used)
        return None

    def left(self, spent: Spent) -> Budget:
        """Return what is left of it, never less than nothing."""
        return Budget(
            None if self.turns is None else max(0, self.turns - spent.turns),
            None if self.tokens is None else max(0, self.tokens - spent.tokens),
            None if self.usd is None else max(0.0, self.usd - spent.usd),
        )


class ApiUsage(msgspec.Struct):
    """The usage of one API message, as assistant frames and results tell it."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int | None = 0

    @property
    def tokens(self) -> int:
        """The tokens that count."""
        return self.input_tokens + self.output_tokens + (self.cache_creation_input_tokens or 0)


class _AssistantPart(msgspec.Struct):
    id: str = ""
    usage: ApiUsage | None = None


class _AssistantUsage(msgspec.Struct):
    type: str
    message: _AssistantPart | None = None


_decode_usage: Final = msgspec.json.Decoder(_AssistantUsage).decode


class Meter:
    """Counts what one CLI process uses: live from its assistant frames, exactly from its results.

    The frames are all there is of an attempt that crashed; they tell no price and only a part of the output.
    """

    def __init__(self) -> None:
        self._usd = 0.0
        self._live: dict[str, int] = {}

    def see(self, line: bytes) -> None:
        """Take in a conversation line; whatever is no assistant frame changes nothing."""
        if b'"usage"' not in line or b'"assistant"' not in line:
            return
        try:
            frame = _decode_usage(line)
        except msgspec.MsgspecError:
            return
        if frame.type == "assistant" and frame.message is not None and frame.message.usage is not None:
            self._live[frame.message.id] = frame.message.usage.tokens

    @property
    def live(self) -> Spent:
        """What the open turn has used so far, as far as is known."""
        # dict.values() is read by other threads too: `tuple` takes it in one step.
        return Spent(len(self._live), sum(tuple(self._live.values())))

    def take_live(self) -> Spent:
        """Return what the open turn has used so far, and begin to count anew."""
        live, self._live = self.live, {}
        return live

    def settle(self, result: ResultMessage) -> Spent:
        """Return what the turn with this result used, and begin the next."""
        live = self.take_live()
        told = result.raw.get("model_usage_since_last_result")
        total = result.total_cost_usd or 0.0
        # A total that went down has begun anew, as after /clear.
        since = total - self._usd if total >= self._usd else total
        self._usd = total
        if isinstance(told, Mapping):
            by_model = _ModelUsage.sum_of(told)
            return Spent(result.num_turns, by_model.tokens, by_model.usd)
        return Spent(result.num_turns, max(live.tokens, _tokens(result.usage)), since)


class _ModelUsage(msgspec.Struct):
    """What results tell for each model, subagents included; unlike the totals it is never that of a resumed past."""

    tokens: int = 0
    usd: float = 0.0

    @classmethod
    def sum_of(cls, told: Mapping[str, Any]) -> Self:
        found = cls()
        for usage in told.values():
            if isinstance(usage, Mapping):
                names = ("inputTokens", "outputTokens", "cacheCreationInputTokens")
                found.tokens += sum(int(_number(usage.get(name))) for name in names)
                found.usd += _number(usage.get("costUSD"))
        return found


def _tokens(usage: Any) -> int:
    try:
        return msgspec.convert(usage or {}, ApiUsage).tokens
    except msgspec.ValidationError:
        return 0


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) else 0.0
