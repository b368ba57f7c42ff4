"""What the session reads off conversation frames: its id, the CLI's state, turns, background tasks, running tools.

Only the envelope is looked at, and the rest of a line where a rare frame keeps there what matters. The frames
themselves go to the consumers as they came.
"""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

from claude_actors import events
from claude_actors.errors import TurnFailed
from claude_actors.protocol.counters import Counters
from claude_actors.protocol.effects import CompleteTurn, Effect, EmitEvent, RefuseTurn
from claude_actors.protocol.turns import OpenTurn, TurnTable
from claude_actors.wire.codec import Conversation

S = TypeVar("S", bound=msgspec.Struct)

_TRACKED: Final = 1_000
_TASK_OVER: Final = frozenset({"completed", "failed", "stopped", "killed", "cancelled"})


class _Block(msgspec.Struct, frozen=True):
    type: str = ""
    id: str | None = None
    tool_use_id: str | None = None


class _Content(msgspec.Struct, frozen=True):
    content: list[_Block] | str = ""


class _ToolFrame(msgspec.Struct, frozen=True):
    message: _Content = _Content()


class _Patch(msgspec.Struct, frozen=True):
    status: str | None = None


class _TaskFrame(msgspec.Struct, frozen=True):
    patch: _Patch = _Patch()


class _Origin(msgspec.Struct, frozen=True):
    kind: str = "human"


class _ResultFrame(msgspec.Struct, frozen=True):
    origin: _Origin | None = None


_tool_frames: Final = msgspec.json.Decoder(_ToolFrame)
_task_frames: Final = msgspec.json.Decoder(_TaskFrame)
_result_frames: Final = msgspec.json.Decoder(_ResultFrame)


class ConversationTracker:
    """Follows the conversation as far as the session's own decisions need it."""

    def __init__(self, *, turns: TurnTable, counters: Counters) -> None:
        self.session_id: str | None = None
        self.cli_state: str | None = None
        self.running_tasks: set[str] = set()
        self.running_tools: set[str] = set()
        self._state_is_due = False
        self._turns = turns
        self._counters = counters

    @property
    def is_idle(self) -> bool:
        """Say whether the CLI has nothing to do of its own; one that never tells its state is taken to have none."""
        return self.cli_state is None or (self.cli_state == "idle" and not self._state_is_due)

    def observe(self, frame: Conversation, out: list[Effect]) -> None:
        """Take in a result, a system frame or a word on a prompt; other frames do not come here."""
        if frame.type == "result":
            self._result(frame, out)
        elif frame.type == "system":
            self._system(frame, out)
        else:
            self._command(frame, out)

    def observe_tools(self, line: bytes) -> None:
        """Take in which tools an assistant's or a user's line starts or ends."""
        if b"tool_use" not in line:
            return
        content = _read(_tool_frames, line, _ToolFrame()).message.content
        for block in content if isinstance(content, list) else ():
            if block.type == "tool_use" and block.id is not None and len(self.running_tools) < _TRACKED:
                self.running_tools.add(block.id)
            elif block.tool_use_id is not None:
                self.running_tools.discard(block.tool_use_id)

    def _result(self, frame: Conversation, out: list[Effect]) -> None:
        self.session_id = frame.session_id or self.session_id
        self.running_tools.clear()
        for uuid in self._answered(frame):
            self._counters.turns_finished += 1
            out.append(CompleteTurn(uuid, frame.line))
            out.append(EmitEvent(events.TurnFinished(uuid, frame.subtype, bool(frame.is_error))))
        self._refuse_what_is_over(out)

    def _answered(self, frame: Conversation) -> list[str]:
        names = [*(frame.user_message_uuids or ())]
        if frame.user_message_uuid is not None:
            names.append(frame.user_message_uuid)
        if names:
            self._turns.names_prompts()
            return self._turns.finish(names)
        origin = _read(_result_frames, frame.line, _ResultFrame()).origin
        # Another origin than a person is a turn that the CLI began by itself, as after a background task.
        return self._turns.finish_oldest() if origin is None or origin.kind == "human" else []

    def _system(self, frame: Conversation, out: list[Effect]) -> None:
        if frame.user_message_uuids:
            self._turns.names_prompts()
        match frame.subtype:
            case "init":
                self.session_id = frame.session_id or self.session_id
                self._started(None, out)
            case "session_state_changed" if frame.state is not None:
                self._state(frame.state, out)
            case "task_started" if frame.task_id is not None and len(self.running_tasks) < _TRACKED:
                self.running_tasks.add(frame.task_id)
            case "task_notification" if frame.task_id is not None and frame.status in _TASK_OVER:
                self._task_ended(frame.task_id)
            case "task_updated" if frame.task_id is not None:
                # Some tasks end with this only, and its status is inside the patch.
                if _read(_task_frames, frame.line, _TaskFrame()).patch.status in _TASK_OVER:
                    self._task_ended(frame.task_id)
            case _:
                pass

    def _state(self, state: str, out: list[Effect]) -> None:
        self._state_is_due = False
        if state == "idle":
            self._refuse_what_is_over(out)
        if state != self.cli_state:
            self.cli_state = state
            out.append(EmitEvent(events.StateChanged(state)))

    def _task_ended(self, task_id: str) -> None:
        self.running_tasks.discard(task_id)
        # Seen: the CLI tells its state after every end of a task, mostly "running", for a turn of its own about it.
        self._state_is_due = True

    def _command(self, frame: Conversation, out: list[Effect]) -> None:
        if frame.command_uuid is None:
            return
        self._turns.names_prompts()
        if frame.state == "started":
            self._started(frame.command_uuid, out)
        elif frame.state in ("cancelled", "completed"):
            # Mostly the result has come before. Seen without one: a prompt that was taken back from the queue, and one
            # that an earlier process of the same conversation had. Seen before its result: one taken into a turn.
            turn = self._turns.end(frame.command_uuid)
            if turn is not None:
                _refuse(turn, frame.state, out)

    def _refuse_what_is_over(self, out: list[Effect]) -> None:
        for turn in self._turns.take_over():
            _refuse(turn, "ended", out)

    def _started(self, uuid: str | None, out: list[Effect]) -> None:
        started = self._turns.started(uuid)
        if started is not None:
            out.append(EmitEvent(events.TurnStarted(started)))


def _refuse(turn: OpenTurn, how: str, out: list[Effect]) -> None:
    reason = f"the CLI says that the prompt is {how} and gave no result for it"
    out.append(RefuseTurn(turn.uuid, TurnFailed(subtype=how, reason=reason)))
    out.append(EmitEvent(events.TurnUnanswered(turn.uuid, reason, turn.started)))


def _read(decoder: msgspec.json.Decoder[S], line: bytes, otherwise: S) -> S:
    try:
        return decoder.decode(line)
    except msgspec.MsgspecError:
        return otherwise
