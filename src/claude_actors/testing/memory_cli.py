"""A CLI in memory that a test plays by hand, frame by frame: for exact orders and races.

It adds the words of the protocol to `MemoryPort`. Nothing answers by itself: what the test does not say is not said.
Every method may be called from any thread; those that wait have a deadline and raise TimeoutError when it passes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import msgspec

from claude_actors.cli.launch import Launch
from claude_actors.options import Options
from claude_actors.testing.memory_port import DEADLINE, MemoryPort

Frame = dict[str, Any]


class MemoryCLI(MemoryPort):
    """Start a session with `options()` and `wait=False`, `accept()` it, then `ask`, `answer` and `push_frame`."""

    def __init__(self, *, pid: int | None = None, spawn: bool = True, on_stop: str = "exit") -> None:
        super().__init__(pid=pid, spawn=spawn, on_stop=on_stop)
        self.launch: Launch | None = None
        self._request_ids = itertools.count(1)
        self._answers: dict[str, list[Frame]] = {}
        self._read = 0

    def options(self, **changes: Any) -> Options:
        """Make options whose session talks to this CLI; `changes` are further options."""
        return Options(**{"port_factory": self._made_for, **changes})

    def _made_for(self, launch: Launch) -> MemoryCLI:
        self.launch = launch
        return self

    # --- its answers to the session ---

    def accept(self, **info: Any) -> Frame:
        """Wait for initialize and accept it; gives the request. `info` is what the CLI says of itself."""
        frame = self.requested("initialize")
        self.answer(frame, info)
        request: Frame = frame["request"]
        return request

    def requested(self, subtype: str, timeout: float = DEADLINE) -> Frame:
        """Wait for the next control request of this kind; what was written before it is passed over."""
        return self.frame_of(lambda frame: frame.get("request", {}).get("subtype") == subtype, timeout)

    def prompted(self, timeout: float = DEADLINE) -> Frame:
        """Wait for the next prompt; what was written before it is passed over."""
        return self.frame_of(lambda frame: frame["type"] == "user", timeout)

    def answer(self, request: Frame | str, payload: Mapping[str, Any] | None = None) -> None:
        """Answer a control request, given as its frame or its id, with success."""
        self._respond(request, {"subtype": "success", **({} if payload is None else {"response": dict(payload)})})

    def refuse(self, request: Frame | str, error: str, **more: Any) -> None:
        """Answer a control request with an error."""
        self._respond(request, {"subtype": "error", "error": error, **more})

    def finish_turn(self, prompt: Frame | str, **fields: Any) -> None:
        """Give a prompt, named by its frame or its uuid, its result."""
        uuid = prompt if isinstance(prompt, str) else prompt["uuid"]
        result = {"type": "result", "subtype": "success", "is_error": False, "result": "done", "num_turns": 1}
        self.push_frame({**result, "session_id": "memory", "user_message_uuid": uuid, **fields})

    def _respond(self, request: Frame | str, body: Frame) -> None:
        request_id = request if isinstance(request, str) else request["request_id"]
        self.push_frame({"type": "control_response", "response": {**body, "request_id": request_id}})

    # --- its own requests ---

    def ask(self, subtype: str, *, request_id: str | None = None, **fields: Any) -> str:
        """Send a control request and give its id."""
        request_id = request_id or f"cli_{next(self._request_ids)}"
        request = {"subtype": subtype, **fields}
        self.push_frame({"type": "control_request", "request_id": request_id, "request": request})
        return request_id

    def call_hook(self, callback_id: str = "hook_0", event: str = "PreToolUse", **fields: Any) -> str:
        """Call a hook; `fields` are those of its input."""
        common: Frame = {"session_id": "memory", "transcript_path": "", "cwd": "/", "hook_event_name": event}
        if event == "PreToolUse":
            common |= {"tool_name": "Bash", "tool_input": {}, "tool_use_id": "toolu_1"}
        return self.ask("hook_callback", callback_id=callback_id, input={**common, **fields})

    def ask_permission(self, tool_name: str = "Bash", tool_input: Mapping[str, Any] | None = None) -> str:
        """Ask whether a tool may run."""
        return self.ask("can_use_tool", tool_name=tool_name, input=dict(tool_input or {}), tool_use_id="toolu_1")

    def call_mcp(self, server: str, method: str, **params: Any) -> str:
        """Send a JSON-RPC request to an in-process server."""
        message = {"jsonrpc": "2.0", "id": "1:0", "method": method, "params": params}
        return self.ask("mcp_message", server_name=server, message=message)

    def withdraw(self, request_id: str) -> None:
        """Take a request of this CLI back."""
        self.push_frame({"type": "control_cancel_request", "request_id": request_id})

    def answers(self, request_id: str) -> list[Frame]:
        """Give every answer that was written so far to a request of this CLI."""
        with self._changed:
            self._read_answers()
            return list(self._answers.get(request_id, ()))

    def answered(self, request_id: str, timeout: float = DEADLINE) -> Frame:
        """Wait for the first answer to a request of this CLI: `subtype`, and `response` or `error`."""

        def has_answer() -> bool:
            self._read_answers()
            return request_id in self._answers

        with self._changed:
            self._wait(has_answer, timeout, f"an answer to {request_id}")
            return self._answers[request_id][0]

    def _read_answers(self) -> None:
        for line in self._written[self._read :]:
            frame = msgspec.json.decode(line)
            if frame.get("type") == "control_response":
                self._answers.setdefault(frame["response"]["request_id"], []).append(frame["response"])
        self._read = len(self._written)
