"""`MessagesAPI`: a scripted stand-in for Anthropic's Messages API, on loopback.

It decides which reply a request gets and keeps what was asked. The real CLI behind it behaves as with the real model:
it runs the tools, fires the hooks, asks for permissions.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from claude_actors.testing.messages_api.gates import Gates
from claude_actors.testing.messages_api.http import Answer, LoopbackServer, Stream
from claude_actors.testing.messages_api.requests import Kind, RecordedRequest, is_side_call, last_user_text
from claude_actors.testing.messages_api.streaming import (
    check_script,
    error_body,
    split_waits,
    stream_actions,
    whole_message,
)
from claude_actors.testing.replies import ReplyQueue
from claude_actors.testing.script import ApiError, Pause, Reply, Script, WaitFor, reply

_SIDE_REPLY = reply('{"title": "A scripted session"}', output_tokens=1)
_EXHAUSTED = ApiError(400, message="the script has no reply left for this request")


class MessagesAPI:
    """Answers `POST /v1/messages` from a script while its `with` block lasts; usable from every thread.

    `headers` are added to each answer of the conversation, beside those of the script. Raises `ValueError` for a
    script with steps that only the fake CLI can do.
    """

    def __init__(self, script: Script, *, headers: Mapping[str, str] | None = None) -> None:
        check_script(script)
        self.gates = Gates()
        self._replies = script.replies
        self._queue = ReplyQueue([(reply.when, reply.times) for reply in script.replies])
        self._headers = {**script.headers, **(headers or {})}
        self._changed = threading.Condition()
        self._requests: list[RecordedRequest] = []
        self._server: LoopbackServer | None = None

    def __enter__(self) -> Self:
        self._server = LoopbackServer(self)
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.gates.close()
        if self._server is not None:
            self._server.close()

    @property
    def url(self) -> str:
        """Give the address for `ANTHROPIC_BASE_URL`; only inside the `with` block."""
        if self._server is None:
            raise RuntimeError("the API serves only inside its with block")
        return self._server.url

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        """Give the requests of the conversation so far, in the order in which they came."""
        with self._changed:
            return tuple(request for request in self._requests if request.kind != "side")

    @property
    def side_requests(self) -> tuple[RecordedRequest, ...]:
        """Give the requests that the CLI made for itself; they used up no reply."""
        with self._changed:
            return tuple(request for request in self._requests if request.kind == "side")

    @property
    def unscripted_requests(self) -> tuple[RecordedRequest, ...]:
        """Give the requests for which the script had no reply left; each was refused with status 400."""
        return tuple(request for request in self.requests if request.kind == "unscripted")

    def wait_for_request(self, number: int = 1, timeout: float = 30.0) -> RecordedRequest:
        """Block until that many requests of the conversation have come and give the last of them.

        Raises `TimeoutError`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) >= number, timeout):
                raise TimeoutError(f"only {len(self.requests)} of {number} requests came within {timeout} s")
            return self.requests[number - 1]

    def open(self, gate: str) -> None:
        """Open a gate of the script."""
        self.gates.open(gate)

    def answer(self, headers: Mapping[str, str], body: dict[str, Any]) -> Answer | Stream | None:
        """Answer one request; called from the connections' threads."""
        found = self._record(headers, body)
        if found is None:
            return Answer(_EXHAUSTED.status, error_body(_EXHAUSTED))
        waits, rest = split_waits(found)
        if not all(self.stand(wait) for wait in waits):
            return None
        return self._answer_with(rest, body)

    def stand(self, wait: WaitFor | Pause) -> bool:
        """Stand still as the script says; false when the API is being closed."""
        match wait:
            case WaitFor():
                return self.gates.pass_through(wait.gate)
            case Pause():
                return self.gates.pause(wait.seconds)

    def _record(self, headers: Mapping[str, str], body: dict[str, Any]) -> Reply | None:
        with self._changed:
            found = self._choose(body)
            kind: Kind = "side" if found is _SIDE_REPLY else "scripted" if found else "unscripted"
            self._requests.append(RecordedRequest(kind, headers, body))
            self._changed.notify_all()
            return found

    def _choose(self, body: dict[str, Any]) -> Reply | None:
        if is_side_call(body):
            return _SIDE_REPLY
        index = self._queue.take(last_user_text(body))
        return None if index is None else self._replies[index]

    def _answer_with(self, found: Reply, body: dict[str, Any]) -> Answer | Stream:
        first = found.steps[0] if found.steps else None
        if isinstance(first, ApiError):
            retry = {} if first.retry_after is None else {"retry-after": f"{first.retry_after:g}"}
            return Answer(first.status, error_body(first), {**self._headers, **retry})
        model = str(body.get("model", ""))
        if body.get("stream"):
            return Stream(stream_actions(found, model=model), self._headers)
        return Answer(200, whole_message(found, model=model), self._headers)
