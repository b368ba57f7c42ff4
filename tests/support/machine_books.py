"""The books of what went into a SessionMachine and what came out, kept apart from the machine's own."""

from __future__ import annotations

from collections import Counter

import msgspec

from claude_actors.protocol import effects
from support.machine_driver import Driver


class Books:
    """Counts requests, answers and outcomes; reads the driver's log, each effect once."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._read = 0
        self._pending: set[str] = set()
        self._written: set[str] = set()
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.withdrawn: Counter[str] = Counter()
        self.started: Counter[str] = Counter()
        self.told: Counter[str] = Counter()
        self.sent: list[str] = []
        self.operations = 0
        self.operation_outcomes: Counter[int] = Counter()
        self.prompts: list[str] = []
        self.prompt_outcomes: Counter[str] = Counter()

    def ask(self, request_id: str) -> None:
        """Note a request of the CLI; the same one again while it is pending, or after the end, wants no answer."""
        self.brought_up_to_date()
        if request_id not in self._pending and not self._driver.machine.state.is_final:
            self.asked[request_id] += 1

    def owed(self, request_id: str) -> bool:
        """Say whether the request was handed to a callback and is not decided."""
        return request_id in self._pending

    def queued_operations(self) -> int:
        """Count the operations that wait for the session to run: what is queued beside prompts."""
        waiting = set(self.prompts) - self.prompt_outcomes.keys() - self._written
        return len(self._driver.machine.queue) - len(waiting)

    def brought_up_to_date(self) -> Books:
        """Read what has come out since the last time."""
        for item in self._driver.log[self._read :]:
            self._note(item)
        self._read = len(self._driver.log)
        return self

    def _note(self, item: effects.Effect) -> None:
        match item:
            case effects.WriteLine(line):
                frame = msgspec.json.decode(line)
                if frame.get("type") == "control_response":
                    self._decided(frame["response"]["request_id"], self.answered)
                elif frame.get("type") == "control_request":
                    self.sent.append(frame["request_id"])
                elif "prompt" in frame:
                    self._written.add(frame["prompt"])
            case effects.StartCallback(request_id=request_id):
                assert request_id not in self._pending
                self._pending.add(request_id)
                self.started[request_id] += 1
            case effects.CancelCallback(request_id, reason):
                self.told[request_id] += 1
                # A timeout tells the callback after its fallback was written; the other reasons write nothing.
                if reason != "timed_out":
                    self._decided(request_id, self.withdrawn)
            case effects.CompleteOperation(operation=operation) | effects.FailOperation(operation=operation):
                self.operation_outcomes[operation] += 1
            case effects.CompleteTurn(uuid=uuid) | effects.RefuseTurn(uuid=uuid):
                self.prompt_outcomes[uuid] += 1
            case effects.EndSession(unanswered=unanswered):
                self.prompt_outcomes.update(turn.uuid for turn in unanswered)
            case _:
                pass

    def _decided(self, request_id: str, how: Counter[str]) -> None:
        how[request_id] += 1
        self._pending.discard(request_id)
