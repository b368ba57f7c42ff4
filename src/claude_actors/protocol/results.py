"""What an error result means: which typed error stands for it.

Pure, over one `ResultMessage`. The real CLI tells an API failure as `subtype: "success"` with `is_error`, its HTTP
status in `api_error_status`; older ones tell the status in the text only.
"""

from __future__ import annotations

import re
from typing import Final

from claude_actors.errors import (
    ApiFailed,
    AuthenticationFailed,
    BudgetExhausted,
    MaxTurnsReached,
    Overloaded,
    RateLimited,
    StructuredOutputFailed,
    TurnFailed,
    TurnInterrupted,
)
from claude_actors.wire.messages import ResultMessage

_BY_SUBTYPE: Final[dict[str, type[TurnFailed]]] = {
    "error_max_turns": MaxTurnsReached,
    "error_max_budget_usd": BudgetExhausted,
    "error_max_structured_output_retries": StructuredOutputFailed,
}
_BY_TERMINAL_REASON: Final[dict[str, type[TurnFailed]]] = {
    "aborted_streaming": TurnInterrupted,
    "aborted_tools": TurnInterrupted,
    "max_turns": MaxTurnsReached,
    "budget_exhausted": BudgetExhausted,
    "structured_output_retry_exhausted": StructuredOutputFailed,
}
_STATUS_IN_TEXT: Final = re.compile(r"API Error: (?:Request rejected \()?([45]\d\d)\b")
# The words of a subscription's limit; older CLIs put the reset time behind a bar.
_LIMIT_IN_TEXT: Final = re.compile(r"usage limit reached|hit your .{0,40}limit", re.IGNORECASE)
# What a CLI says that has no credentials to ask the API with, so that there is no status.
_LOGIN_IN_TEXT: Final = re.compile(r"please run /login|invalid api key", re.IGNORECASE)
_RESET_IN_TEXT: Final = re.compile(r"\|(\d{10})\b")


def result_error(result: ResultMessage, *, resets_at: float | None = None) -> TurnFailed | None:
    """Return the error that a result stands for, None if the turn ended well.

    `resets_at` (Unix seconds) is what a `rate_limit_event` told before, for results that do not tell it themselves.
    """
    if not result.is_error and not result.subtype.startswith("error"):
        return None
    reason = _reason(result)
    kind = _BY_SUBTYPE.get(result.subtype) or _BY_TERMINAL_REASON.get(result.terminal_reason or "")
    if kind is not None:
        return kind(subtype=result.subtype, reason=reason, result=result)
    if result.subtype == "success":
        return _api_error(result, reason, resets_at)
    return TurnFailed(subtype=result.subtype or "no subtype", reason=reason, result=result)


def _api_error(result: ResultMessage, reason: str, resets_at: float | None) -> ApiFailed:
    status = result.api_error_status or _status_in(reason)
    if status == 429 or (status is None and _LIMIT_IN_TEXT.search(reason)):
        told = _RESET_IN_TEXT.search(reason)
        return RateLimited(
            subtype=result.subtype,
            reason=reason,
            result=result,
            status=status,
            resets_at=float(told[1]) if told else resets_at,
        )
    kind = AuthenticationFailed if status is None and _LOGIN_IN_TEXT.search(reason) else _kind_of(status)
    return kind(subtype=result.subtype, reason=reason, result=result, status=status)


def _kind_of(status: int | None) -> type[ApiFailed]:
    if status in (401, 403):
        return AuthenticationFailed
    return Overloaded if status is not None and status >= 500 else ApiFailed


def _status_in(text: str) -> int | None:
    found = _STATUS_IN_TEXT.search(text)
    return int(found[1]) if found else None


def _reason(result: ResultMessage) -> str:
    """Say it in the CLI's own words."""
    words = "; ".join(result.errors or ()) or result.result or result.terminal_reason
    return words or "the CLI gave no reason"
