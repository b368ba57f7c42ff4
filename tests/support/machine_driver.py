"""A small hand that drives a SessionMachine in tests: feeds it, keeps the time, and sorts what comes out."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from claude_actors.events import Event
from claude_actors.protocol import effects, inputs
from claude_actors.protocol.callbacks import CallbackRules, HookRule
from claude_actors.protocol.machine import MachineConfig, SessionMachine
from claude_actors.wire.control import Interrupt, OutboundRequest
from claude_actors.wire.skim import skim_lines

E = TypeVar("E", bound=effects.Effect)
V = TypeVar("V", bound=Event)

RULES = CallbackRules(
    hooks={
        "hook_0": HookRule("PreToolUse", 60.0),
        "hook_1": HookRule("PreToolUse", 60.0, {"decision": "block"}),
        "hook_2": HookRule("Stop", None),
    }
)


def finished(request_id: str, line: bytes) -> inputs.CallbacksFinished:
    """Make the input of one callback that has an answer."""
    return inputs.CallbacksFinished((inputs.CallbackFinished(request_id, line),))


class Driver:
    """One machine, its time, and all effects so far."""

    def __init__(self, **config: Any) -> None:
        settings: dict[str, Any] = {"salt": "abcd1234", "rules": RULES} | config
        self.machine = SessionMachine(MachineConfig(**settings))
        self.now = 100.0
        self.fed = 0
        self.log: list[effects.Effect] = []
        self.timers: set[str] = set()

    def feed(self, event: inputs.Input) -> list[effects.Effect]:
        self.fed += 1
        if isinstance(event, inputs.TimerFired):
            self.timers.discard(event.key)
        out = self.machine.handle(event, self.now)
        self.log += out
        for item in out:
            if isinstance(item, effects.SetTimer):
                self.timers.add(item.key)
            elif isinstance(item, effects.ClearTimer):
                self.timers.discard(item.key)
        return out

    def line(self, *frames: dict[str, Any] | bytes) -> list[effects.Effect]:
        """Receive frames, each through the real codec."""
        lines = [frame if isinstance(frame, bytes) else msgspec.json.encode(frame) for frame in frames]
        return self.feed(inputs.FramesReceived(skim_lines(lines)))

    def running(self) -> Driver:
        self.feed(inputs.PortSpawned(42))
        self.respond("req_0_abcd1234", {"pid": 42})
        return self

    def respond(self, request_id: str, payload: dict[str, Any] | None = None) -> list[effects.Effect]:
        body: dict[str, Any] = {"subtype": "success", "request_id": request_id}
        if payload is not None:
            body["response"] = payload
        return self.line({"type": "control_response", "response": body})

    def refuse(self, request_id: str, error: str, **more: Any) -> list[effects.Effect]:
        body = {"subtype": "error", "request_id": request_id, "error": error, **more}
        return self.line({"type": "control_response", "response": body})

    def ask(self, request_id: str, subtype: str, **fields: Any) -> list[effects.Effect]:
        """Receive a request of the CLI."""
        request = {"subtype": subtype, **fields}
        return self.line({"type": "control_request", "request_id": request_id, "request": request})

    def hook(self, request_id: str, callback_id: str = "hook_0") -> list[effects.Effect]:
        return self.ask(request_id, "hook_callback", callback_id=callback_id, input={"hook_event_name": "PreToolUse"})

    def operation(self, number: int, request: OutboundRequest | None = None) -> list[effects.Effect]:
        return self.feed(inputs.OperationRequested(number, request or Interrupt(), 5.0))

    def prompt(self, uuid: str) -> list[effects.Effect]:
        return self.feed(inputs.PromptRequested(uuid, b'{"prompt":"%s"}\n' % uuid.encode()))

    def events(self, kind: type[V]) -> list[V]:
        return [item.event for item in self.of(effects.EmitEvent) if isinstance(item.event, kind)]

    def of(self, kind: type[E]) -> list[E]:
        return [item for item in self.log if isinstance(item, kind)]

    def written(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(item.line) for item in self.of(effects.WriteLine)]

    def answers(self, request_id: str) -> list[dict[str, Any]]:
        """All answers that were written for a request of the CLI."""
        responses = [frame["response"] for frame in self.written() if frame.get("type") == "control_response"]
        return [response for response in responses if response["request_id"] == request_id]

    def end(self) -> effects.EndSession:
        (ended,) = self.of(effects.EndSession)
        return ended
