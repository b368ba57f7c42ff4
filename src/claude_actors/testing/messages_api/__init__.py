"""The scripted Messages API: the real CLI runs against it with no key and no internet."""

from __future__ import annotations

from claude_actors.testing.messages_api.gates import Gates
from claude_actors.testing.messages_api.requests import RecordedRequest
from claude_actors.testing.messages_api.server import MessagesAPI

__all__ = ["Gates", "MessagesAPI", "RecordedRequest"]
