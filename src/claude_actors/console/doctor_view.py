"""A diagnosis on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from claude_actors.console.clean import clean
from claude_actors.console.findings import Finding, Status, is_healthy

_MARKS: Final[dict[Status, tuple[str, str]]] = {
    "ok": ("ok", "green"),
    "warning": ("warning", "yellow"),
    "problem": ("PROBLEM", "bold red"),
}


def show_findings(findings: Sequence[Finding]) -> None:
    """Print every finding with its facts and advice, and whether all is well."""
    console = Console(highlight=False, soft_wrap=True)
    for finding in findings:
        mark, style = _MARKS[finding.status]
        console.print(Text.assemble((f"{mark:<9}", style), (f"{finding.subject:<17}", "bold"), clean(finding.text)))
        for fact in finding.facts:
            console.print(Text(f"{'':<26}{clean(fact)}", style="dim"))
        if finding.advice is not None:
            console.print(Text(f"{'':<26}-> {finding.advice}", style=style))
    verdict = "healthy" if is_healthy(findings) else "not healthy"
    console.print(Text(f"{verdict}: {_count(findings, 'problem')}, {_count(findings, 'warning')}", style="bold"))


def _count(findings: Sequence[Finding], status: Status) -> str:
    number = sum(finding.status == status for finding in findings)
    return f"{number} {status}" if number == 1 else f"{number} {status}s"
