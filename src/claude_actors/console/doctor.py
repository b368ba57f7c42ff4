"""Looks at the CLI as a session would: where it is, whether it is new enough, whether it answers.

The handshake is a real one, in an empty directory and without MCP servers: nothing is asked of a model, so nothing is
billed. What the machine gives stands in `surroundings`.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from claude_actors import ClaudeActorsError, CLINotFound, Options, ServerInfo, UnsupportedVersion, start_session
from claude_actors.cli.discovery import VARIABLE, find_cli, search_places
from claude_actors.cli.launch import STREAM_CLOSE_TIMEOUT, child_environment
from claude_actors.cli.version import MINIMUM, check_version
from claude_actors.console.findings import Finding
from claude_actors.console.surroundings import examine_surroundings

_INSTALL = "npm install -g @anthropic-ai/claude-code"


def examine(cli: str | None, timeout: float) -> list[Finding]:
    """Look at everything. Blocks for at most about `timeout` seconds and a few; leaves nothing behind, never raises."""
    options = Options(cli_path=cli)
    return [*_examine_cli(options, timeout), *examine_surroundings()]


def _examine_cli(options: Options, timeout: float) -> list[Finding]:
    try:
        path = find_cli(options)
    except ClaudeActorsError as error:
        return [_not_found(options, error)]
    findings = [Finding(subject="claude CLI", text=str(path), facts=_places(options, path)), _version(options, path)]
    if findings[-1].status != "problem":
        findings.extend(_handshake(options.replace(cli_path=path), timeout))
    return findings


def _not_found(options: Options, error: ClaudeActorsError) -> Finding:
    text = "there is none in any place where it is looked for" if isinstance(error, CLINotFound) else str(error)
    advice = f"install it ({_INSTALL}), or name it with --cli or {VARIABLE}"
    return Finding(subject="claude CLI", status="problem", text=text, facts=_places(options, None), advice=advice)


def _places(options: Options, used: Path | None) -> tuple[str, ...]:
    facts = []
    for place in dict.fromkeys(search_places(options)):
        note = "used" if place == used else "there too" if place.exists() else "not there"
        facts.append(f"{place}: {note}")
    return tuple(facts)


def _version(options: Options, path: Path) -> Finding:
    minimum = ".".join(map(str, MINIMUM))
    try:
        check = check_version(path, child_environment(options))
    except UnsupportedVersion as error:
        text = f"{error.version} is too old: {minimum} is the least that can be driven"
        return Finding(subject="version", status="problem", text=text, advice=f"update it: {_INSTALL}")
    if check.warning is not None:
        text = f"it could not be told ({check.warning}); sessions will try all the same"
        advice = f"see what '{path} -v' does in a terminal"
        return Finding(subject="version", status="warning", text=text, advice=advice)
    return Finding(subject="version", text=f"{check.version}, and {minimum} is enough")


def _handshake(options: Options, timeout: float) -> list[Finding]:
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="ca-doctor-") as directory:
            quiet = options.replace(
                cwd=directory,
                strict_mcp_config=True,
                skip_version_check=True,
                initialize_timeout=timeout,
                env={STREAM_CLOSE_TIMEOUT: None},
            )
            with start_session(None, quiet) as session:
                took, info = time.monotonic() - began, session.server_info()
    except (ClaudeActorsError, OSError) as error:
        advice = "start it in a terminal to see what it says; a slow machine may need a longer --timeout"
        return [Finding(subject="handshake", status="problem", text=str(error), advice=advice)]
    info = info or ServerInfo()
    models = f", {len(info.models)} models to choose from" if info.models else ""
    return [Finding(subject="handshake", text=f"answered in {took:.2f} s{models}"), _credentials(info.account)]


def _credentials(account: dict[str, Any] | None) -> Finding:
    """Tell where the CLI has its credentials from, as it says itself: names of sources, nothing of what they hold."""
    told = account or {}
    sources = [str(told[key]) for key in ("tokenSource", "apiKeySource") if told.get(key) not in (None, "", "none")]
    provider = str(told.get("apiProvider") or "firstParty")
    if sources or provider != "firstParty" or told.get("email"):
        return Finding(subject="credentials", text=f"the CLI has some, from {', '.join(sources) or provider}")
    return Finding(
        subject="credentials",
        status="warning",
        text="the CLI told of none, so turns would fail",
        advice="sign in by running claude once, or set ANTHROPIC_API_KEY",
    )
