"""Answers to the control requests of the other side, normal ones and those that a script bends."""

from __future__ import annotations

import os

from claude_actors.testing.fake_cli import frames
from claude_actors.testing.fake_cli.channel import Exit, new_uuid
from claude_actors.testing.fake_cli.permissions import MODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from claude_actors.testing.fake_cli.cli import Cli

NO_PAYLOAD: dict[str, Any] = {}


class Refused(Exception):
    """A control request gets an error response."""

    def __init__(self, error: str, code: str | None = None) -> None:
        super().__init__(error)
        self.error, self.code = error, code


class Controls:
    """Serve control requests, one at a time, in the order they came."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli
        self._bends = [dict(bend) for bend in cli.script["controls"]]
        self._wanted_mode = ""

    def serve(self, request_id: str, request: dict[str, Any]) -> None:
        """Do what a request asks and answer it, unless the script says otherwise."""
        subtype = str(request.get("subtype"))
        bend = self._bend(subtype)
        how = bend["how"] if bend else "normal"
        if how == "die":
            raise Exit(1)
        if how == "never":
            return
        if how == "error" and bend:
            self._refuse(request_id, Refused(bend["error"], bend["error_code"]))
        elif how == "late" and bend:
            self._cli.gates.when_open(bend["until"], lambda: self._answer(request_id, subtype, request, bend))
        else:
            self._answer(request_id, subtype, request, bend)

    def _bend(self, subtype: str) -> dict[str, Any] | None:
        for bend in self._bends:
            if bend["subtype"] == subtype and bend["times"] != 0:
                if bend["times"] is not None:
                    bend["times"] -= 1
                return bend
        return None

    def _answer(self, request_id: str, subtype: str, request: dict[str, Any], bend: dict[str, Any] | None) -> None:
        handler: Callable[[dict[str, Any]], dict[str, Any] | None] | None = getattr(self, f"do_{subtype}", None)
        try:
            if handler is None:
                raise Refused(f"Unsupported control request subtype: {subtype}", "unsupported_request")
            payload = handler(request)
        except Refused as refused:
            self._refuse(request_id, refused)
            return
        if bend and bend["payload"] is not None:
            payload = bend["payload"]
        self._succeed(request_id, payload)
        if bend and bend["how"] == "twice":
            self._succeed(request_id, payload)
        after = getattr(self, f"after_{subtype}", None)
        if after is not None:
            after()

    def _succeed(self, request_id: str, payload: dict[str, Any] | None) -> None:
        response: dict[str, Any] = {"subtype": "success", "request_id": request_id}
        if payload is not None:
            response["response"] = payload
        self._cli.channel.write({"type": "control_response", "response": response})

    def _refuse(self, request_id: str, refused: Refused) -> None:
        response = {"subtype": "error", "request_id": request_id, "error": refused.error}
        if refused.code is not None:
            response["error_code"] = refused.code
        self._cli.channel.write({"type": "control_response", "response": response})

    # --- the session ---

    def do_initialize(self, request: dict[str, Any]) -> dict[str, Any]:
        """Register what the other side brings; the MCP handshake begins before the answer."""
        cli = self._cli
        cli.run_steps(cli.script["on_initialize"])
        cli.hooks.register(request.get("hooks"))
        cli.agents = request.get("agents") or {}
        cli.json_schema = request.get("jsonSchema") or cli.json_schema
        cli.forwards_subagents = cli.forwards_subagents or bool(request.get("forwardSubagentText"))
        cli.mcp.configure(request.get("sdkMcpServers") or [], cli.flags.all("--mcp-config"))
        cli.mcp.connect_all()
        response = frames.initialize_response(os.getpid(), cli.permissions.mode)
        response["agents"] += [{"name": name, **agent} for name, agent in cli.agents.items()]
        return {**response, **cli.script["initialize_extra"]}

    def after_initialize(self) -> None:
        """Run the script's steps for a session that is ready."""
        self._cli.run_steps(self._cli.script["on_ready"])

    def do_interrupt(self, request: dict[str, Any]) -> dict[str, Any]:
        """End the running turn; what it waits for is cancelled before the answer goes out."""
        cli = self._cli
        if cli.turn is not None:
            cli.turn.interrupted = True
            for request_id in cli.requests.open_ids():
                cli.requests.cancel(request_id)
        return {"still_queued": [prompt.uuid for prompt in cli.prompts if prompt.uuid is not None]}

    def do_set_permission_mode(self, request: dict[str, Any]) -> dict[str, Any]:
        """Change the mode; a status frame follows the answer."""
        mode = "default" if request.get("mode") == "manual" else request.get("mode")
        if mode not in MODES:
            raise Refused(f"Cannot set permission mode: must be one of {', '.join(MODES)}", "invalid_mode")
        if mode == "bypassPermissions" and not self._cli.permissions.may_bypass:
            raise Refused(
                "Cannot set permission mode to bypassPermissions because the session was not launched with "
                "--dangerously-skip-permissions",
                "bypass_not_launched",
            )
        self._wanted_mode = mode
        return {"mode": mode}

    def after_set_permission_mode(self) -> None:
        """Change the mode."""
        self._cli.permissions.set_mode(self._wanted_mode)

    def do_set_model(self, request: dict[str, Any]) -> dict[str, Any]:
        """Change the model; a replayed user frame precedes the answer if it is another one."""
        cli = self._cli
        name = request.get("model")
        model = frames.resolve_model(name, cli.default_model)
        if model != cli.model:
            self._switch("PreModelSwitch", cli.model, model, name)
            shown = model if name in (None, model) else f"{name} ({model})"
            text = f"<local-command-stdout>Set model to `{shown}`</local-command-stdout>"
            message = {"role": "user", "content": text}
            cli.emit({"type": "user", "message": message, "parent_tool_use_id": None, "isReplay": True})
            before, cli.model = cli.model, model
            self._switch("PostModelSwitch", before, model, name)
        return {"model": model}

    def _switch(self, event: str, before: str, after: str, wanted: str | None) -> None:
        fields = {"from_model": before, "to_model": after, "requested_model": wanted, "source": "sdk"}
        verdict = self._cli.hooks.run(event, fields, tool_use_id=new_uuid())
        if event == "PreModelSwitch" and verdict.permission == "deny":
            raise Refused(f"Model switch blocked by a PreModelSwitch hook: {verdict.reason}", "blocked_by_hook")

    def do_set_max_thinking_tokens(self, request: dict[str, Any]) -> None:
        """Accept it; the real CLI answers without a payload."""

    def do_rewind_files(self, request: dict[str, Any]) -> dict[str, Any]:
        """Go back to the files of a prompt."""
        if not self._cli.files.checkpointing:
            raise Refused("File rewinding is not enabled.")
        found = self._cli.files.rewind(str(request.get("user_message_id")), dry_run=bool(request.get("dry_run")))
        if not found["canRewind"] and not request.get("dry_run"):
            raise Refused(str(found["error"]))
        return found

    def do_rename_session(self, request: dict[str, Any]) -> None:
        """Tell the new title."""
        self._cli.emit_system("session_title_changed", title=request.get("title"))

    # --- MCP ---

    def do_mcp_status(self, request: dict[str, Any]) -> dict[str, Any]:
        """List the servers."""
        return {"mcpServers": [server.describe() for server in self._cli.mcp.servers.values()]}

    def do_mcp_reconnect(self, request: dict[str, Any]) -> None:
        """Refuse it for SDK servers, as the real CLI does."""
        server = self._server("mcp_reconnect", request)
        if server.kind == "sdk":
            raise Refused("SDK servers should be handled in print.ts")
        raise Refused(f"Server status: {server.status}")

    def do_mcp_toggle(self, request: dict[str, Any]) -> None:
        """Switch a server off, or on with a new handshake."""
        server = self._server("mcp_toggle", request)
        if not request.get("enabled"):
            server.status = "disabled"
        elif server.kind == "sdk":
            self._cli.mcp.connect(server)
            self._cli.pump.wait(lambda: server.status != "pending" or self._cli.channel.eof)

    def do_mcp_set_servers(self, request: dict[str, Any]) -> dict[str, Any]:
        """Replace the servers."""
        return self._cli.mcp.replace(request.get("servers") or {})

    def after_mcp_set_servers(self) -> None:
        """Begin the handshakes."""
        self._cli.mcp.connect_all()

    def _server(self, subtype: str, request: dict[str, Any]) -> Any:
        name = request.get("serverName")
        if not isinstance(name, str):
            raise Refused(f"{subtype}: serverName must be a string")
        if name not in self._cli.mcp.servers:
            raise Refused(f"Server not found: {name}")
        return self._cli.mcp.servers[name]

    # --- questions ---

    def do_get_context_usage(self, request: dict[str, Any]) -> dict[str, Any]:
        """Tell how full the context is."""
        used = self._cli.input_tokens + self._cli.output_tokens
        categories = [{"id": "messages", "name": "Messages", "tokens": used, "color": "purple", "kind": "used"}]
        return {"categories": categories, "totalTokens": used, "maxTokens": 200_000, "percentage": used / 2000}

    def do_get_usage(self, request: dict[str, Any]) -> dict[str, Any]:
        """Tell what the session has cost."""
        cli = self._cli
        spent = frames.cost(cli.input_tokens, cli.output_tokens)
        return {"session": {"total_cost_usd": spent, "model_usage": {}}}

    def do_get_session_cost(self, request: dict[str, Any]) -> dict[str, Any]:
        """Tell the cost in words."""
        return {"text": f"Estimated cost: ${frames.cost(self._cli.input_tokens, self._cli.output_tokens):.4f}"}

    def do_get_settings(self, request: dict[str, Any]) -> dict[str, Any]:
        """Tell the settings."""
        return {"effective": {}, "sources": [], "applied": {"model": self._cli.model}}

    def do_list_models(self, request: dict[str, Any]) -> dict[str, Any]:
        """Tell the models."""
        return {"models": frames.initialize_response(0, "default")["models"]}

    def do_cancel_async_message(self, request: dict[str, Any]) -> dict[str, Any]:
        """Take a queued prompt back."""
        wanted = request.get("message_uuid")
        found = [prompt for prompt in self._cli.prompts if prompt.uuid == wanted]
        for prompt in found:
            self._cli.prompts.remove(prompt)
            self._cli.emit_lifecycle(prompt.uuid, "cancelled")
        return {"cancelled": bool(found)}

    def do_stop_task(self, request: dict[str, Any]) -> dict[str, Any]:
        """Stop a background task."""
        self._cli.tasks.stop(str(request.get("task_id")))
        return {}

    def do_background_tasks(self, request: dict[str, Any]) -> dict[str, Any]:
        """Accept it."""
        return {}

    def do_reload_skills(self, request: dict[str, Any]) -> dict[str, Any]:
        """Accept it."""
        return {"skills": []}

    def do_reload_plugins(self, request: dict[str, Any]) -> dict[str, Any]:
        """Accept it."""
        return {"plugins": [], "error_count": 0}

    def do_apply_flag_settings(self, request: dict[str, Any]) -> None:
        """Accept it."""

    def do_read_file(self, request: dict[str, Any]) -> dict[str, Any]:
        """Refuse it."""
        raise Refused(f"read denied: {request.get('path')}")

    def do_get_task_output(self, request: dict[str, Any]) -> dict[str, Any]:
        """Refuse it: no task of the fake has output."""
        raise Refused("get_task_output: no shell or Monitor task with that task_id in this session")
