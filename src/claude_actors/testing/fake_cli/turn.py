"""The agent loop: one prompt from its start to its result frame, in the order of the real CLI."""

from __future__ import annotations

import time

from claude_actors.testing.fake_cli import frames, results
from claude_actors.testing.fake_cli.channel import new_uuid
from claude_actors.testing.fake_cli.cli import Interrupted, text_of
from claude_actors.testing.fake_cli.model import ApiFailed, Model, StreamBroken
from claude_actors.testing.fake_cli.tools import ToolRunner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli, Prompt

CUT_OFF = (
    "Your response above was cut off mid-stream. Resume directly from where it stops — no apology, no recap. "
    "If none of it survived, answer the request from the start."
)
INTERRUPTED = "[Request interrupted by user]"
INTERRUPTED_TOOL = "[Request interrupted by user for tool use]"


class TurnEnded(Exception):
    """The turn ends here, with this kind of result."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Turn:
    """What is known of the turn that runs."""

    def __init__(self, prompt: Prompt) -> None:
        self.prompts = [prompt]
        self.prompt_id = new_uuid()
        self.parent: str | None = None
        self.prompt_text = prompt.text
        self.interrupted = False
        self.in_tools = False
        self.user_frames = 0
        self.rounds = 0
        self.input_tokens = self.output_tokens = 0
        self.denials: list[dict[str, Any]] = []
        self.started = time.monotonic()
        self.structured: Any = None
        self._marked: set[str] = set()

    def uuids(self) -> dict[str, Any]:
        """Give the ids of the prompts of this turn, if they came with any."""
        found = [prompt.uuid for prompt in self.prompts if prompt.uuid is not None]
        return {"user_message_uuids": found} if found else {}

    def first_mark(self, kind: str) -> dict[str, Any]:
        """Give the prompt's ids for the first frame of a kind, and nothing for later ones."""
        found = self.uuids()
        if kind in self._marked or not found:
            return {}
        self._marked.add(kind)
        return {"user_message_uuid": found["user_message_uuids"][0], **found}


