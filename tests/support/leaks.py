"""The leak check that users of the testing package have too, and what it is made of."""

from __future__ import annotations

from claude_actors.testing.leaks import (
    Snapshot,
    alive_actors,
    alive_threads,
    command_of,
    descendants,
    environ_of,
    is_running,
    open_files,
    process_ids,
    state_of,
    wait_until,
)

__all__ = [
    "Snapshot",
    "alive_actors",
    "alive_threads",
    "command_of",
    "descendants",
    "environ_of",
    "is_running",
    "open_files",
    "process_ids",
    "state_of",
    "wait_until",
]
