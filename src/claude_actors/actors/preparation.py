"""Everything that comes before the process: finding the program, its version, writing private files, making the port.

All of it is slow or a user's code, so it runs in a task's thread, never in the reactor's.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pykka
from msgspec import Struct
from pykka import ActorDeadError

from claude_actors.actors.contained import describe, warn
from claude_actors.actors.port import PortActor
from claude_actors.actors.port_types import Port, StopDeadlines
from claude_actors.actors.process_port import ProcessPort
from claude_actors.cli.launch import Launch, build_launch
from claude_actors.cli.prepare import prepare_launch
from claude_actors.errors import ClaudeActorsError, SpawnFailed
from claude_actors.options import Options


class LaunchReady(Struct, frozen=True):
    """The preparation is done."""

    launch: Launch
    port: Port


class LaunchFailed(Struct, frozen=True):
    """The preparation found that the CLI cannot be started."""

    error: ClaudeActorsError


def prepare_for(
    owner: pykka.ActorRef[Any],
    options: Options,
    *,
    crowded: Callable[[], bool],
    resume: str | None = None,
    one_shot: str | None = None,
) -> None:
    """Prepare, and tell `owner` LaunchReady or LaunchFailed; nothing is left if it is dead. Blocks; never raises."""
    try:
        launch, port = prepare(options, crowded=crowded, resume=resume, one_shot=one_shot)
    except ClaudeActorsError as error:
        with suppress(ActorDeadError):
            owner.tell(LaunchFailed(error))
        return
    try:
        owner.tell(LaunchReady(launch, port))
    except ActorDeadError:
        launch.cleanup()


def prepare(
    options: Options, *, crowded: Callable[[], bool], resume: str | None = None, one_shot: str | None = None
) -> tuple[Launch, Port]:
    """Make the launch and the port of a session, or of the one prompt `one_shot`. Blocks.

    `crowded` says whether who reads what the port reads is behind. Raises ClaudeActorsErrors only, with nothing left.
    """
    try:
        launch = _launch(options, resume, one_shot)
        try:
            return launch, _port(options, launch, crowded)
        except BaseException:
            launch.cleanup()
            raise
    except ClaudeActorsError:
        raise
    except BaseException as error:
        raise SpawnFailed(program="the CLI", reason=describe(error)) from error


def stop_deadlines(options: Options) -> StopDeadlines:
    """Read the deadlines of an end off the options."""
    return StopDeadlines(options.eof_grace, options.term_grace, options.kill_grace)


def start_port(port: Port, owner: pykka.ActorRef[Any], options: Options) -> pykka.ActorRef[PortActor]:
    """Start the actor of a port, told to and supervised by `owner`; the port itself is not started yet."""
    return PortActor.start(
        port,
        owner,
        supervisor=owner,
        stderr_lines=options.stderr_lines,
        report_stderr=True,
        max_line=options.max_buffer_size,
        warn_at=options.buffer_warning_size,
        stop_deadlines=stop_deadlines(options),
    )


def _launch(options: Options, resume: str | None, one_shot: str | None) -> Launch:
    streaming = one_shot is None
    if options.port_factory is not None:
        cli = Path(options.cli_path or "claude")
        return build_launch(options, cli=cli, streaming_input=streaming, prompt=one_shot, resume=resume)
    launch, checked = prepare_launch(options, streaming_input=streaming, prompt=one_shot, resume=resume)
    if checked.warning:
        warn("cli_version_unknown", program=launch.argv[0], reason=checked.warning)
    return launch


def _port(options: Options, launch: Launch, crowded: Callable[[], bool]) -> Port:
    if options.port_factory is None:
        return ProcessPort(
            launch.argv,
            env=launch.env,
            cwd=launch.cwd,
            user=launch.user,
            max_unwritten=options.write_limit_bytes,
            write_timeout=options.write_timeout,
            crowded=crowded,
        )
    try:
        port: Port = options.port_factory(launch)
    except ClaudeActorsError:
        raise
    except BaseException as error:
        raise SpawnFailed(program="the port factory", reason=describe(error)) from error
    return port
