"""Which tool calls need a permission, who gives it, and what an answer means."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli
    from claude_actors.testing.fake_cli.hooks import Verdict
    from claude_actors.testing.fake_cli.requests import Answer

MODES = ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan")
FREE_TOOLS = {"Task", "Agent", "Glob", "Grep", "LS", "TodoWrite", "Skill", "TaskStop", "ToolSearch"}
FREE_TOOLS |= {"EnterPlanMode", "StructuredOutput"}
EDIT_TOOLS = {"Write", "Edit", "NotebookEdit"}
PERSONAL_TOOLS = {"ExitPlanMode", "AskUserQuestion"}
FREE_COMMANDS = {"echo", "ls", "pwd", "cat", "head", "tail", "wc", "true", "false", "whoami", "date", "grep"}
EDIT_COMMANDS = {"touch", "mkdir", "rm", "rmdir", "mv", "cp", "sed"}
INVALID = (
    "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', updatedInput?: "
    "object} or {behavior: 'deny', message: string}. updatedPermissions may hold at most 4096 updates, rules and "
    "directories in all."
)


class Decision:
    """What was decided on one tool call."""

    def __init__(self, *, allowed: bool, source: str, message: str = "", reason_type: str | None = None) -> None:
        self.allowed, self.source, self.message, self.reason_type = allowed, source, message, reason_type
        self.updated_input: dict[str, Any] | None = None
        self.interrupt = False

    def meta(self) -> dict[str, Any]:
        """Build the permission_decision of a tool result."""
        found = {"decision": "accept" if self.allowed else "reject", "source": self.source}
        return found if self.reason_type is None else {**found, "reason_type": self.reason_type}


class Permissions:
    """The permission mode and rules of this session."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli
        flags = cli.flags
        self.mode = flags.get("--permission-mode") or "default"
        self.may_bypass = flags.has("--dangerously-skip-permissions") or self.mode == "bypassPermissions"
        self.may_bypass = self.may_bypass or flags.has("--allow-dangerously-skip-permissions")
        if flags.has("--dangerously-skip-permissions"):
            self.mode = "bypassPermissions"
        if self.mode == "manual":
            self.mode = "default"
        self._allowed = flags.words("--allowedTools")
        self._denied = flags.words("--disallowedTools")
        self.host_answers = flags.get("--permission-prompt-tool") == "stdio"

    def decide(self, tool: str, tool_input: dict[str, Any], tool_use_id: str, verdict: Verdict) -> Decision:
        """Decide on a tool call, asking the other side where the rules leave it open."""
        if any(rule_covers(rule, tool, tool_input) for rule in self._denied):
            return Decision(allowed=False, source="config", message=f"Permission to use {tool} has been denied.")
        if verdict.permission == "allow" and tool != "ExitPlanMode":
            return Decision(allowed=True, source="hook", reason_type="hook")
        if verdict.permission != "ask" and self._is_free(tool, tool_input):
            return Decision(allowed=True, source="config", reason_type="rule")
        if not self.host_answers or self.mode == "dontAsk":
            message = f"Claude requested permissions to use {tool}, but you haven't granted it yet."
            decision = Decision(allowed=False, source="config", message=message)
            self._cli.emit_system("permission_denied", tool_name=tool, tool_use_id=tool_use_id, message=message)
            return decision
        return self._ask(tool, tool_input, tool_use_id, verdict)

    def _is_free(self, tool: str, tool_input: dict[str, Any]) -> bool:
        if tool == "ExitPlanMode":
            return False
        if self.mode == "bypassPermissions" or tool in FREE_TOOLS:
            return True
        if any(rule_covers(rule, tool, tool_input) for rule in self._allowed):
            return True
        if tool == "Read":
            return self._inside(tool_input)
        if tool == "Bash":
            words = FREE_COMMANDS | EDIT_COMMANDS if self.mode == "acceptEdits" else FREE_COMMANDS
            return is_simple_command(str(tool_input.get("command", "")), words)
        return tool in EDIT_TOOLS and self.mode == "acceptEdits" and self._inside(tool_input)

    def _inside(self, tool_input: dict[str, Any]) -> bool:
        path = os.path.realpath(os.path.join(self._cli.cwd, str(tool_input.get("file_path", ""))))
        roots = [self._cli.cwd, *self._cli.flags.all("--add-dir")]
        return any(path.startswith(os.path.realpath(root) + os.sep) for root in roots)

    # --- asking ---

    def _ask(self, tool: str, tool_input: dict[str, Any], tool_use_id: str, verdict: Verdict) -> Decision:
        cli = self._cli
        request = permission_request(tool, tool_input, tool_use_id, cli.cwd)
        if cli.agent is not None:
            request["agent_id"] = cli.agent.id
        if verdict.permission == "ask":
            request.update(decision_reason=verdict.reason, decision_reason_type="hook")
        cli.emit_state("requires_action")
        request_id = cli.requests.send(request)
        fields = {"tool_name": tool, "tool_input": tool_input}
        if "permission_suggestions" in request:
            fields["permission_suggestions"] = request["permission_suggestions"]
        hooked = cli.hooks.run("PermissionRequest", fields, subject=tool, tool_use_id=tool_use_id)
        if hooked.decision is not None and not cli.interrupted:
            cli.requests.cancel(request_id)
            decision = self._read({**hooked.decision}, source="hook")
        else:
            decision = self._judge(cli.requests.collect(request_id))
        cli.emit_state("running")
        return decision

    def _judge(self, answer: Answer) -> Decision:
        if answer.outcome == "success":
            return self._read(answer.object, source="user_temporary")
        if answer.outcome == "error":
            message = f"Tool permission request failed: Error: {answer.error}"
        else:
            message = "Tool permission request failed: Error: Tool permission stream closed before response received"
        return Decision(allowed=False, source="config", message=message, reason_type="other")

    def _read(self, result: dict[str, Any], source: str) -> Decision:
        behavior, updated = result.get("behavior"), result.get("updatedInput", {})
        if behavior == "deny" and isinstance(result.get("message"), str):
            decision = Decision(allowed=False, source="user_reject", message=result["message"])
            decision.interrupt = bool(result.get("interrupt"))
            return decision
        if behavior != "allow" or not isinstance(updated, dict):
            return Decision(allowed=False, source="config", message=INVALID, reason_type="other")
        decision = Decision(allowed=True, source=source)
        decision.updated_input = result.get("updatedInput")
        self.update(result.get("updatedPermissions") or [])
        return decision

    def update(self, changes: list[dict[str, Any]]) -> None:
        """Apply permission updates: rules that allow or deny, and the mode."""
        for change in changes:
            if change.get("type") == "setMode":
                self.set_mode(str(change.get("mode")))
            elif change.get("type") == "addRules":
                rules = self._allowed if change.get("behavior") == "allow" else self._denied
                rules.extend(rule_text(rule) for rule in change.get("rules") or [])

    def set_mode(self, mode: str) -> None:
        """Change the mode, and tell it if it is another one."""
        if mode != self.mode:
            self.mode = mode
            self._cli.emit_system("status", status=None, permissionMode=mode)


