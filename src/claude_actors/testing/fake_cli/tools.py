"""One tool call: hooks before, permission, the tool itself, hooks after, and the tool_result frame."""

from __future__ import annotations

import os

from claude_actors.testing.fake_cli import frames
from claude_actors.testing.fake_cli.files import ToolFailed
from claude_actors.testing.fake_cli.state import Interrupted, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli
    from claude_actors.testing.fake_cli.hooks import Verdict
    from claude_actors.testing.fake_cli.permissions import Decision
    from claude_actors.testing.fake_cli.state import Turn
    from claude_actors.testing.fake_cli.turn import Conversation

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
)
HOOK_TIMED_OUT = (
    "PreToolUse hook did not respond before its timeout (host client may be unreachable). The tool call was not "
    "executed; other configured hooks may not have completed."
)


class ToolRunner:
    """Runs the tool calls of one turn, one after the other."""

    def __init__(self, cli: Cli, turn: Turn, runner: Conversation) -> None:
        self._cli, self._turn, self._runner = cli, turn, runner
        self.stopped: str | None = None
        self._loaded: set[str] = set()

    def available(self) -> list[str]:
        """List the tools that the model may use."""
        cli = self._cli
        given = cli.flags.words("--tools")
        built_in = frames.TOOLS if not cli.flags.has("--tools") or given == ["default"] else given
        schema = ["StructuredOutput"] if cli.json_schema is not None else []
        names = [*built_in, *schema, *cli.mcp.tool_names()]
        return [name for name in names if name not in cli.flags.words("--disallowedTools")]

    def run(self, step: dict[str, Any]) -> str:
        """Run one call and give the text that the model gets for it."""
        name, tool_id = step["name"], step["id"]
        if name not in self.available() and name != "Agent":
            error = f"Error: No such tool available: {name}"
            return self._failed(tool_id, f"<tool_use_error>{error}</tool_use_error>", error)
        fields = {"tool_name": name, "tool_input": step["input"], "tool_use_id": tool_id}
        verdict = self._cli.hooks.run("PreToolUse", fields, subject=name, tool_use_id=tool_id)
        if self._cli.interrupted:
            self._reject(step, denied=False)
        self._runner.announce(f"PreToolUse:{name}", verdict.messages)
        if verdict.timed_out:
            return self._failed(tool_id, HOOK_TIMED_OUT)
        self.stopped = verdict.stopped if verdict.stopped is not None else self.stopped
        if verdict.permission == "deny" or verdict.blocked is not None:
            reason = verdict.blocked if verdict.blocked is not None else verdict.reason
            self._deny(step)
            meta = {"decision": "reject", "source": "hook", "reason_type": "hook"}
            return self._failed(tool_id, f"PreToolUse:{name} hook error: {reason}", meta=meta, why="permission-rule")
        given = verdict.updated_input if verdict.updated_input is not None else step["input"]
        decision = self._cli.permissions.decide(name, given, tool_id, verdict)
        if self._cli.interrupted or decision.interrupt:
            self._reject(step, denied=True)
        if not decision.allowed:
            self._deny(step)
            return self._failed(tool_id, decision.message, meta=decision.meta(), why="permission-rule")
        if decision.updated_input is not None:
            given = decision.updated_input
        return self._execute({**step, "input": given}, decision)

    def _execute(self, step: dict[str, Any], decision: Decision) -> str:
        name, tool_id = step["name"], step["id"]
        fields = {"tool_name": name, "tool_input": step["input"], "tool_use_id": tool_id}
        try:
            if step["run_until"]:
                self._cli.wait_gate(step["run_until"])
            content, response = self._perform(step)
        except Interrupted:
            self._reject(step, denied=False)
        except ToolFailed as failed:
            fields.update(error=str(failed), is_interrupt=False, duration_ms=1)
            self._after("PostToolUseFailure", name, fields, tool_id)
            return self._failed(tool_id, str(failed), meta=decision.meta())
        fields.update(tool_response=response, duration_ms=1)
        verdict = self._after("PostToolUse", name, fields, tool_id)
        if verdict.output is not None:
            response = verdict.output
            content = response.get("stdout", response) if isinstance(response, dict) else response
        block = {"tool_use_id": tool_id, "type": "tool_result", "content": content, "is_error": False}
        meta = [{"id": tool_id, "permission_decision": decision.meta()}]
        self._emit(block, response, meta)
        self._runner.announce(f"PostToolUse:{name}", verdict.messages)
        return text_of(content)

    def _perform(self, step: dict[str, Any]) -> tuple[Any, Any]:
        """Do what the tool does; gives the content for the model and the structured response."""
        name, given, result = step["name"], step["input"], step["result"]
        if step["is_error"]:
            raise ToolFailed(text_of(result))
        if result is None and name in ("Write", "Edit", "Read"):
            tool = {"Write": self._cli.files.write, "Edit": self._cli.files.edit, "Read": self._cli.files.read}[name]
            done = tool(given)
            self._load_instructions(str(given.get("file_path", "")))
            return done
        found = self._cli.mcp.find_tool(name)
        if found is not None:
            return self._call_mcp(found, step)
        if name in ("Task", "Agent") and result is None:
            from claude_actors.testing.fake_cli.subagents import run_task

            return run_task(self._cli, step)
        if name == "StructuredOutput":
            self._turn.structured = given
            return "Structured output provided successfully", given
        if name == "ExitPlanMode":
            self._cli.permissions.set_mode("default")
            return "User has approved your plan. You can now start coding.", {"plan": given.get("plan")}
        if name == "Bash":
            text = text_of(result)
            response = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
            return text or "(Bash completed with no output)", response
        return ("done" if result is None else result), ({} if result is None else result)

    def _load_instructions(self, file: str) -> None:
        """Load the instructions beside a file that was read or written, if it lies below the working directory."""
        cli = self._cli
        path = os.path.join(os.path.dirname(os.path.join(cli.cwd, file)), "CLAUDE.md")
        if os.path.dirname(path) == cli.cwd or path in self._loaded or not os.path.exists(path):
            return
        if "project" in cli.flags.words("--setting-sources"):
            self._loaded.add(path)
            fields = {"file_path": path, "memory_type": "Project", "load_reason": "nested_traversal"}
            cli.hooks.run("InstructionsLoaded", {**fields, "trigger_file_path": file}, subject="nested_traversal")

    def _call_mcp(self, found: tuple[Any, str], step: dict[str, Any]) -> tuple[Any, Any]:
        server, tool = found
        reply = self._cli.mcp.call_tool(server, tool, step["input"], step["id"])
        if self._cli.interrupted:
            raise Interrupted
        if "error" in reply:
            raise ToolFailed(f"MCP error {reply['error'].get('code')}: {reply['error'].get('message')}")
        result = reply.get("result") or {}
        if result.get("isError"):
            raise ToolFailed(text_of(result.get("content")))
        return result.get("content") or [], result.get("content") or []

    def _after(self, event: str, name: str, fields: dict[str, Any], tool_id: str) -> Verdict:
        verdict = self._cli.hooks.run(event, fields, subject=name, tool_use_id=tool_id)
        if verdict.stopped is not None:
            self.stopped = verdict.stopped
        if verdict.blocked is not None:
            self._cli.contexts.append(f"{event}:{name} hook blocking error: {verdict.blocked}")
        return verdict

    # --- results ---

    def _deny(self, step: dict[str, Any]) -> None:
        denial = {"tool_name": step["name"], "tool_use_id": step["id"], "tool_input": step["input"]}
        self._turn.denials.append(denial)

    def _reject(self, step: dict[str, Any], *, denied: bool) -> None:
        """End a call that the user stopped, and the turn with it."""
        if denied:
            self._deny(step)
        meta = [{"id": step["id"], "non_execution_kind": "user-rejected"}]
        block = {"type": "tool_result", "content": REJECTED, "is_error": True, "tool_use_id": step["id"]}
        self._emit(block, "User rejected tool use", meta)
        raise Interrupted

    def _failed(
        self,
        tool_id: str,
        text: str,
        error: str | None = None,
        *,
        meta: dict[str, Any] | None = None,
        why: str | None = None,
    ) -> str:
        entry: dict[str, Any] = {"id": tool_id}
        if why is not None:
            entry["non_execution_kind"] = why
        if meta is not None:
            entry["permission_decision"] = meta
        block = {"type": "tool_result", "content": text, "is_error": True, "tool_use_id": tool_id}
        self._emit(block, error or f"Error: {text}", [entry] if meta is not None else None)
        return text

    def _emit(self, block: dict[str, Any], result: Any, meta: list[dict[str, Any]] | None) -> None:
        frame: dict[str, Any] = {
            "type": "user",
            "message": {"role": "user", "content": [block]},
            "parent_tool_use_id": self._turn.parent,
            "tool_use_result": result,
        }
        self._runner.emit_user(frame if meta is None else {**frame, "tool_result_meta": meta})
