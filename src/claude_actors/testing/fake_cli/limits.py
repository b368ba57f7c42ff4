"""Rate limits of a subscription, as the API tells them in headers and the CLI tells them in frames."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli

PREFIX = "anthropic-ratelimit-unified-"
WORDS = {"five_hour": "5-hour limit", "seven_day": "weekly limit"}
SHORT_NAMES = {"five_hour": "5h", "seven_day": "7d"}


class Limits:
    """What the script's headers say of limits; only those who sign in with a token are told."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli
        headers = cli.script["headers"] if os.environ.get("CLAUDE_CODE_OAUTH_TOKEN") else {}
        self._given = {name[len(PREFIX) :]: value for name, value in headers.items() if name.startswith(PREFIX)}
        self._told = False

    @property
    def used_up(self) -> str | None:
        """Name the limit, if nothing more is to be had before its reset."""
        if self._given.get("status") != "rejected":
            return None
        return WORDS.get(self._given.get("representative-claim", ""), "limit")

    def tell(self) -> None:
        """Write a rate_limit_event, once: the headers of a script do not change."""
        if self._given and not self._told and self._given.get("status") != "allowed":
            self._told = True
            self._cli.emit({"type": "rate_limit_event", "rate_limit_info": self._info()})

    def _info(self) -> dict[str, Any]:
        given = self._given
        found: dict[str, Any] = {"status": given.get("status")}
        if "reset" in given:
            found["resetsAt"] = int(given["reset"])
        claim = given.get("representative-claim", "")
        if claim:
            found["rateLimitType"] = claim
        used = given.get(f"{SHORT_NAMES.get(claim, claim)}-utilization")
        if used is not None and self.used_up is None:
            found["utilization"] = float(used)
        if "overage-status" in given:
            found["overageStatus"] = given["overage-status"]
        return {**found, "isUsingOverage": False}
