"""How a request to the model can fail, and the names and words that the CLI has for it."""

from __future__ import annotations

from claude_actors.testing.replies import error_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_RETRY = 60.0
RETRY_NAMES = {401: "authentication_failed", 429: "rate_limit", 529: "overloaded"}
ERROR_NAMES = {
    400: "unknown",
    401: "authentication_failed",
    403: "authentication_failed",
    404: "model_not_found",
    429: "rate_limit",
}


class ApiFailed(Exception):
    """The API refused the request, and trying again is over."""

    def __init__(self, step: dict[str, Any]) -> None:
        self.status: int = step["status"]
        self.type: str = step["type"] or error_type(self.status)
        self.message: str = step["message"] or "refused by the script"
        self._retry_after: float = step.get("retry_after") or 0.0
        self.used_up: str | None = None  # the limit, in words
        super().__init__(self.message)

    @property
    def may_pass(self) -> bool:
        """Say whether trying again can help, and soon enough."""
        lasting = self.status in (400, 403, 404, 413) or self.used_up is not None
        return not lasting and self._retry_after <= LONGEST_RETRY

    def retry_name(self) -> str:
        """Give the name of the error in an api_retry frame."""
        return RETRY_NAMES.get(self.status, "server_error")

    def text(self) -> str:
        """Give the words of the real CLI for it."""
        if self.used_up is not None:
            return f"You've hit your {self.used_up}"
        if self.status == 429:
            return f"API Error: Request rejected (429) · {self.message}"
        if self.status in (401, 403):
            return f"Failed to authenticate. API Error: {self.status} {self.message}"
        if self.status >= 500:
            return (
                f"API Error: {self.status} {self.message}. This is a server-side issue, usually temporary — "
                "try again in a moment."
            )
        return f"API Error: {self.status} {self.message}"

    def name(self) -> str:
        """Give the name of the error in an assistant frame."""
        return ERROR_NAMES.get(self.status, "server_error" if self.status >= 500 else "invalid_request")


class StreamBroken(Exception):
    """The connection broke in the middle of a reply, perhaps before anything of it had come."""

    def __init__(self, *, some_came: bool) -> None:
        super().__init__()
        self.some_came = some_came
