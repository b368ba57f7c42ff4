"""The state of one fake CLI process, and where each input frame goes."""

from __future__ import annotations

import json
import os

from claude_actors.testing.fake_cli.channel import Channel, Exit, new_uuid
from claude_actors.testing.fake_cli.controls import Controls
from claude_actors.testing.fake_cli.files import Files
from claude_actors.testing.fake_cli.frames import resolve_model
from claude_actors.testing.fake_cli.hooks import Hooks
from claude_actors.testing.fake_cli.limits import Limits
from claude_actors.testing.fake_cli.mcp import McpClients
from claude_actors.testing.fake_cli.permissions import Permissions
from claude_actors.testing.fake_cli.pump import Gates, Pump
from claude_actors.testing.fake_cli.requests import Requests
from claude_actors.testing.fake_cli.sessions import SessionStore
from claude_actors.testing.fake_cli.state import Interrupted, Prompt
from claude_actors.testing.fake_cli.steps import Steps
from claude_actors.testing.fake_cli.tasks import Tasks
from claude_actors.testing.replies import ReplyQueue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from claude_actors.testing.fake_cli.argv import Flags
    from claude_actors.testing.fake_cli.channel import Recorder
    from claude_actors.testing.fake_cli.state import Agent, Turn


class Cli:
    """Everything that one process knows."""

    def __init__(self, directory: str, script: dict[str, Any], flags: Flags, recorder: Recorder) -> None:
        self.script, self.flags, self.recorder = script, flags, recorder
        self.cwd = os.getcwd()
        self.channel = Channel(recorder)
        self.pump = Pump()
        self.gates = Gates(os.path.join(directory, "gates"), self.pump)
        self.requests = Requests(self.channel, self.pump)
        self.hooks = Hooks(self)
        self.mcp = McpClients(self.requests)
        self.store = SessionStore(os.path.join(directory, "sessions"), self.cwd)
        self.files = Files(self)
        self.permissions = Permissions(self)
        self.controls = Controls(self)
        self.tasks = Tasks(self)
        self.run_steps = Steps(self).run
        self.replies = ReplyQueue([(reply["when"], reply["times"]) for reply in script["replies"]])
        self.default_model: str = resolve_model(flags.get("--model"), script["model"])
        self.model = self.default_model
        self.session_id = flags.get("--session-id") or new_uuid()
        self.prompts: list[Prompt] = []
        self.turn: Turn | None = None
        self.agent: Agent | None = None
        self._seen: dict[str, bool] = {}  # uuids of prompts, and whether an earlier process had them
        self.contexts: list[str] = []  # what hooks add to the next request
        self.messages = 0
        self.input_tokens = self.output_tokens = 0
        self.results = 0
        self.last_result_failed = False
        self.ignore_eof = False
        self.agents: dict[str, Any] = {}
        schema = flags.get("--json-schema")
        self.json_schema: Any = json.loads(schema) if schema else None
        self.forwards_subagents = flags.has("--forward-subagent-text")
        self.limits = Limits(self)

    # --- output ---

    def emit(self, frame: dict[str, Any]) -> None:
        """Write a conversation frame under this session's id and a uuid of its own."""
        frame.setdefault("session_id", self.session_id)
        frame.setdefault("uuid", new_uuid())
        self.channel.write(frame)

    def emit_system(self, subtype: str, **fields: Any) -> None:
        """Write a system frame."""
        self.emit({"type": "system", "subtype": subtype, **fields})

    def emit_state(self, state: str) -> None:
        """Tell the session's state, if the other side asked for that."""
        if os.environ.get("CLAUDE_CODE_SDK_READS_SESSION_STATE"):
            self.emit_system("session_state_changed", state=state, sdk_host_only=True)

    def emit_lifecycle(self, uuid: str | None, state: str) -> None:
        """Tell how a prompt that came with a uuid fares."""
        if uuid is not None:
            self.emit({"type": "command_lifecycle", "command_uuid": uuid, "state": state})

    # --- input ---

    def read_input(self) -> None:
        """Read standard input once; the pump calls this."""
        if not self.channel.read(self.handle):
            self.pump.unwatch(0)

    def handle(self, frame: dict[str, Any]) -> None:
        """Take one frame from the other side."""
        kind = frame.get("type")
        if kind == "control_response":
            self.requests.settle(frame.get("response") or {})
        elif kind == "control_request":
            if not isinstance(frame.get("request"), dict):
                raise Exit(1, "Error: Missing request on control_request")
            self.controls.serve(str(frame.get("request_id")), frame["request"])
        elif kind == "user":
            self._take_prompt(frame)

    def _take_prompt(self, frame: dict[str, Any]) -> None:
        message = frame.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(message, dict) or role != "user":
            raise Exit(1, f"Error: Expected message role 'user', got '{role or 'undefined'}'")
        prompt = Prompt(message.get("content"), frame.get("uuid"), verbatim=frame.get("client_composed") is True)
        if self._known(prompt.uuid):
            return
        if self.turn is None and not self.prompts:
            self.emit_state("running")
        self.emit_lifecycle(prompt.uuid, "queued")
        self.prompts.append(prompt)

    def _known(self, uuid: str | None) -> bool:
        """Say whether a prompt of this uuid was there already: the real CLI takes each only once."""
        if uuid is None:
            return False
        if uuid not in self._seen:
            self._seen[uuid] = False
            return False
        if self._seen[uuid]:
            self.emit_lifecycle(uuid, "completed")
        return True

    # --- waiting ---

    def wait(self, done: Callable[[], bool], deadline: float | None = None) -> bool:
        """Wait in a turn or outside of one; raises `Interrupted` when the turn is interrupted meanwhile."""
        reached = self.pump.wait(lambda: self.interrupted or done(), deadline)
        if self.interrupted:
            raise Interrupted
        return reached

    def check_interrupt(self) -> None:
        """Serve the input that is there, and stop here if it interrupts the turn."""
        self.pump.poll()
        if self.interrupted:
            raise Interrupted

    @property
    def interrupted(self) -> bool:
        """Say whether the running turn was told to end."""
        return self.turn is not None and self.turn.interrupted

    def wait_gate(self, name: str) -> None:
        """Wait until a gate opens."""
        opened: list[bool] = []
        leave = self.gates.when_open(name, lambda: opened.append(True))
        try:
            self.wait(lambda: bool(opened))
        finally:
            leave()

    # --- facts ---

    def hook_input(self, event: str) -> dict[str, Any]:
        """Build what every hook input has in common."""
        found: dict[str, Any] = {
            "session_id": self.session_id,
            "transcript_path": self.store.path(self.session_id),
            "cwd": self.cwd,
        }
        if self.turn is not None:
            found["prompt_id"] = self.turn.prompt_id
        if self.agent is not None:
            found.update(agent_id=self.agent.id, agent_type=self.agent.kind)
        return {**found, "permission_mode": self.permissions.mode, "hook_event_name": event}

    def take_up(self, session_id: str, entries: list[dict[str, Any]]) -> None:
        """Go on with an earlier conversation, at the reply where it stopped; under a new id if it is a fork."""
        for entry in entries:
            if entry["kind"] == "reply":
                self.messages += 1
                if entry["script"] == self.script["number"]:
                    self.replies.use(entry["index"])
            elif entry["kind"] == "prompt" and entry["uuid"] is not None:
                self._seen[entry["uuid"]] = True
        if not self.flags.has("--fork-session"):
            self.session_id = session_id
            return
        for entry in entries:
            self.remember(**entry)

    def keep_result_only(self, *, as_json: bool) -> None:
        """Write nothing but the result from here on: as JSON, or as text."""

        def emit(frame: dict[str, Any]) -> None:
            if frame.get("type") != "result":
                return
            if as_json:
                self.channel.write(frame)
            else:
                self.channel.write_bytes((str(frame.get("result") or frame.get("errors")) + "\n").encode())

        self.emit = emit  # type: ignore[method-assign]

    def remember(self, kind: str, **facts: Any) -> None:
        """Write one entry of the conversation to disk."""
        if not self.flags.has("--no-session-persistence"):
            self.store.append(self.session_id, {"kind": kind, **facts})
