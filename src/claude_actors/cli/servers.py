"""Which MCP servers run in this process and which the CLI runs or reaches, and how each is named to the CLI.

External configurations may hold credentials (`env`, `headers`), so they go into a private file; a server of this
process is only a name and may stand on argv.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from claude_actors.cli.draft import Draft


def split_servers(servers: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Mapping[str, Any]]]:
    """Return (servers of this process, configurations of external servers), each by name.

    A mapping is a configuration; `{"type": "sdk", "instance": server}`, as the official SDK makes it, and every other
    object is a server of this process.
    """
    in_process: dict[str, Any] = {}
    external: dict[str, Mapping[str, Any]] = {}
    for name, server in servers.items():
        if not isinstance(server, Mapping):
            in_process[name] = server
        elif server.get("type") == "sdk":
            in_process[name] = server["instance"]
        else:
            external[name] = server
    return in_process, external


def in_process_servers(servers: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """Return the servers that run in this process, by name; a configuration file has none."""
    return split_servers(servers)[0] if isinstance(servers, Mapping) else {}


def sdk_entry(name: str) -> dict[str, str]:
    """Return the configuration by which the CLI knows a server of this process."""
    return {"type": "sdk", "name": name}


def named_servers(servers: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return all servers as `mcp_set_servers` takes them."""
    in_process, external = split_servers(servers)
    # Unlike --mcp-config, the request has no defaults: a program without `args` fails.
    complete = {name: {"args": [], **config} if "command" in config else config for name, config in external.items()}
    return {**{name: sdk_entry(name) for name in in_process}, **complete}


def add_servers(servers: Mapping[str, Any] | str | os.PathLike[str], draft: Draft) -> None:
    """Name all servers to the CLI; those of this process only in a session, since a one-shot run cannot reach them."""
    if not isinstance(servers, Mapping):
        _add_given_config(servers, draft)
        return
    in_process, external = split_servers(servers)
    local = {} if draft.one_shot else {name: sdk_entry(name) for name in in_process}
    if local:
        draft.initialize["sdkMcpServers"] = list(local)
    if external:
        draft.private("--mcp-config", "mcp.json", draft.as_json({"mcpServers": local | external}))
    elif local:
        draft.value("--mcp-config", draft.as_json({"mcpServers": local}))


def _add_given_config(config: str | os.PathLike[str], draft: Draft) -> None:
    text = os.fspath(config)
    if text.lstrip().startswith("{"):
        draft.private("--mcp-config", "mcp.json", text)
    else:
        draft.value("--mcp-config", text)