def permission_request(tool: str, tool_input: dict[str, Any], tool_use_id: str, cwd: str) -> dict[str, Any]:
    """Build a can_use_tool request with the suggestions that the real CLI makes."""
    request: dict[str, Any] = {"subtype": "can_use_tool", "tool_name": tool, "display_name": tool, "input": tool_input}
    accept_edits = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    if tool == "Bash":
        command = str(tool_input.get("command", ""))
        request["description"] = tool_input.get("description") or command
        rule = {"toolName": "Bash", "ruleContent": f"{command} *"}
        rules = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}
        directories = {"type": "addDirectories", "directories": [cwd], "destination": "session"}
        request["permission_suggestions"] = [rules, directories, accept_edits]
    elif tool in EDIT_TOOLS:
        path = os.path.join(cwd, str(tool_input.get("file_path", "")))
        request["description"] = os.path.relpath(path, cwd)
        request["input"] = {**tool_input, "file_path": path}
        request["permission_suggestions"] = [accept_edits]
    elif tool in PERSONAL_TOOLS:
        return {**request, "tool_use_id": tool_use_id, "requires_user_interaction": True}
    else:
        rules = {"type": "addRules", "rules": [{"toolName": tool}], "behavior": "allow", "destination": "localSettings"}
        request["permission_suggestions"] = [rules]
    return {**request, "tool_use_id": tool_use_id}


def rule_text(rule: dict[str, Any]) -> str:
    """Write a rule object as the text form of the flags."""
    content = rule.get("ruleContent")
    return f"{rule.get('toolName')}({content})" if content else str(rule.get("toolName"))


def rule_covers(rule: str, tool: str, tool_input: dict[str, Any]) -> bool:
    """Say whether a rule such as `Bash`, `Bash(git *)`, `Bash(git:*)` or `mcp__server` covers a call."""
    name, _, content = rule.partition("(")
    content = content.removesuffix(")")
    if name != tool and not (name.startswith("mcp__") and tool.startswith(name + "__")):
        return False
    if not content:
        return True
    subject = str(tool_input.get("command") or tool_input.get("file_path") or "")
    prefix = content.removesuffix(":*") if content.endswith(":*") else content.removesuffix(" *")
    return subject == prefix or (prefix != content and subject.startswith(prefix))


def is_simple_command(command: str, words: set[str]) -> bool:
    """Say whether a command line is one command out of `words`, with nothing that could do more."""
    return not any(char in command for char in ";|&><`$(\n") and command.split(" ")[0] in words
