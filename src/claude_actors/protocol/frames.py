"""Reading a batch of frames for the machine: control frames to their desks, the conversation to the consumers.

The loop is the hot path of a flood: a conversation line that cannot matter to the session costs one comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from claude_actors import events
from claude_actors.protocol.effects import DeliverMessages, Effect, EmitEvent
from claude_actors.protocol.framing import LineDiscarded, LineGrowing
from claude_actors.wire.codec import (
    ControlCancel,
    ControlRequest,
    ControlResponse,
    Conversation,
    Frame,
    KeepAlive,
    Malformed,
)
from claude_actors.wire.control import CanUseTool, HookCallback, McpMessage

if TYPE_CHECKING:
    from claude_actors.protocol.machine import SessionMachine

# What proves that the CLI has accepted initialize, even where its answer is still on the way.
_PROOFS = (HookCallback, CanUseTool, McpMessage)
# The conversation frames that the session itself reads; assistant and user frames matter to stall detection only.
_TELLING = frozenset({"result", "system", "command_lifecycle"})
_TOOL_FRAMES = frozenset({"assistant", "user"})


class FrameReader:
    """Routes frames for one machine."""

    def __init__(self, machine: SessionMachine) -> None:
        self._machine = machine
        self._follow_tools = machine.config.stall_after is not None

    def read(
        self, frames: list[Frame | list[bytes] | LineDiscarded | LineGrowing], now: float, out: list[Effect]
    ) -> None:
        """Take in a batch; conversation lines that stand together are delivered together, in order."""
        lines: list[bytes] = []
        observe, follow_tools = self._machine.conversation.observe, self._follow_tools
        for frame in frames:
            if type(frame) is list:
                lines = lines + frame if lines else frame
                if follow_tools:
                    for line in frame:
                        self._machine.conversation.observe_tools(line)
                continue
            if type(frame) is Conversation:
                lines.append(frame.line)
                if frame.type in _TELLING:
                    # Delivered first, so that who is woken by the effects finds the message in its mailbox.
                    lines = self._deliver(lines, out)
                    observe(frame, out)
                elif follow_tools and frame.type in _TOOL_FRAMES:
                    self._machine.conversation.observe_tools(frame.line)
                continue
            if lines:
                lines = self._deliver(lines, out)
            self._other(frame, now, out)
            if self._machine.state.is_final:
                return
        if lines:
            self._deliver(lines, out)

    def _deliver(self, lines: list[bytes], out: list[Effect]) -> list[bytes]:
        self._machine.counters.messages += len(lines)
        out.append(DeliverMessages(lines))
        return []

    def _other(self, frame: Frame | list[bytes] | LineDiscarded | LineGrowing, now: float, out: list[Effect]) -> None:
        machine = self._machine
        match frame:
            case ControlRequest():
                if isinstance(frame.request, _PROOFS):
                    machine.confirm(now, out)
                machine.callbacks.requested(frame, now, out)
            case ControlResponse():
                machine.responded(frame, now, out)
            case ControlCancel():
                machine.callbacks.cancelled(frame.request_id, out)
            case Malformed():
                self._malformed(frame, now, out)
            case LineDiscarded():
                machine.counters.discarded_lines += 1
                out.append(EmitEvent(events.LineDiscarded(frame.size, machine.config.max_line_bytes)))
            case LineGrowing():
                out.append(EmitEvent(events.LineGrowing(frame.size)))
            case KeepAlive() | Conversation() | list():
                pass
            case _:
                assert_never(frame)

    def _malformed(self, frame: Malformed, now: float, out: list[Effect]) -> None:
        self._machine.counters.junk_lines += 1
        if frame.request_id is not None and frame.frame_type == "control_request":
            self._machine.callbacks.malformed(frame.request_id, frame.reason, out)
        elif frame.request_id is not None and frame.frame_type == "control_response":
            unreadable = ControlResponse(frame.request_id, success=False, error=f"unreadable response: {frame.reason}")
            self._machine.responded(unreadable, now, out)
        start = frame.line_start.decode("utf-8", "replace")
        out.append(EmitEvent(events.JunkSeen(frame.reason, start, frame.request_id)))
