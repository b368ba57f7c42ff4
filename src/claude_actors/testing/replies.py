"""Which reply a request gets, and how a text is cut into stream pieces; shared by both harnesses.

The fake CLI and the scripted Messages API must agree here to the letter. Imports nothing heavy, because the fake CLI
has to start in milliseconds.
"""

from __future__ import annotations

from itertools import pairwise

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


class ReplyQueue:
    """Hand out replies by their rules `(when, times)`, given in script order.

    A reply is open while it has been used fewer than `times` times (`None`: always open). A request gets the first open
    reply whose `when` is `None` or stands in the text of the request's last user message. Not thread-safe.
    """

    def __init__(self, rules: list[tuple[str | None, int | None]]) -> None:
        self._rules = rules
        self._used = [0] * len(rules)

    def take(self, last_user_text: str) -> int | None:
        """Use up one reply and give its index, or `None` when no reply is left for this text."""
        for index, (when, times) in enumerate(self._rules):
            if times is not None and self._used[index] >= times:
                continue
            if when is None or when in last_user_text:
                self._used[index] += 1
                return index
        return None

    def use(self, index: int) -> None:
        """Count a reply as used once, as an earlier process of the same conversation did."""
        self._used[index] += 1


def split_text(text: str, pieces: int) -> list[str]:
    """Cut `text` into at most `pieces` parts of nearly equal length; at least one part, even of an empty text."""
    pieces = max(1, min(pieces, len(text)))
    size, rest = divmod(len(text), pieces)
    bounds = [index * size + min(index, rest) for index in range(pieces + 1)]
    return [text[start:end] for start, end in pairwise(bounds)]


def error_type(status: int) -> str:
    """Give the API's name for the error of an HTTP status."""
    return ERROR_TYPES.get(status, "api_error")
