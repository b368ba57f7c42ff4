"""What a SessionActor is told besides the machine's own inputs, and what it tells its keeper at the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from claude_actors.actors.base import ActorEnded
from claude_actors.actors.preparation import LaunchFailed, LaunchReady
from claude_actors.protocol import effects, inputs


class Begin(Struct, frozen=True):
    """Start the preparation; told late when a restart backs off."""


class PortOverdue(Struct, frozen=True):
    """The port should have ended long ago."""


class ServersRequested(Struct, frozen=True):
    """A caller sets the MCP servers; the in-process ones must be there before the CLI is told of them."""

    servers: Mapping[str, Any]
    operation: inputs.OperationRequested


Wish: TypeAlias = inputs.PromptRequested | inputs.OperationRequested | ServersRequested


class SessionOver(Struct, frozen=True):
    """Told to the keeper: this process's session has ended and nothing of it is left.

    `late` came after the end of the session and before the end of the process: a next process can serve it.
    """

    end: effects.EndSession
    late: tuple[Wish, ...] = ()


Happening: TypeAlias = Begin | LaunchReady | LaunchFailed | PortOverdue | ServersRequested | ActorEnded
