"""Control requests that the fake sends: their ids, their answers, and their ends without an answer."""

from __future__ import annotations

import time

from claude_actors.testing.fake_cli.channel import new_uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from claude_actors.testing.fake_cli.channel import Channel
    from claude_actors.testing.fake_cli.pump import Pump


class Answer:
    """How a request ended: `success`, `error`, `timeout`, `cancelled` (by us) or `closed` (input ended)."""

    __slots__ = ("error", "outcome", "payload")

    def __init__(self, outcome: str, payload: Any = None, error: str = "") -> None:
        self.outcome, self.payload, self.error = outcome, payload, error

    @property
    def object(self) -> dict[str, Any]:
        """Give the success payload if it is an object, else an empty one."""
        return self.payload if self.outcome == "success" and isinstance(self.payload, dict) else {}


class Requests:
    """Send requests and wait for their answers; the first answer of an id counts, others are recorded as unexpected."""

    def __init__(self, channel: Channel, pump: Pump) -> None:
        self._channel = channel
        self._pump = pump
        self._open: dict[str, str] = {}
        self._answers: dict[str, Answer] = {}
        self._handlers: dict[str, Callable[[Answer], None]] = {}

    def send(self, request: dict[str, Any], label: str = "", on_answer: Callable[[Answer], None] | None = None) -> str:
        """Send a request and give its id; `on_answer` is called with its answer, which then cannot be collected."""
        request_id = new_uuid()
        self._open[request_id] = label
        if on_answer is not None:
            self._handlers[request_id] = on_answer
        self._channel.write({"type": "control_request", "request_id": request_id, "request": request})
        return request_id

    def collect(self, request_id: str, timeout: float | None = None) -> Answer:
        """Wait for the answer; at the timeout the request is cancelled."""
        deadline = None if timeout is None else time.monotonic() + timeout
        if not self._pump.wait(lambda: request_id not in self._open or self._channel.eof, deadline):
            self.cancel(request_id, "timeout")
        self._open.pop(request_id, None)
        return self._answers.pop(request_id, None) or Answer("closed")

    def ask(self, request: dict[str, Any], timeout: float | None = None, label: str = "") -> Answer:
        """Send a request and wait for its answer."""
        return self.collect(self.send(request, label), timeout)

    def settle(self, response: dict[str, Any]) -> None:
        """Take a control_response that has come in."""
        request_id = str(response.get("request_id"))
        if request_id not in self._open:
            self._channel.recorder.note("unexpected_answer", request_id=request_id)
            return
        self._channel.recorder.note(
            "answer", label=self._open.pop(request_id), request_id=request_id, response=response
        )
        if response.get("subtype") == "success":
            self._end(request_id, Answer("success", response.get("response")))
        else:
            self._end(request_id, Answer("error", error=str(response.get("error"))))

    def cancel(self, request_id: str, outcome: str = "cancelled") -> None:
        """Tell the other side that no answer is wanted any more."""
        if self._open.pop(request_id, None) is not None:
            self._channel.write({"type": "control_cancel_request", "request_id": request_id})
            self._end(request_id, Answer(outcome))

    def _end(self, request_id: str, answer: Answer) -> None:
        handler = self._handlers.pop(request_id, None)
        if handler is None:
            self._answers[request_id] = answer
        else:
            handler(answer)

    def open_ids(self, label: str | None = None) -> list[str]:
        """List the requests without an answer, of one label or of all."""
        return [request_id for request_id, its_label in self._open.items() if label is None or its_label == label]
