"""The fake as client of the SDK's own MCP servers: handshake, list of tools, calls."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from claude_actors.testing.fake_cli.requests import Answer, Requests

PROTOCOL_VERSION = "2025-11-25"
NO_ANSWER = -32000


class McpServer:
    """One configured server. Only those of type sdk are really spoken to; others are shown as failed."""

    def __init__(self, name: str, config: dict[str, Any]) -> None:
        self.name, self.config = name, config
        self.kind = str(config.get("type") or "stdio")
        self.status = "pending" if self.kind == "sdk" else "failed"
        self.info: dict[str, Any] = {}
        self.tools: list[dict[str, Any]] = []
        self._prefix, self._count = os.urandom(4).hex(), 0

    def message(self, method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        """Build a JSON-RPC request; the real CLI uses strings as ids."""
        self._count += 1
        given = {} if params is None else {"params": params}
        return {"method": method, **given, "jsonrpc": "2.0", "id": f"{self._prefix}:{self._count - 1}"}

    def describe(self) -> dict[str, Any]:
        """Build the entry of mcp_status."""
        found: dict[str, Any] = {"name": self.name, "status": self.status}
        if self.status == "connected":
            found["serverInfo"] = self.info
            found["tools"] = [{"name": tool["name"], "annotations": tool.get("annotations", {})} for tool in self.tools]
        if self.status == "failed":
            found["error"] = f"the fake CLI does not connect to {self.kind} servers"
        if self.kind != "sdk":
            found["config"] = self.config
        source = "sdk" if self.kind == "sdk" else "dynamic"
        return {**found, "transport": self.kind, "scope": "dynamic", "source": source}


class McpClients:
    """All configured servers."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self.servers: dict[str, McpServer] = {}
        self._staying: set[str] = set()

    def configure(self, names: list[str], configs: list[str]) -> None:
        """Take the servers of `--mcp-config` (JSON or files) and the names that initialize brought."""
        for text in configs:
            for name, config in read_config(text).items():
                self.servers.setdefault(name, McpServer(name, config))
        for name in names:
            self.servers.setdefault(name, McpServer(name, {"type": "sdk", "name": name}))
        self._staying = {name for name, server in self.servers.items() if server.kind != "sdk"}

    def replace(self, servers: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Have these servers instead of the present ones, and give the payload of mcp_set_servers.

        As with the real CLI, external servers of the start stay, and one whose name stays goes on as it is.
        """
        added = [name for name in servers if name not in self.servers]
        removed = [name for name in self.servers if name not in servers and name not in self._staying]
        for name in removed:
            del self.servers[name]
        for name in added:
            self.servers[name] = McpServer(name, servers[name])
        failed = {
            name: self.servers[name].describe()["error"] for name in added if self.servers[name].status == "failed"
        }
        return {"added": added, "removed": removed, "errors": failed}

    def connect_all(self) -> None:
        """Begin the handshake with every server that waits for it, without waiting for its end."""
        for server in self.servers.values():
            if server.status == "pending":
                self.connect(server)

    def connect(self, server: McpServer, then: Callable[[], None] = lambda: None) -> None:
        """Begin the handshake with a server; `then` is called when it is connected or has failed."""
        server.status = "pending"
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "claude-code", "title": "Claude Code", "version": "fake"},
        }

        def initialized(answer: Answer) -> None:
            reply = rpc_reply(answer)
            if "result" not in reply:
                server.status = "failed"
                then()
            else:
                server.info = reply["result"].get("serverInfo") or {}
                self._send(server, {"jsonrpc": "2.0", "method": "notifications/initialized"}, noted)

        def noted(_: Answer) -> None:
            self._send(server, server.message("tools/list", None), listed)

        def listed(answer: Answer) -> None:
            server.tools = (rpc_reply(answer).get("result") or {}).get("tools") or []
            if server.status == "pending":  # it may have been switched off meanwhile
                server.status = "connected"
            then()

        self._send(server, server.message("initialize", params), initialized)

    def _send(self, server: McpServer, message: dict[str, Any], on_answer: Callable[[Answer], None]) -> None:
        self._requests.send(mcp_request(server.name, message), on_answer=on_answer)

    def connecting(self) -> bool:
        """Say whether a handshake is under way."""
        return any(server.status == "pending" for server in self.servers.values())

    def call_tool(self, server: McpServer, tool: str, arguments: dict[str, Any], tool_use_id: str) -> dict[str, Any]:
        """Call a tool, wait, and give the JSON-RPC reply."""
        params = {
            "name": tool,
            "arguments": arguments,
            "_meta": {"claudecode/toolUseId": tool_use_id, "progressToken": 2},
        }
        return rpc_reply(self._requests.ask(mcp_request(server.name, server.message("tools/call", params))))

    def find_tool(self, full_name: str) -> tuple[McpServer, str] | None:
        """Give the connected server and the tool of a name such as `mcp__server__tool`."""
        for server in self.servers.values():
            prefix = f"mcp__{server.name}__"
            if full_name.startswith(prefix) and server.status == "connected":
                tool = full_name.removeprefix(prefix)
                if any(listed.get("name") == tool for listed in server.tools):
                    return server, tool
        return None

    def tool_names(self) -> list[str]:
        """List the tools of all connected servers by their full names."""
        connected = [server for server in self.servers.values() if server.status == "connected"]
        return [f"mcp__{server.name}__{tool['name']}" for server in connected for tool in server.tools]


def mcp_request(server_name: str, message: dict[str, Any]) -> dict[str, Any]:
    """Build an mcp_message request."""
    return {"subtype": "mcp_message", "server_name": server_name, "message": message}


def rpc_reply(answer: Answer) -> dict[str, Any]:
    """Give the JSON-RPC reply in an answer, or an error where there is none."""
    reply = answer.object.get("mcp_response")
    if isinstance(reply, dict):
        return reply
    return {"error": {"code": NO_ANSWER, "message": answer.error or f"no answer ({answer.outcome})"}}


def read_config(text: str) -> dict[str, dict[str, Any]]:
    """Read one value of `--mcp-config`: JSON, or the path of a file with it."""
    if not text.lstrip().startswith("{"):
        with open(text, encoding="utf-8") as file:
            text = file.read()
    servers: dict[str, dict[str, Any]] = json.loads(text).get("mcpServers") or {}
    return servers
