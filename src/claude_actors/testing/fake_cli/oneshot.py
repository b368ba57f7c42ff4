"""The one-directional form: a prompt from the command line or standard input, one turn, and the end."""

from __future__ import annotations

import os

from claude_actors.testing.fake_cli.channel import Exit
from claude_actors.testing.fake_cli.cli import Cli
from claude_actors.testing.fake_cli.state import Prompt
from claude_actors.testing.fake_cli.turn import TurnRunner


def answer_once(cli: Cli) -> int:
    """Run the one turn and give the exit code."""
    output = cli.flags.get("--output-format") or "text"
    if output == "stream-json" and not cli.flags.has("--verbose"):
        raise Exit(1, "Error: When using --print, --output-format=stream-json requires --verbose")
    text = cli.flags.prompt
    if text is None:
        text = read_stdin()
    if not text.strip():
        raise Exit(1, "Error: Input must be provided either through stdin or as a prompt argument when using --print")
    cli.mcp.configure([], cli.flags.all("--mcp-config"))
    for server in cli.mcp.servers.values():
        server.status = "failed"  # nobody can answer in this form
    if output != "stream-json":
        cli.keep_result_only(as_json=output == "json")
    TurnRunner(cli, [Prompt(text, None)]).run_turn()
    return 1 if cli.last_result_failed else 0


def read_stdin() -> str:
    """Read standard input to its end."""
    chunks = []
    while chunk := os.read(0, 65536):
        chunks.append(chunk)
    return b"".join(chunks).decode("utf-8", "replace")
