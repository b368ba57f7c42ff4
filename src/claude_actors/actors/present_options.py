"""The options that a session has now: those of its start, changed by what was set at run time.

A CLI that takes over after a crash must be as the last one was. It decides what of that is said at the start and what
must be set again; it sends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from claude_actors.actors.contained import warn
from claude_actors.cli.servers import split_servers
from claude_actors.errors import InvalidOptions
from claude_actors.options import Options


class PresentOptions:
    """Written by the session's own actors, read by every thread."""

    def __init__(self, options: Options) -> None:
        # The session keeps the hooks that it starts with, also over restarts.
        self.options = options if options.hooks is None else options.replace(hooks=options.hooks.copy())
        first = options.mcp_servers
        # External servers of the start, as long as no call has named them: those the CLI keeps by itself. None if they
        # are in a file, which is the CLI's to read.
        self._of_start = split_servers(first)[1] if isinstance(first, Mapping) else None
        self._set: Mapping[str, Any] | None = None

    def change(self, changes: Mapping[str, Any]) -> None:
        """Take over options that the CLI has accepted at run time."""
        try:
            self.options = self.options.replace(**changes)
        except InvalidOptions as error:
            # The CLI knows more than we do: a mode of tomorrow, or one that only makes sense after the start.
            warn("setting_not_kept", options=sorted(changes), reason=str(error))

    def forget_conversation(self) -> None:
        """Start no process any more with the conversation that the options name."""
        forgotten = {"resume": None, "resume_session_at": None, "resume_drops_turn": None}
        self.options = self.options.replace(**forgotten, continue_conversation=False, fork_session=False)

    def use_servers(self, servers: Mapping[str, Any]) -> None:
        """Take over MCP servers that were set at run time.

        As the CLI does it, they take the place of all but the external ones that it was started with; one of those that
        is named now goes with the next call that does not name it.
        """
        self._set = servers
        if self._of_start is not None:
            self._of_start = {name: config for name, config in self._of_start.items() if name not in servers}
            self.options = self.options.replace(mcp_servers={**self._of_start, **servers})

    def for_launch(self) -> Options:
        """Return what a process is started with: without external servers that are not of the start."""
        if self._set is None or self._of_start is None:
            return self.options
        return self.options.replace(mcp_servers={**self._of_start, **split_servers(self._set)[0]})

    def servers_to_set(self) -> Mapping[str, Any] | None:
        """Return the servers that must be set again once a new process runs, None if it has them from its start."""
        if self._set is None or (self._of_start is not None and not split_servers(self._set)[1]):
            return None
        return self._set
