"""The rules of a session on a clock of the test's own: no thread, no process, no waiting.

For what would take minutes or luck to see live: deadlines, stalls, and events in one exact order. It drives the pure
machine that every session runs on; nothing is carried out, everything that it wants done is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from claude_actors.events import Event
from claude_actors.protocol import effects, inputs
from claude_actors.protocol.callbacks import CallbackRules
from claude_actors.protocol.machine import MachineConfig, SessionMachine
from claude_actors.wire.codec import decode_line

E = TypeVar("E", bound=effects.Effect)
V = TypeVar("V", bound=Event)


class VirtualClock:
    """A time that stands still until it is moved, and the timers that wait for it."""

    def __init__(self) -> None:
        self.now = 0.0
        self._timers: dict[str, float] = {}

    @property
    def timers(self) -> Mapping[str, float]:
        """The timers that are set, and when each is due."""
        return dict(self._timers)

    def set(self, key: str, at: float) -> None:
        """Set a timer; one of the same key is replaced."""
        self._timers[key] = at

    def clear(self, key: str) -> None:
        """Forget a timer; unknown ones are fine."""
        self._timers.pop(key, None)

    def next_due(self, until: float) -> str | None:
        """Move to the next timer that is due by then, take it and give its key; without one, move to `until`."""
        key = min(self._timers, key=lambda key: self._timers[key], default=None)
        if key is None or self._timers[key] > until:
            self.now = max(self.now, until)
            return None
        self.now = max(self.now, self._timers.pop(key))
        return key


class VirtualSession:
    """A session machine and its clock. `config` are fields of `MachineConfig`."""

    def __init__(self, rules: CallbackRules | None = None, **config: Any) -> None:
        self.clock = VirtualClock()
        self.machine = SessionMachine(MachineConfig(salt="virtual", rules=rules or CallbackRules(), **config))
        self.effects: list[effects.Effect] = []

    @property
    def state(self) -> str:
        """The lifecycle state."""
        return self.machine.state.value

    # --- what happens ---

    def feed(self, event: inputs.Input) -> list[effects.Effect]:
        """Let something happen now; gives what the session wants done about it."""
        wanted = self.machine.handle(event, self.clock.now)
        for effect in wanted:
            if isinstance(effect, effects.SetTimer):
                self.clock.set(effect.key, effect.at)
            elif isinstance(effect, effects.ClearTimer):
                self.clock.clear(effect.key)
        self.effects += wanted
        return wanted

    def advance(self, seconds: float) -> list[effects.Effect]:
        """Let time pass; every timer that is due on the way fires at its own moment."""
        until, wanted = self.clock.now + seconds, list[effects.Effect]()
        while (key := self.clock.next_due(until)) is not None:
            wanted += self.feed(inputs.TimerFired(key))
        return wanted

    def receive(self, *frames: Mapping[str, Any] | bytes) -> list[effects.Effect]:
        """Let the CLI say these frames, given as JSON objects or as lines."""
        lines = [frame if isinstance(frame, bytes) else msgspec.json.encode(frame) for frame in frames]
        return self.feed(inputs.FramesReceived([decode_line(line) for line in lines]))

    def spawn(self) -> VirtualSession:
        """Let the process run; initialize is on its way then."""
        self.feed(inputs.PortSpawned(1))
        return self

    def run(self) -> VirtualSession:
        """Spawn, and let the CLI accept initialize."""
        self.spawn()
        accepted = {"subtype": "success", "request_id": self.written()[0]["request_id"], "response": {}}
        self.receive({"type": "control_response", "response": accepted})
        return self

    # --- what came of it ---

    def of(self, kind: type[E]) -> list[E]:
        """Give all effects of a kind so far."""
        return [effect for effect in self.effects if isinstance(effect, kind)]

    def events(self, kind: type[V]) -> list[V]:
        """Give all events of a kind so far."""
        return [effect.event for effect in self.of(effects.EmitEvent) if isinstance(effect.event, kind)]

    def written(self) -> list[dict[str, Any]]:
        """Give every frame that was written to the CLI so far."""
        return [msgspec.json.decode(effect.line) for effect in self.of(effects.WriteLine)]
