"""The scripted model: takes the next reply and plays it as the real CLI would show it.

A reply becomes one assistant frame a block, and with `--include-partial-messages` the stream events around them.
"""

from __future__ import annotations

import json
import os
import time

from claude_actors.testing.fake_cli import frames
from claude_actors.testing.fake_cli.cli import Interrupted
from claude_actors.testing.replies import error_type, split_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli
    from claude_actors.testing.fake_cli.turn import Turn

BLOCKS = frozenset(("say", "think", "use_tool", "raw_block", "echo"))
RETRY_NAMES = {401: "authentication_failed", 429: "rate_limit", 529: "overloaded"}


class ApiFailed(Exception):
    """The API refused the request, and trying again is over."""

    def __init__(self, step: dict[str, Any]) -> None:
        self.status: int = step["status"]
        self.type: str = step["type"] or error_type(self.status)
        self.message: str = step["message"] or self.type
        super().__init__(self.message)

    def text(self) -> str:
        """Give the words of the real CLI for it."""
        if self.status == 429:
            return f"API Error: Request rejected (429) · {self.message}"
        if self.status in (401, 403):
            return f"Failed to authenticate. API Error: {self.status} {self.message}"
        if self.status >= 500:
            return (
                f"API Error: {self.status} {self.message}. This is a server-side issue, usually temporary — "
                "try again in a moment."
            )
        return f"API Error: {self.status} {self.message}"


class StreamBroken(Exception):
    """The connection broke in the middle of a reply."""


class Model:
    """Plays replies within one turn. Keeps what the turn's result needs to know of the last one."""

    def __init__(self, cli: Cli, turn: Turn) -> None:
        self._cli, self._turn = cli, turn
        self._partial = cli.flags.has("--include-partial-messages")
        self.text = ""
        self.stop_reason: str | None = None
        self.after_turn: list[dict[str, Any]] = []

    def request(self, last_user_text: str) -> list[dict[str, Any]]:
        """Make one API request, with retries, and give the tool calls of its reply."""
        retries = int(os.environ.get("CLAUDE_CODE_MAX_RETRIES") or 10)
        for attempt in range(1, retries + 2):
            reply = self._next_reply(last_user_text)
            try:
                return self._play(reply)
            except ApiFailed as failed:
                if attempt > retries or failed.status in (400, 403, 404, 413):
                    raise
                self._cli.emit_system(
                    "api_retry",
                    attempt=attempt,
                    max_retries=retries,
                    retry_delay_ms=0,
                    error_status=failed.status,
                    error=RETRY_NAMES.get(failed.status, "server_error"),
                )
        raise AssertionError("the last attempt returns or raises")

    def _next_reply(self, last_user_text: str) -> dict[str, Any]:
        cli = self._cli
        if self._partial:
            cli.emit_system("status", status="requesting", **self._turn.uuids())
        cli.messages += 1
        index = cli.replies.take(last_user_text)
        cli.recorder.note("api_request", model=cli.model, messages=cli.messages, text=last_user_text, reply=index)
        if index is None:
            raise ApiFailed({"status": 400, "type": "", "message": "the script has no reply left for this request"})
        cli.remember("reply", index=index, script=cli.script["number"])
        found: dict[str, Any] = cli.script["replies"][index]
        return found

    def _play(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        cli = self._cli
        self.after_turn = reply["after_turn"]
        self.stop_reason = None
        stream = Stream(cli, self._turn, reply, partial=self._partial)
        tools: list[dict[str, Any]] = []
        for step in reply["steps"]:
            if step["step"] == "api_error":
                raise ApiFailed(step)
            if step["step"] == "broken_stream":
                stream.abandon()
                raise StreamBroken
            if step["step"] == "use_tool":
                step = {**step, "id": step["id"] or f"toolu_{os.urandom(12).hex()}"}
                tools.append(step)
            if step["step"] in BLOCKS:
                stream.block(step)
            else:
                stream.wait_step(step)
        self.text = stream.text
        self.stop_reason = reply["stop_reason"] or ("tool_use" if tools else "end_turn")
        stream.end(self.stop_reason)
        cli.input_tokens += reply["input_tokens"]
        cli.output_tokens += reply["output_tokens"]
        self._turn.input_tokens += reply["input_tokens"]
        self._turn.output_tokens += reply["output_tokens"]
        return tools


class Stream:
    """One API message on its way out."""

    def __init__(self, cli: Cli, turn: Turn, reply: dict[str, Any], *, partial: bool) -> None:
        self._cli, self._turn, self._reply, self._partial = cli, turn, reply, partial
        self.message_id = f"msg_{os.urandom(12).hex()}"
        self._index = 0
        self._started = False
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
        self._cli.emit(self._assistant(whole))
        self.event({"type": "content_block_stop", "index": self._index})
        self._index += 1

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
        return {**frame, "timestamp": frames.timestamp(), **self._turn.first_mark("assistant")}

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

    def abandon(self) -> None:
        """End a stream whose connection broke."""
        if self._started:
            abandoned = {"api_message_id": self.message_id, "from_block_index": self._index}
            self.event({"type": "message_stop"}, abandoned_blocks=abandoned)

    def end(self, stop_reason: str) -> None:
        """End a stream as a whole message."""
        self._start()
        tokens = {"input_tokens": self._reply["input_tokens"], "output_tokens": self._reply["output_tokens"]}
        self.event(
            {"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": None}, "usage": tokens}
        )
        self.event({"type": "message_stop"})
