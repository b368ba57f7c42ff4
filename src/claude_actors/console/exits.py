"""What the exit codes mean, and which error has which. The numbers are part of the command's interface."""

from __future__ import annotations

import enum

from claude_actors.errors import (
    ClaudeActorsError,
    InvalidOptions,
    SessionStoppedError,
    StartError,
    StartTimeout,
    TurnFailed,
    TurnTimeout,
)


class Exit(enum.IntEnum):
    """The exit codes of every command."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_STARTED = 3
    CRASHED = 4
    TIMED_OUT = 124
    INTERRUPTED = 130


MEANINGS: dict[Exit, str] = {
    Exit.OK: "it went well",
    Exit.FAILED: "a turn ended with an error; doctor: not healthy; fleet: a task failed; output not written",
    Exit.USAGE: "the command or its options cannot be used as given",
    Exit.NOT_STARTED: "it could not be started: no usable claude CLI, or a journal that cannot be used",
    Exit.CRASHED: "the CLI died before it had answered",
    Exit.TIMED_OUT: "there was no result within --timeout",
    Exit.INTERRUPTED: "interrupted with Ctrl-C",
}


def exit_for(error: BaseException, *, interrupted: bool = False) -> Exit:
    """Return the code for an error; what a Ctrl-C has brought about is INTERRUPTED, however it shows."""
    match error:
        case InvalidOptions():
            return Exit.USAGE
        case TurnTimeout():
            return Exit.TIMED_OUT
        case KeyboardInterrupt() | SessionStoppedError():
            return Exit.INTERRUPTED
        case ClaudeActorsError() if interrupted:
            return Exit.INTERRUPTED
        case StartError() | StartTimeout():
            return Exit.NOT_STARTED
        case TurnFailed():
            return Exit.FAILED
        case _:
            return Exit.CRASHED


def explain_exits() -> str:
    """Describe all codes, for `--help`."""
    return "Exit codes: " + "; ".join(f"{int(code)} {meaning}" for code, meaning in MEANINGS.items()) + "."
