"""Hooks as the other side registered them in initialize: who is called for an event, and what the answers amount to."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli
    from claude_actors.testing.fake_cli.requests import Answer

DEFAULT_TIMEOUT = 60.0


class Verdict:
    """What all hooks of one event decided together."""

    def __init__(self) -> None:
        self.permission: str | None = None  # allow | ask | deny, the strictest wins
        self.reason = ""
        self.updated_input: dict[str, Any] | None = None
        self.contexts: list[str] = []
        self.messages: list[str] = []
        self.blocked: str | None = None
        self.stopped: str | None = None
        self.timed_out = False
        self.decision: dict[str, Any] | None = None
        self.output: Any = None  # in place of what a tool gave
        self.display: str | None = None

    def add(self, output: dict[str, Any]) -> None:
        """Take one hook's output into account."""
        specific = output.get("hookSpecificOutput") or {}
        self._permit(specific.get("permissionDecision"), specific.get("permissionDecisionReason"))
        if output.get("decision") == "block":
            self.blocked = str(output.get("reason") or "")
        if output.get("continue") is False:
            self.stopped = str(output.get("stopReason") or "")
        if specific.get("updatedInput") is not None:
            self.updated_input = specific["updatedInput"]
        if specific.get("additionalContext"):
            self.contexts.append(specific["additionalContext"])
        if output.get("systemMessage"):
            self.messages.append(output["systemMessage"])
        if isinstance(specific.get("decision"), dict):
            self.decision = specific["decision"]
        self.output = specific.get("updatedToolOutput", specific.get("updatedMCPToolOutput", self.output))
        self.display = specific.get("displayContent", self.display)

    def _permit(self, decision: str | None, reason: str | None) -> None:
        order = (None, "allow", "ask", "deny")
        if decision in order and order.index(decision) > order.index(self.permission):
            self.permission, self.reason = decision, reason or ""


class Hooks:
    """The registered hooks of this process."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli
        self._config: dict[str, list[dict[str, Any]]] = {}

    def register(self, config: dict[str, list[dict[str, Any]]] | None) -> None:
        """Take the `hooks` field of initialize."""
        self._config = config or {}

    def matching(self, event: str, subject: str | None) -> list[tuple[str, float]]:
        """List (callback id, timeout) of the hooks for an event on a subject (a tool's name, mostly)."""
        return [
            (callback_id, float(entry.get("timeout") or DEFAULT_TIMEOUT))
            for entry in self._config.get(event) or []
            if matches(entry.get("matcher"), subject)
            for callback_id in entry.get("hookCallbackIds") or []
        ]

    def run(
        self, event: str, fields: dict[str, Any], *, subject: str | None = None, tool_use_id: str | None = None
    ) -> Verdict:
        """Call every hook of this event at once and wait for all of them."""
        verdict = Verdict()
        called = self.matching(event, subject)
        if not called:
            return verdict
        payload = {**self._cli.hook_input(event), **fields}
        sent = [
            (callback_id, timeout, self._cli.requests.send(hook_request(callback_id, payload, tool_use_id)))
            for callback_id, timeout in called
        ]
        start = time.monotonic()
        for callback_id, timeout, request_id in sent:
            left = max(0.0, start + timeout - time.monotonic())
            self._judge(verdict, event, callback_id, self._cli.requests.collect(request_id, left))
        self._cli.contexts += verdict.contexts
        return verdict

    def _judge(self, verdict: Verdict, event: str, callback_id: str, answer: Answer) -> None:
        if answer.outcome == "timeout":
            verdict.timed_out = True
        elif answer.outcome == "error" or (answer.outcome == "success" and not isinstance(answer.payload, dict)):
            self._cli.emit_system(
                "informational",
                content=f"{event}: Hook callback {callback_id} failed: the SDK host replied with an error or an "
                "invalid answer. Its answer was treated as empty.",
                level="warning",
                tag="hook_callback_failed",
            )
        elif answer.outcome == "success" and not answer.object.get("async"):
            verdict.add(answer.object)


def hook_request(callback_id: str, payload: dict[str, Any], tool_use_id: str | None) -> dict[str, Any]:
    """Build a hook_callback request."""
    request: dict[str, Any] = {"subtype": "hook_callback", "callback_id": callback_id, "input": payload}
    if tool_use_id is not None:
        request["tool_use_id"] = tool_use_id
    return request


def matches(matcher: str | None, subject: str | None) -> bool:
    """Say whether a matcher takes a subject: nothing and `*` take all, `A|B` by name, else a regular expression."""
    if matcher in (None, "", "*") or subject is None:
        return True
    if matcher.replace("|", "").replace("_", "").isalnum():
        return subject in matcher.split("|")
    import re

    try:
        return re.search(matcher, subject) is not None
    except re.error:
        return False
