"""How errors say things: exits, endings, and the last words of a process."""

from __future__ import annotations

from collections.abc import Sequence


def describe_exit(code: int | None, signal: int | None) -> str:
    """Say an exit in words: `exit code 1`, `signal 9`, `unknown exit`."""
    if signal is not None:
        return f"signal {signal}"
    return f"exit code {code}" if code is not None else "unknown exit"


def describe_end(reason: BaseException | None) -> str:
    """Say in a few words how an actor ended."""
    if reason is None:
        return "a normal end"
    text = str(reason)
    return f"{type(reason).__name__}: {text}" if text else type(reason).__name__


def sentence(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


def with_tail(text: str, tail: Sequence[str]) -> str:
    return text if not tail else text + "; its last output: " + " | ".join(tail[-5:])
