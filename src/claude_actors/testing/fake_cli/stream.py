"""One API message on its way out: an assistant frame a block, and the stream events around them if they are wanted."""

from __future__ import annotations

import json
import os
import time

from claude_actors.testing.fake_cli import frames
from claude_actors.testing.fake_cli.channel import new_uuid
from claude_actors.testing.fake_cli.state import Interrupted
from claude_actors.testing.replies import split_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli
    from claude_actors.testing.fake_cli.state import Turn


class Stream:
    """One API message on its way out."""

    def __init__(self, cli: Cli, turn: Turn, reply: dict[str, Any], *, partial: bool) -> None:
        self._cli, self._turn, self._reply, self._partial = cli, turn, reply, partial
        self.message_id = f"msg_{os.urandom(12).hex()}"
        self._index = 0
        self._started = self._in_block = False
        self.text = ""

    def event(self, event: dict[str, Any], **extra: Any) -> None:
        """Write a stream_event frame, if partial messages are wanted."""
        if self._partial:
            ids = {"session_id": self._cli.session_id, "parent_tool_use_id": self._turn.parent}
            self._cli.emit({"type": "stream_event", "event": event, **ids, "api_message_id": self.message_id, **extra})

    def _start(self) -> None:
        if self._started:
            return
        self._started = True
        message: dict[str, Any] = {
            "id": self.message_id,
            "type": "message",
            "role": "assistant",
            "model": self._cli.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": self._reply["input_tokens"], "output_tokens": 1},
        }
        self.event({"type": "message_start", "message": message}, **self._turn.first_mark("stream_event"))

    def block(self, step: dict[str, Any]) -> None:
        """Stream one content block and then write its assistant frame."""
        self._cli.check_interrupt()
        self._start()
        empty, pieces, whole = self._parts(step)
        self.event({"type": "content_block_start", "index": self._index, "content_block": empty})
        streamed = ""
        self._in_block = True
        for number, (kind, key, piece) in enumerate(pieces):
            delta = {"type": kind, key: piece}
            self.event({"type": "content_block_delta", "index": self._index, "delta": delta})
            streamed += piece if kind == "text_delta" else ""
            try:
                if number == 0 and step.get("wait_for"):
                    self._cli.wait_gate(step["wait_for"])
                elif self._partial:
                    self._cli.check_interrupt()
            except Interrupted:
                self._abort(streamed)
                raise
        if self._shows(whole):
            self._cli.emit(self._assistant(self._displayed(whole)))
        self.event({"type": "content_block_stop", "index": self._index})
        self._in_block = False
        self._index += 1

    def _shows(self, block: dict[str, Any]) -> bool:
        """Say whether a block is shown: of a subagent that is waited for, only its tool calls are, unless asked for."""
        agent = self._turn.agent
        forwarded = agent is None or agent.background or self._cli.forwards_subagents
        return forwarded or block.get("type") == "tool_use"

    def _displayed(self, block: dict[str, Any]) -> dict[str, Any]:
        """Ask the hooks how a text shall be shown."""
        if block["type"] != "text" or self._turn.agent is not None:
            return block
        ids = {"turn_id": self._turn.prompt_id, "message_id": new_uuid(), "index": 0, "final": True}
        verdict = self._cli.hooks.run("MessageDisplay", {**ids, "delta": block["text"]}, tool_use_id=new_uuid())
        if verdict.display is None:
            return block
        self.text = verdict.display
        return {**block, "text": verdict.display}

    def _parts(self, step: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str, str]], dict[str, Any]]:
        """Give a block as it starts, as its deltas (type, key, piece), and as a whole."""
        kind = step["step"]
        if kind in ("say", "echo"):
            text = step["text"] if kind == "say" else step["before"] + self._turn.prompt_text + step["after"]
            self.text = text
            pieces = [("text_delta", "text", piece) for piece in split_text(text, step.get("chunks", 1))]
            return {"type": "text", "text": ""}, pieces, {"type": "text", "text": text}
        if kind == "think":
            thinking = {"type": "thinking", "thinking": step["text"], "signature": step["signature"]}
            deltas = [("thinking_delta", "thinking", step["text"]), ("signature_delta", "signature", step["signature"])]
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas, thinking
        if kind == "use_tool":
            tool = {"type": "tool_use", "id": step["id"], "name": step["name"], "input": step["input"]}
            return {**tool, "input": {}}, [("input_json_delta", "partial_json", json.dumps(step["input"]))], tool
        return step["block"], [], step["block"]

    def _assistant(self, block: dict[str, Any]) -> dict[str, Any]:
        frame = frames.assistant(self.message_id, self._cli.model, block, self._reply["input_tokens"])
        frame.update(session_id=self._cli.session_id, parent_tool_use_id=self._turn.parent)
        marks = self._turn.agent.mark() if self._turn.agent is not None else self._turn.first_mark("assistant")
        return {**frame, "timestamp": frames.timestamp(), **marks}

    def _abort(self, streamed: str) -> None:
        if streamed:
            self._cli.emit({**self._assistant({"type": "text", "text": streamed}), "aborted": True})

    def wait_step(self, step: dict[str, Any]) -> None:
        """Do a step between blocks: a wait, or a fault."""
        self._cli.check_interrupt()
        if step["step"] == "pause":
            self._cli.wait(lambda: False, time.monotonic() + step["seconds"])
        else:
            self._cli.run_steps([step])

    @property
    def some_came(self) -> bool:
        """Say whether a whole block came."""
        return self._index > 0

    def abandon(self) -> None:
        """End a stream whose connection broke."""
        if self._started:
            abandoned = {"api_message_id": self.message_id, "from_block_index": self._index}
            self.event({"type": "message_stop"}, abandoned_blocks=abandoned)

    def cut(self) -> None:
        """End a stream that was interrupted."""
        if self._in_block:
            self.event({"type": "content_block_stop", "index": self._index})
            self._index += 1
        if self._started:
            self.event({"type": "message_delta", "delta": {"stop_reason": None, "stop_sequence": None}})
        self.abandon()

    def end(self, stop_reason: str) -> None:
        """End a stream as a whole message."""
        self._start()
        tokens = {"input_tokens": self._reply["input_tokens"], "output_tokens": self._reply["output_tokens"]}
        self.event(
            {"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": None}, "usage": tokens}
        )
        self.event({"type": "message_stop"})
