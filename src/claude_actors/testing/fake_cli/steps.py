"""The fake-only steps: faults, oddities, and requests out of turn."""

from __future__ import annotations

import os
import signal
import time

from claude_actors.testing.fake_cli import frames
from claude_actors.testing.fake_cli.channel import Exit, new_uuid, to_line, write_stderr
from claude_actors.testing.fake_cli.hooks import hook_request
from claude_actors.testing.fake_cli.mcp import mcp_request
from claude_actors.testing.fake_cli.permissions import permission_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli

FLOOD_SLICE = 64
MIXED = ("stream_event",) * 20 + ("assistant",) * 3 + ("tool_result",) * 2


class Steps:
    """Performs steps, each by the method of its name."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli

    def run(self, steps: list[dict[str, Any]]) -> None:
        """Perform steps in order."""
        for step in steps:
            perform: Callable[[dict[str, Any]], None] | None = getattr(self, f"do_{step['step']}", None)
            if perform is None:
                raise Exit(70, f"fake CLI: the step {step['step']!r} cannot stand here")
            self._cli.recorder.note("step", step=step["step"])
            perform(step)

    # --- pace ---

    def do_wait_for(self, step: dict[str, Any]) -> None:
        """Wait for a gate."""
        self._cli.wait_gate(step["gate"])

    def do_pause(self, step: dict[str, Any]) -> None:
        """Wait for some time."""
        self._cli.wait(lambda: False, time.monotonic() + step["seconds"])

    # --- output ---

    def do_flood(self, step: dict[str, Any]) -> None:
        """Write many frames, looking at the input now and then."""
        cli = self._cli
        kinds = MIXED if step["kind"] == "mixed" else (step["kind"],)
        lines = [to_line(filler(kind, step["size"], cli.session_id)) for kind in kinds]
        left = step["count"]
        number = 0
        while left > 0:
            batch = [lines[(number + index) % len(lines)] for index in range(min(left, FLOOD_SLICE))]
            cli.channel.write_bytes(b"".join(batch))
            left, number = left - len(batch), number + len(batch)
            cli.check_interrupt()

    def do_emit(self, step: dict[str, Any]) -> None:
        """Write a frame as it is."""
        self._cli.channel.write(step["frame"])

    def do_junk(self, step: dict[str, Any]) -> None:
        """Write what is no frame."""
        from binascii import a2b_base64

        data = step["text"].encode("utf-8", "surrogateescape") + a2b_base64(step["data"])
        self._cli.channel.write_bytes(data + (b"\n" if step["newline"] else b""))

    def do_huge_line(self, step: dict[str, Any]) -> None:
        """Write one valid line of an exact length."""
        bare = len(to_line(filler("assistant", 0, self._cli.session_id))) - 1
        frame = filler("assistant", 0, self._cli.session_id, "x" * max(0, step["size"] - bare))
        self._cli.channel.write(frame)

    def do_stderr(self, step: dict[str, Any]) -> None:
        """Write lines on standard error."""
        for line in step["lines"]:
            write_stderr(line)

    def do_close_stdout(self, step: dict[str, Any]) -> None:
        """Close standard output."""
        self._cli.channel.close_stdout()

    def do_close_stdin(self, step: dict[str, Any]) -> None:
        """Close standard input and live on."""
        self._cli.pump.unwatch(0)
        self._cli.ignore_eof = True
        os.close(0)

    # --- life and death ---

    def do_hang(self, step: dict[str, Any]) -> None:
        """Do nothing for ever."""
        self._cli.pump.hang()

    def do_stop_reading(self, step: dict[str, Any]) -> None:
        """Leave the input alone, until a gate opens if one is named."""
        cli = self._cli
        cli.pump.unwatch(0)
        if step["until"] is not None:
            cli.gates.when_open(step["until"], lambda: cli.pump.watch(0, cli.read_input))

    def do_die(self, step: dict[str, Any]) -> None:
        """Leave at once."""
        if step["signal"] is not None:
            signal.signal(step["signal"], signal.SIG_DFL) if step["signal"] not in (9, 19) else None
            os.kill(os.getpid(), step["signal"])
            signal.pause()
        os._exit(step["code"])

    def do_ignore_term(self, step: dict[str, Any]) -> None:
        """Ignore the polite signals."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def do_ignore_eof(self, step: dict[str, Any]) -> None:
        """Live on after the end of input."""
        self._cli.ignore_eof = True

    def do_spawn_child(self, step: dict[str, Any]) -> None:
        """Start a child that lives until it is killed."""
        ready, told = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(ready)
            _be_child(step, told)
        os.close(told)
        os.read(ready, 1)
        os.close(ready)
        self._cli.recorder.note("child", pid=pid)

    # --- requests out of turn ---

    def do_call_hook(self, step: dict[str, Any]) -> None:
        """Call one hook, or each that is registered for an event."""
        cli = self._cli
        payload = {**cli.hook_input(step["event"]), **step["input"]}
        registered = [callback_id for callback_id, _ in cli.hooks.matching(step["event"], None)]
        for callback_id in registered if step["callback_id"] is None else [step["callback_id"]]:
            self._request(step, hook_request(callback_id, payload, step["tool_use_id"]))

    def do_ask_permission(self, step: dict[str, Any]) -> None:
        """Ask for a permission that nothing depends on."""
        tool_use_id = step["tool_use_id"] or f"toolu_{os.urandom(12).hex()}"
        request = permission_request(step["tool_name"], step["input"], tool_use_id, self._cli.cwd)
        self._request(step, {**request, **step["extra"]})

    def do_call_mcp(self, step: dict[str, Any]) -> None:
        """Send a message to an SDK server."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": step["method"], "params": step["params"]}
        if not step["notification"]:
            message["id"] = f"{os.urandom(4).hex()}:0"
        self._request(step, mcp_request(step["server"], message))

    def do_elicit(self, step: dict[str, Any]) -> None:
        """Ask the user through an MCP server's elicitation."""
        request = {"subtype": "elicitation", "mcp_server_name": step["server"], "message": step["message"]}
        self._request(step, {**request, **step["extra"]})

    def do_request(self, step: dict[str, Any]) -> None:
        """Send any request."""
        self._request(step, {"subtype": step["subtype"], **step["fields"]})

    def _request(self, step: dict[str, Any], request: dict[str, Any]) -> None:
        label = step["label"] or step["step"]
        if step["wait"]:
            self._cli.requests.ask(request, label=label)
            self._cli.check_interrupt()
        else:
            self._cli.requests.send(request, label, on_answer=lambda _: None)

    def do_cancel_request(self, step: dict[str, Any]) -> None:
        """Cancel what is open under a label."""
        for request_id in self._cli.requests.open_ids(step["label"]):
            self._cli.requests.cancel(request_id)

    def do_await_answers(self, step: dict[str, Any]) -> None:
        """Wait until nothing is open under a label, or at all."""
        cli = self._cli
        cli.wait(lambda: not cli.requests.open_ids(step["label"]) or cli.channel.eof)

    def do_background_task(self, step: dict[str, Any]) -> None:
        """Start a background task."""
        self._cli.tasks.start(step)


def filler(kind: str, size: int, session_id: str, text: str | None = None) -> dict[str, Any]:
    """Build a conversation frame of about a size."""
    text = "x" * size if text is None else text
    ids = {"session_id": session_id, "parent_tool_use_id": None, "uuid": new_uuid()}
    if kind == "stream_event":
        delta = {"type": "text_delta", "text": text[: max(1, size - 220)]}
        return {"type": "stream_event", "event": {"type": "content_block_delta", "index": 0, "delta": delta}, **ids}
    if kind == "assistant":
        return {**frames.assistant("msg_flood", "claude-flood", {"type": "text", "text": text}, 10), **ids}
    if kind == "tool_result":
        block = {"tool_use_id": "toolu_flood", "type": "tool_result", "content": text, "is_error": False}
        return {"type": "user", "message": {"role": "user", "content": [block]}, **ids, "tool_use_result": text}
    return {"type": "system", "subtype": "informational", "content": text, "level": "info", **ids}


def _be_child(step: dict[str, Any], told: int) -> None:
    if step["new_session"]:
        os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN if step["ignore_term"] else signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    if not step["hold_stdout"]:
        os.dup2(null, 1)
    os.close(told)
    while True:
        signal.pause()
