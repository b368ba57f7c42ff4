"""What a diagnosis consists of: findings, each with its facts and, where something can be done, an advice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

Status = Literal["ok", "warning", "problem"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at; a `problem` keeps sessions from working, a `warning` may."""

    subject: str
    status: Status = "ok"
    text: str
    facts: tuple[str, ...] = ()
    advice: str | None = None


def is_healthy(findings: Sequence[Finding]) -> bool:
    """Say whether nothing keeps sessions from working."""
    return all(finding.status != "problem" for finding in findings)


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the diagnosis as a plain object."""
    return {
        "type": "claude_actors_doctor",
        "healthy": is_healthy(findings),
        "findings": msgspec.to_builtins(list(findings)),
    }
