"""Everything up to a running process: finding the program, its version, private files, making the port, the spawn.

All of it is slow or a user's code, so it runs in a thread that may wait: a task's, or that of a caller who waits for
the start anyway. Never in the reactor's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pykka
from msgspec import Struct
from pykka import ActorDeadError

from claude_actors.actors.contained import describe, warn
from claude_actors.actors.pipes import Crowded
from claude_actors.actors.port import PortActor
from claude_actors.actors.port_types import Port, StopDeadlines
from claude_actors.actors.process_port import ProcessPort
from claude_actors.cli.launch import Launch, build_launch
from claude_actors.cli.prepare import prepare_launch
from claude_actors.errors import ClaudeActorsError, SpawnFailed
from claude_actors.options import Options


class LaunchReady(Struct, frozen=True):
    """The preparation is done; a process port has its process."""

    launch: Launch
    port: Port

    def discard(self) -> None:
        """Leave nothing of it. Never blocks, any thread."""
        self.launch.cleanup()
        if isinstance(self.port, ProcessPort):
            self.port.discard()


class LaunchFailed(Struct, frozen=True):
    """The preparation found that the CLI cannot be started."""

    error: ClaudeActorsError


class Launching:
    """Whether one launch comes to a process: said once, by whoever is first. Any thread; never blocks."""

    def __init__(self) -> None:
        # The first entry counts: an append is one step, where a test and an assignment would be two.
        self._said: list[bool] = []

    def cancel(self) -> bool:
        """Have no process spawned any more; False if it is too late for that."""
        return not self._say(False)

    def go_ahead(self) -> bool:
        """Say that the process is spawned now; False if it is not wanted any more."""
        return self._say(True)

    def _say(self, spawn: bool) -> bool:
        self._said.append(spawn)
        return self._said[0]


class Preparation(Struct, frozen=True):
    """What is to be launched: a session, or a run of the one prompt `one_shot`.

    `crowded` says whether who reads what the port reads is behind.
    """

    options: Options
    crowded: Crowded
    launching: Launching
    resume: str | None = None
    one_shot: str | None = None

    def run(self) -> LaunchReady | LaunchFailed:
        """Prepare and spawn. Blocks; never raises."""
        try:
            return LaunchReady(*prepare(self))
        except ClaudeActorsError as error:
            return LaunchFailed(error)

    def run_for(self, owner: pykka.ActorRef[Any]) -> None:
        """Run, and tell `owner` the outcome; nothing is left if it is dead. Blocks; for a task's thread."""
        outcome = self.run()
        try:
            owner.tell(outcome)
        except ActorDeadError:
            discard_launch(outcome)


def discard_launch(message: object) -> bool:
    """Leave nothing of a launch that nobody takes; False for any other message. An actor's `rescue`."""
    if isinstance(message, LaunchReady):
        message.discard()
    return isinstance(message, LaunchReady | LaunchFailed)


def prepare(wanted: Preparation) -> tuple[Launch, Port]:
    """Make the launch and its port, and spawn. Blocks. Raises ClaudeActorsErrors only, with nothing left."""
    try:
        launch = _launch(wanted.options, wanted.resume, wanted.one_shot)
        try:
            port = _port(wanted.options, launch, wanted.crowded)
            if isinstance(port, ProcessPort):
                if not wanted.launching.go_ahead():
                    raise SpawnFailed(program=launch.argv[0], reason="stopped before it was started")
                port.spawn()
            return launch, port
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
    """Start the actor of a port, which starts the port; it tells `owner` and is supervised by it."""
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


def _port(options: Options, launch: Launch, crowded: Crowded) -> Port:
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
