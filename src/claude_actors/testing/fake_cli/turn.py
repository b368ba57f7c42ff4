"""The agent loop: from a prompt to its result frame, in the order of the real CLI."""

from __future__ import annotations

from claude_actors.testing.fake_cli import frames, local_commands, results
from claude_actors.testing.fake_cli.channel import new_uuid
from claude_actors.testing.fake_cli.failures import ApiFailed, StreamBroken
from claude_actors.testing.fake_cli.model import Model
from claude_actors.testing.fake_cli.state import Interrupted, Turn, TurnEnded, text_of
from claude_actors.testing.fake_cli.tools import ToolRunner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli
    from claude_actors.testing.fake_cli.hooks import Verdict
    from claude_actors.testing.fake_cli.state import Prompt

CUT_OFF = (
    "Your response above was cut off mid-stream. Resume directly from where it stops — no apology, no recap. "
    "If none of it survived, answer the request from the start."
)
USE_STRUCTURED_OUTPUT = (
    "[structured-output-enforce] You MUST call the StructuredOutput tool to complete this request. Call this tool now."
)
INTERRUPTED = "[Request interrupted by user]"
INTERRUPTED_TOOL = "[Request interrupted by user for tool use]"


class Conversation:
    """Talk to the model until it has nothing more to do. A turn is one of these; a subagent's work is another."""

    def __init__(self, cli: Cli, turn: Turn) -> None:
        self.cli, self.turn = cli, turn
        self.model = Model(cli, turn)
        self.tools = ToolRunner(cli, turn, self)

    def run(self, text: str) -> None:
        """Ask, use tools, and ask again; raises what ends it early."""
        while True:
            tools = self._ask_model(text)
            if tools is None:
                text = CUT_OFF
            elif tools:
                text = self._use_tools(tools)
            else:
                again = self.stop()
                if again is None:
                    return
                text = again

    def _ask_model(self, text: str) -> list[dict[str, Any]] | None:
        """Make one request; nothing when its stream broke and the model must go on."""
        self.cli.check_interrupt()
        self.turn.rounds += 1
        try:
            tools = self.model.request(text)
        except StreamBroken:
            self.emit_user(frames.user_text(CUT_OFF), isSynthetic=True)
            return None
        self.cli.remember("assistant", text=self.model.text)
        budget = self.cli.flags.number("--max-budget-usd")
        if budget is not None and tools and frames.cost(self.cli.input_tokens, self.cli.output_tokens) >= budget:
            raise TurnEnded("error_max_budget_usd")
        return tools

    def _use_tools(self, tools: list[dict[str, Any]]) -> str:
        """Run the tools of one reply and give what the model is told."""
        cli, turn = self.cli, self.turn
        turn.in_tools = True
        texts = [self.tools.run(step) for step in tools]
        turn.in_tools = False
        calls = [
            {"tool_name": step["name"], "tool_input": step["input"], "tool_use_id": step["id"], "tool_response": text}
            for step, text in zip(tools, texts, strict=True)
        ]
        cli.hooks.run("PostToolBatch", {"tool_calls": calls}, tool_use_id=f"hook-{new_uuid()}")
        if turn.structured is not None:
            raise TurnEnded("structured")
        if self.tools.stopped is not None:
            raise TurnEnded("hook_stopped")
        limit = cli.flags.number("--max-turns")
        if limit is not None and turn.rounds >= limit:
            raise TurnEnded("error_max_turns")
        return "\n".join([*texts, *self.absorb()])

    def absorb(self) -> list[str]:
        """Take in what came meanwhile; a subagent gets nothing of it."""
        return []

    def stop(self) -> str | None:
        """Ask whether it may end here; gives what the model is told if not."""
        return None

    def emit_user(self, frame: dict[str, Any], **extra: Any) -> None:
        """Write a user frame; each counts as a turn in the result."""
        self.turn.user_frames += 1
        ids = {"session_id": self.cli.session_id, "timestamp": frames.timestamp()}
        marks = self.turn.agent.mark() if self.turn.agent is not None else {}
        self.cli.emit({**frame, "parent_tool_use_id": self.turn.parent, **ids, **marks, **extra})
        self.cli.remember("user", text=text_of(frame["message"]["content"]))

    def announce(self, who: str, messages: list[str]) -> None:
        """Show the system messages of hooks."""
        for message in messages:
            self.cli.emit_system("informational", content=f"{who} says: {message}", level="notice")


