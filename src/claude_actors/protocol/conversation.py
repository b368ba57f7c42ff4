"""What the session reads off conversation frames: its id, the CLI's state, turns, background tasks, running tools.

Only the envelope is looked at; the frames themselves go to the consumers as they came.
"""

from __future__ import annotations

import msgspec

from claude_actors import events
from claude_actors.errors import TurnFailed
from claude_actors.protocol.counters import Counters
from claude_actors.protocol.effects import CompleteTurn, Effect, EmitEvent, RefuseTurn
from claude_actors.protocol.turns import TurnTable
from claude_actors.wire.codec import Conversation

_TRACKED = 1_000
_TASK_OVER = frozenset({"completed", "failed", "stopped", "killed", "cancelled"})


class _Block(msgspec.Struct):
    type: str = ""
    id: str | None = None
    tool_use_id: str | None = None


class _Content(msgspec.Struct):
    content: list[_Block] | str = ""


class _ToolFrame(msgspec.Struct):
    message: _Content


_tool_frames = msgspec.json.Decoder(_ToolFrame)


class ConversationTracker:
    """Follows the conversation as far as the session's own decisions need it."""

    def __init__(self, *, turns: TurnTable, counters: Counters) -> None:
        self.session_id: str | None = None
        self.cli_state: str | None = None
        self.running_tasks: set[str] = set()
        self.running_tools: set[str] = set()
        self._turns = turns
        self._counters = counters

    def observe(self, frame: Conversation, out: list[Effect]) -> None:
        """Take in one frame that may matter; which ones come here is the reader's choice."""
        match frame.type:
            case "result":
                self._result(frame, out)
            case "system":
                self._system(frame, out)
            case "command_lifecycle":
                self._command(frame, out)
            case "assistant" | "user":
                self._tools(frame)
            case _:
                pass

    def _result(self, frame: Conversation, out: list[Effect]) -> None:
        self.session_id = frame.session_id or self.session_id
        self.running_tools.clear()
        for uuid in self._turns.finish(frame.user_message_uuid, frame.user_message_uuids or ()):
            self._counters.turns_finished += 1
            out.append(CompleteTurn(uuid, frame.line))
            out.append(EmitEvent(events.TurnFinished(uuid, frame.subtype, bool(frame.is_error))))

    def _system(self, frame: Conversation, out: list[Effect]) -> None:
        match frame.subtype:
            case "init":
                self.session_id = frame.session_id or self.session_id
                self._started(None, out)
            case "session_state_changed" if frame.state is not None and frame.state != self.cli_state:
                self.cli_state = frame.state
                out.append(EmitEvent(events.StateChanged(frame.state)))
            case "task_started" if frame.task_id is not None and len(self.running_tasks) < _TRACKED:
                self.running_tasks.add(frame.task_id)
            case "task_notification" | "task_updated" if frame.task_id is not None and frame.status in _TASK_OVER:
                self.running_tasks.discard(frame.task_id)
            case _:
                pass

    def _command(self, frame: Conversation, out: list[Effect]) -> None:
        if frame.command_uuid is None:
            return
        if frame.state == "started":
            self._started(frame.command_uuid, out)
        elif frame.state == "cancelled" and self._turns.discard(frame.command_uuid):
            # The CLI dropped a prompt that it had only queued: no result will ever name it.
            error = TurnFailed(subtype="cancelled", reason="the prompt was withdrawn before its turn began")
            out.append(RefuseTurn(frame.command_uuid, error))

    def _started(self, uuid: str | None, out: list[Effect]) -> None:
        started = self._turns.started(uuid)
        if started is not None:
            out.append(EmitEvent(events.TurnStarted(started)))

    def _tools(self, frame: Conversation) -> None:
        if b"tool_use" not in frame.line:
            return
        try:
            content = _tool_frames.decode(frame.line).message.content
        except msgspec.MsgspecError:
            return
        for block in content if isinstance(content, list) else ():
            if block.type == "tool_use" and block.id is not None and len(self.running_tools) < _TRACKED:
                self.running_tools.add(block.id)
            elif block.tool_use_id is not None:
                self.running_tools.discard(block.tool_use_id)
