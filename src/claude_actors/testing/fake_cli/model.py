"""The scripted model: takes the next reply and plays it as the real CLI would show it, trying again where that does."""

from __future__ import annotations

import os

from claude_actors.testing.fake_cli.failures import ApiFailed, StreamBroken
from claude_actors.testing.fake_cli.stream import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli
    from claude_actors.testing.fake_cli.state import Turn

BLOCKS = frozenset(("say", "think", "use_tool", "raw_block", "echo"))


class Model:
    """Plays replies within one turn. Keeps what the turn's result needs to know of the last one."""

    def __init__(self, cli: Cli, turn: Turn) -> None:
        self._cli, self._turn = cli, turn
        self._partial = cli.flags.has("--include-partial-messages")
        self.text = ""
        self.stop_reason: str | None = None
        self.after_turn: list[dict[str, Any]] = []
        self._stream: Stream | None = None

    def request(self, last_user_text: str) -> list[dict[str, Any]]:
        """Make one API request, with retries, and give the tool calls of its reply."""
        retries = int(os.environ.get("CLAUDE_CODE_MAX_RETRIES") or 10)
        for attempt in range(1, retries + 2):
            reply = self._next_reply(last_user_text)
            try:
                return self._play(reply)
            except ApiFailed as failed:
                failed.used_up = self._cli.limits.used_up if failed.status == 429 else None
                self._cli.limits.tell()
                if attempt > retries or not failed.may_pass:
                    raise
                told: dict[str, Any] = {"error_status": failed.status, "error": failed.retry_name()}
            except StreamBroken as broken:
                if broken.some_came or attempt > retries:
                    raise
                told = {"error_status": None, "error": "unknown"}
            counted = {"attempt": attempt, "max_retries": retries, "retry_delay_ms": 0}
            self._cli.emit_system("api_retry", **counted, **told)
        raise AssertionError("the last attempt returns or raises")

    def request_quietly(self, last_user_text: str) -> str:
        """Make one API request of which nothing is shown, and give its text."""
        reply = self._next_reply(last_user_text)
        self._count(reply)
        return "".join(step["text"] for step in reply["steps"] if step["step"] == "say")

    def close_stream(self) -> None:
        """End the stream that an interrupt has cut."""
        if self._stream is not None:
            self._stream.cut()

    def _next_reply(self, last_user_text: str) -> dict[str, Any]:
        cli = self._cli
        if self._partial:
            cli.emit_system("status", status="requesting", **self._turn.uuids())
        cli.messages += 1
        index = cli.replies.take(last_user_text)
        context, cli.contexts[:] = list(cli.contexts), []
        facts = {"model": cli.model, "messages": cli.messages, "text": last_user_text, "context": context}
        cli.recorder.note("api_request", **facts, reply=index)
        if index is None:
            raise ApiFailed({"status": 400, "type": "", "message": "the script has no reply left for this request"})
        cli.remember("reply", index=index, script=cli.script["number"])
        found: dict[str, Any] = cli.script["replies"][index]
        return found

    def _play(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        cli = self._cli
        self.after_turn = reply["after_turn"]
        self.stop_reason = None
        stream = self._stream = Stream(cli, self._turn, reply, partial=self._partial)
        tools: list[dict[str, Any]] = []
        for step in reply["steps"]:
            if step["step"] == "api_error":
                raise ApiFailed(step)
            if step["step"] == "broken_stream":
                stream.abandon()
                raise StreamBroken(some_came=stream.some_came)
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
        self._cli.limits.tell()
        self._stream = None
        self._count(reply)
        return tools

    def _count(self, reply: dict[str, Any]) -> None:
        self._cli.input_tokens += reply["input_tokens"]
        self._cli.output_tokens += reply["output_tokens"]
        self._turn.input_tokens += reply["input_tokens"]
        self._turn.output_tokens += reply["output_tokens"]