class TurnRunner(Conversation):
    """Runs one turn of the main conversation."""

    def __init__(self, cli: Cli, prompts: list[Prompt]) -> None:
        super().__init__(cli, Turn(prompts))
        self._stop_hook_active = False
        self._reminded = False

    def run_turn(self, notice: str | None = None) -> None:
        """Run from the prompts, or from a notice of the CLI's own, to the result."""
        cli, turn = self.cli, self.turn
        cli.turn = turn
        for prompt in turn.prompts:
            cli.emit_lifecycle(prompt.uuid, "started")
            cli.files.begin_prompt(prompt.uuid)
        cli.pump.wait(lambda: not cli.mcp.connecting() or cli.channel.eof)
        result = self._until_result(notice)
        for absorbed in turn.absorbed:
            cli.emit_lifecycle(absorbed.uuid, "completed")
        cli.turn = None
        cli.emit(result)
        cli.results += 1
        cli.last_result_failed = bool(result["is_error"])
        cancelled = result["is_error"] and result["subtype"] != "error_max_turns"
        for prompt in turn.prompts:
            cli.emit_lifecycle(prompt.uuid, "cancelled" if cancelled else "completed")
        cli.run_steps(self.model.after_turn)

    def _until_result(self, notice: str | None) -> dict[str, Any]:
        cli, turn = self.cli, self.turn
        try:
            if turn.command.startswith("/compact"):
                return local_commands.compact(cli, turn, self.model, self._emit_init)
            if turn.command == "/clear":
                return local_commands.clear(cli, turn, self._emit_init)
            if notice is not None:
                self._emit_init()
            elif (refusal := self._submit()) is not None:
                return results.refused(cli, turn, refusal)
            self.run(turn.prompt_text if notice is None else notice)
        except Interrupted:
            return self._interrupted()
        except ApiFailed as failed:
            return self._api_failed(failed)
        except TurnEnded as ended:
            return results.ended(cli, turn, self.model, ended.kind)
        return results.success(cli, turn, self.model)

    # --- the start ---

    def _submit(self) -> str | None:
        """Ask the UserPromptSubmit hooks; gives the words of the one that refuses."""
        cli, text = self.cli, self.turn.prompt_text
        event = "UserPromptSubmit"
        verdict = cli.hooks.run(event, {"prompt": text}, tool_use_id=new_uuid())
        if verdict.blocked is None and self.turn.command.startswith("/"):
            event, verdict = "UserPromptExpansion", self._expand(text)
        if cli.interrupted:
            raise Interrupted
        self._emit_init()
        if verdict.blocked is not None:
            words = f"{event} operation blocked by hook:\n{verdict.blocked}\n\nOriginal prompt: {text}"
            outcome = {"kind": "blocked_by_hook", "prompt_kept": False, "reason": verdict.blocked}
        elif verdict.stopped is not None:
            words = f"Operation stopped by hook: {verdict.stopped}"
            outcome = {"kind": "stopped_by_hook", "prompt_kept": True, "reason": verdict.stopped}
        else:
            self.announce("UserPromptSubmit", verdict.messages)
            self._begin()
            return None
        fields = {"level": "warning", "prevent_continuation": True, "prompt_submit_outcome": outcome}
        cli.emit_system("informational", content=words, **fields)
        return words

    def _expand(self, text: str) -> Verdict:
        name, _, words = text[1:].partition(" ")
        kind = {"expansion_type": "slash_command", "command_source": "builtin"}
        fields = {**kind, "command_name": name, "command_args": words, "prompt": text}
        return self.cli.hooks.run("UserPromptExpansion", fields, subject=name, tool_use_id=new_uuid())

    def _begin(self) -> None:
        for prompt in self.turn.prompts:
            self.cli.remember("prompt", text=prompt.text, uuid=prompt.uuid)
            if self.cli.flags.has("--replay-user-messages"):
                message = {"role": "user", "content": prompt.content}
                frame = {"type": "user", "message": message, "parent_tool_use_id": None, "isReplay": True}
                self.cli.emit({**frame, "uuid": prompt.uuid or new_uuid()})

    def _emit_init(self) -> None:
        cli = self.cli
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

    # --- what only the main conversation does ---

    def absorb(self) -> list[str]:
        """Take the prompts that came while tools ran into this turn."""
        cli = self.cli
        cli.pump.poll()
        taken, cli.prompts[:] = list(cli.prompts), []
        for prompt in taken:
            self.turn.absorbed.append(prompt)
            cli.emit_lifecycle(prompt.uuid, "started")
            cli.remember("prompt", text=prompt.text, uuid=prompt.uuid)
        return [prompt.text for prompt in taken]

    def stop(self) -> str | None:
        """Ask the Stop hooks, and remind the model of a structured answer that it owes."""
        cli = self.cli
        if cli.json_schema is not None and not self._reminded:
            self._reminded = True
            self.emit_user(frames.user_text(USE_STRUCTURED_OUTPUT), isSynthetic=True)
            return USE_STRUCTURED_OUTPUT
        fields = {"stop_hook_active": self._stop_hook_active, "last_assistant_message": self.model.text}
        verdict = cli.hooks.run("Stop", fields, tool_use_id=new_uuid())
        if cli.interrupted:
            raise Interrupted
        self.announce("Stop", verdict.messages)
        if verdict.blocked is None:
            return None
        self._stop_hook_active = True
        words = f"Stop hook feedback:\n{verdict.blocked}"
        self.emit_user(frames.user_text(words), isSynthetic=True)
        notice = {"key": "stop-hook-error", "text": "stop hook reported a problem", "priority": "immediate"}
        cli.emit_system("notification", **notice)
        return words

    # --- bad ends ---

    def _interrupted(self) -> dict[str, Any]:
        in_tools = self.turn.in_tools
        self.emit_user(frames.user_text(INTERRUPTED_TOOL if in_tools else INTERRUPTED))
        self.model.close_stream()
        kind = "aborted_tools" if in_tools else "aborted_streaming"
        return results.ended(self.cli, self.turn, self.model, kind)

    def _api_failed(self, failed: ApiFailed) -> dict[str, Any]:
        text = failed.text()
        frame = {
            "type": "assistant",
            "message": frames.api_error_message(text, new_uuid()),
            "parent_tool_use_id": None,
            "session_id": self.cli.session_id,
            "error": failed.name(),
            "is_api_error_message": True,
            "api_error_status": failed.status,
            "api_error_type": failed.type,
        }
        self.cli.emit({**frame, **self.turn.first_mark("assistant")})
        fields = {"error": failed.name(), "last_assistant_message": text}
        self.cli.hooks.run("StopFailure", fields, subject=failed.name(), tool_use_id=new_uuid())
        return results.api_error(self.cli, self.turn, text, failed.status, failed.type)