class TurnRunner:
    """Runs one turn."""

    def __init__(self, cli: Cli, prompt: Prompt) -> None:
        self._cli = cli
        self.turn = Turn(prompt)
        self.model = Model(cli, self.turn)
        self.tools = ToolRunner(cli, self.turn, self)
        self._stop_hook_active = False

    def run(self) -> None:
        """Run from the prompt to its result."""
        cli, turn = self._cli, self.turn
        prompt = turn.prompts[0]
        cli.turn = turn
        cli.emit_lifecycle(prompt.uuid, "started")
        cli.files.begin_prompt(prompt.uuid)
        cli.pump.wait(lambda: not cli.mcp.connecting() or cli.channel.eof)
        result = self._until_result(prompt)
        cli.turn = None
        for absorbed in turn.prompts[1:]:
            cli.emit_lifecycle(absorbed.uuid, "completed")
        cli.emit(result)
        cli.results += 1
        cli.last_result_failed = bool(result["is_error"])
        cli.remember("result", subtype=result["subtype"])
        cancelled = result["is_error"] and result["subtype"] != "error_max_turns"
        cli.emit_lifecycle(prompt.uuid, "cancelled" if cancelled else "completed")
        if not cli.prompts:
            cli.emit_state("idle")
        cli.run_steps(self.model.after_turn)

    def _until_result(self, prompt: Prompt) -> dict[str, Any]:
        try:
            refusal = self._submit(prompt)
            if refusal is not None:
                return results.refused(self._cli, self.turn, refusal)
            self._converse(prompt.text)
        except Interrupted:
            return self._interrupted()
        except ApiFailed as failed:
            return self._api_failed(failed)
        except TurnEnded as ended:
            return results.ended(self._cli, self.turn, self.model, ended.kind)
        return results.success(self._cli, self.turn, self.model)

    # --- the start ---

    def _submit(self, prompt: Prompt) -> str | None:
        """Ask the UserPromptSubmit hooks; gives the words of the one that refuses."""
        cli = self._cli
        verdict = cli.hooks.run("UserPromptSubmit", {"prompt": prompt.text}, tool_use_id=new_uuid())
        if cli.interrupted:
            raise Interrupted
        if verdict.blocked is not None:
            text = f"UserPromptSubmit operation blocked by hook:\n{verdict.blocked}\n\nOriginal prompt: {prompt.text}"
            outcome = {"kind": "blocked_by_hook", "prompt_kept": False, "reason": verdict.blocked}
        elif verdict.stopped is not None:
            text = f"Operation stopped by hook: {verdict.stopped}"
            outcome = {"kind": "stopped_by_hook", "prompt_kept": True, "reason": verdict.stopped}
        else:
            self.announce("UserPromptSubmit", verdict.messages)
            self._emit_init()
            cli.remember("user", text=prompt.text, uuid=prompt.uuid)
            return None
        self._emit_init()
        cli.emit_system(
            "informational", content=text, level="warning", prevent_continuation=True, prompt_submit_outcome=outcome
        )
        return text

    def _emit_init(self) -> None:
        cli = self._cli
        servers = [
            {"name": server.name, "status": server.status, "source": "sdk" if server.kind == "sdk" else "dynamic"}
            for server in cli.mcp.servers.values()
        ]
        cli.emit_system(
            "init",
            cwd=cli.cwd,
            session_id=cli.session_id,
            tools=self.tools.available(),
            mcp_servers=servers,
            model=cli.model,
            permissionMode=cli.permissions.mode,
            slash_commands=list(frames.COMMANDS),
            apiKeySource="ANTHROPIC_API_KEY",
            claude_code_version=frames.VERSION,
            output_style="default",
            agents=["general-purpose", *cli.agents],
            skills=[],
            plugins=[],
            capabilities=list(frames.CAPABILITIES),
            **self.turn.uuids(),
        )

    # --- the loop ---

    def _converse(self, text: str) -> None:
        while True:
            tools = self._ask_model(text)
            if tools is None:
                text = CUT_OFF
            elif tools:
                text = self._use_tools(tools)
            else:
                again = self._stop()
                if again is None:
                    return
                text = again

    def _ask_model(self, text: str) -> list[dict[str, Any]] | None:
        """Make one request; nothing when its stream broke and the model must go on."""
        self._cli.check_interrupt()
        self.turn.rounds += 1
        try:
            tools = self.model.request(text)
        except StreamBroken:
            self.emit_user(frames.user_text(CUT_OFF), isSynthetic=True)
            return None
        self._cli.remember("assistant", text=self.model.text)
        budget = self._cli.flags.number("--max-budget-usd")
        if budget is not None and tools and frames.cost(self._cli.input_tokens, self._cli.output_tokens) >= budget:
            raise TurnEnded("error_max_budget_usd")
        return tools

    def _use_tools(self, tools: list[dict[str, Any]]) -> str:
        """Run the tools of one reply, then take in the prompts that came meanwhile; gives the last user text."""
        cli, turn = self._cli, self.turn
        turn.in_tools = True
        texts = [self.tools.run(step) for step in tools]
        turn.in_tools = False
        if turn.structured is not None:
            raise TurnEnded("structured")
        if self.tools.stopped is not None:
            raise TurnEnded("hook_stopped")
        limit = cli.flags.number("--max-turns")
        if limit is not None and turn.rounds >= limit:
            raise TurnEnded("error_max_turns")
        while cli.prompts:
            prompt = cli.prompts.pop(0)
            turn.prompts.append(prompt)
            cli.emit_lifecycle(prompt.uuid, "started")
            texts.append(prompt.text)
        return "\n".join(texts)

    def _stop(self) -> str | None:
        """Ask the Stop hooks; gives what the model is told when one of them wants it to go on."""
        cli = self._cli
        fields = {"stop_hook_active": self._stop_hook_active, "last_assistant_message": self.model.text}
        verdict = cli.hooks.run("Stop", fields, tool_use_id=new_uuid())
        if cli.interrupted:
            raise Interrupted
        self.announce("Stop", verdict.messages)
        if verdict.blocked is None:
            return None
        self._stop_hook_active = True
        text = f"Stop hook feedback:\n{verdict.blocked}"
        self.emit_user(frames.user_text(text), isSynthetic=True)
        return text

    # --- shared with the tools ---

    def emit_user(self, frame: dict[str, Any], **extra: Any) -> None:
        """Write a user frame of this turn; each counts as a turn in the result."""
        self.turn.user_frames += 1
        frame = {**frame, "session_id": self._cli.session_id, "timestamp": frames.timestamp(), **extra}
        self._cli.emit(frame)
        self._cli.remember("user", text=text_of(frame["message"]["content"]))

    def announce(self, who: str, messages: list[str]) -> None:
        """Show the system messages of hooks."""
        for message in messages:
            self._cli.emit_system("informational", content=f"{who} says: {message}", level="notice")

    # --- bad ends ---

    def _interrupted(self) -> dict[str, Any]:
        in_tools = self.turn.in_tools
        self.emit_user(frames.user_text(INTERRUPTED_TOOL if in_tools else INTERRUPTED))
        kind = "aborted_tools" if in_tools else "aborted_streaming"
        return results.ended(self._cli, self.turn, self.model, kind)

    def _api_failed(self, failed: ApiFailed) -> dict[str, Any]:
        text = failed.text()
        self._cli.emit(
            {
                "type": "assistant",
                "message": frames.api_error_message(text, new_uuid()),
                "parent_tool_use_id": None,
                "session_id": self._cli.session_id,
                "error": {401: "authentication_failed", 429: "rate_limit", 400: "invalid_request"}.get(
                    failed.status, "server_error"
                ),
                "is_api_error_message": True,
                "api_error_status": failed.status,
                "api_error_type": failed.type,
                **self.turn.first_mark("assistant"),
            }
        )
        return results.api_error(self._cli, self.turn, text, failed.status, failed.type)
