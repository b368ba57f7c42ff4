"""`start_session()` and the `Session` handle: the blocking face of a session, for any thread.

The handle only tells the session's keeper what is wanted and waits where its caller asked it to wait; it holds no state
of its own, so that it stays valid over restarts and after the end.
"""

from __future__ import annotations

import uuid as uuids
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from pykka import ActorDeadError

from claude_actors.actors.contained import warn
from claude_actors.actors.keeper import Command, SessionKeeper
from claude_actors.actors.preparation import discard_launch
from claude_actors.actors.record import SessionRecord
from claude_actors.actors.session_messages import ServersRequested
from claude_actors.actors.uninterrupted import run_uninterrupted
from claude_actors.async_session import AsyncSession
from claude_actors.callbacks.shadowing import CanUseToolShadowedWarning, never_asked, shadow_warnings
from claude_actors.errors import InvalidOptions, SessionEnded, SpawnFailed, StartTimeout, StopTimeout
from claude_actors.events import FinalEvent
from claude_actors.operations import Operation, Operations, Wanted
from claude_actors.options import Options, given_options
from claude_actors.protocol import inputs
from claude_actors.protocol.restarts import RestartPolicy
from claude_actors.session_view import SessionView
from claude_actors.turn import Turn
from claude_actors.wire.control_results import (
    Interrupted,
    McpServersSet,
    McpServerState,
    RewindResult,
    join_servers_set,
)
from claude_actors.wire.encode import encode_user, frozen_request

T = TypeVar("T")
Prompt = str | Sequence[Any]

_STOP_MARGIN = 5.0


def start_session(
    prompt: Prompt | None = None,
    options: Options | None = None,
    *,
    restart: RestartPolicy | None = None,
    wait: bool = True,
) -> Session:
    """Start a Claude Code session and send `prompt`, if there is one (text, or a list of content blocks).

    Blocks until the session runs and raises a StartError if it cannot; nothing is left behind then. With `wait=False`
    it returns at once, what is sent meanwhile is queued, and `wait_running()` tells how the start went. With `restart`
    the session survives the death of its CLI. Use it as a context manager, or call `stop()`. Warns with
    CanUseToolShadowedWarning of a permission mode in which `can_use_tool` is never asked.
    """
    if isinstance(prompt, Options):
        raise InvalidOptions("start_session: the prompt comes first; give options by name, start_session(options=...)")
    session = Session(given_options(options), restart)
    idle = never_asked(session.options.permission_mode, session.options.can_use_tool is not None)
    if idle is not None:
        # Not in the log alone, which is silent until it is set up: such a callback looks as if it guarded something.
        warnings.warn(idle, category=CanUseToolShadowedWarning, stacklevel=2)
    try:
        session._start(launch=wait)
        if prompt is not None:
            # A start that has failed already is told by the start, in its own words.
            with suppress(SessionEnded):
                session.send(prompt)
        if wait:
            session.wait_running()
    except BaseException:
        session.stop_soon()
        raise
    return session


class Session(SessionView):
    """A running session. Every member may be used from every thread, callbacks included.

    Operations block until the CLI has answered, at most for their timeouts, and raise a ControlError; `session.aio` has
    the same operations as coroutines. `messages()` and `events()` begin with the first frame.
    """

    def __init__(self, options: Options, restart: RestartPolicy | None = None) -> None:
        super().__init__(SessionRecord(options, restart))
        self._record.handle = self
        self._operations = Operations(options)
        self.aio = AsyncSession(self)

    def _start(self, *, launch: bool = False) -> None:
        """Start the session's actors, or first `launch` the CLI and then start them. Blocks for that moment."""
        options = self.options
        for text in shadow_warnings(options.permission_mode, options.allowed_tools, options.can_use_tool is not None):
            warn("permission_callback_shadowed", reason=text)
        try:
            run_uninterrupted(partial(self._start_actors, launch))
        except (OSError, RuntimeError) as error:
            # The reactor could not be started: no more files, or no more threads.
            raise SpawnFailed(program="the CLI", reason=str(error)) from error

    def _start_actors(self, launch: bool) -> None:
        record = self._record
        try:
            if launch:
                record.launch_first()
            record.keeper = SessionKeeper.start(record)
        except BaseException:
            discard_launch(record.take_first_launch())
            raise
        # Whoever gives up looks for the keeper after saying so, and we the other way round: one sees the other.
        if record.unwanted is not None:
            self._tell(inputs.StopRequested(record.unwanted))

    # --- what it is told ---

    def send(self, prompt: Prompt) -> Turn:
        """Send a prompt and return its turn. Never blocks; prompts that are sent during a turn are queued by the CLI.

        Raises EncodingFailed for what is neither a text nor a list of content blocks, WriteFailed for one larger than
        `write_limit_bytes`, and SessionEnded after the end.
        """
        record, uuid = self._record, str(uuids.uuid4())
        line = encode_user(prompt, uuid, verbatim=record.options.verbatim_prompts)
        record.check_size(len(line))
        turn = Turn(uuid, line, record.messages)
        record.turns[uuid] = record.last_turn = turn
        try:
            self._tell(inputs.PromptRequested(uuid, turn.line))
        except BaseException:
            # A KeyboardInterrupt: nobody will have this turn, so nobody must wait for it either.
            record.turns.pop(uuid, None)
            raise
        if record.final is not None:
            record.fail_turn(uuid, record.ended_error())
            raise record.ended_error()
        return turn

    def interrupt(self) -> Interrupted:
        """End the running turn; the session goes on. Blocks until the CLI has answered; raises a ControlError."""
        return self._do(self._operations.interrupt())

    def set_model(self, model: str | None = None) -> str | None:
        """Change the model (None: back to the default) and return the one in force. Blocks; raises a ControlError."""
        return self._do(self._operations.set_model(model))

    def set_permission_mode(self, mode: str) -> str:
        """Change the permission mode and return the one in force. Blocks; raises a ControlError."""
        return self._do(self._operations.set_permission_mode(mode))

    def set_max_thinking_tokens(self, tokens: int | None = None) -> None:
        """Change the thinking budget; None removes it. Blocks; raises a ControlError."""
        self._do(self._operations.set_max_thinking_tokens(tokens))

    def rewind_files(self, user_message_id: str, dry_run: bool = False) -> RewindResult:
        """Put files back to where they were when the prompt with this uuid (`turn.uuid`) was sent.

        With `dry_run` it only tells what would change. Blocks. Raises a ControlError: CheckpointingNotEnabled, before
        anything is sent, without `Options(enable_file_checkpointing=True)`.
        """
        return self._do(self._operations.rewind_files(user_message_id, dry_run))

    def mcp_status(self) -> tuple[McpServerState, ...]:
        """Return the state of every MCP server. Blocks; raises a ControlError."""
        return self._do(self._operations.mcp_status())

    def reconnect_mcp_server(self, name: str) -> None:
        """Connect an external MCP server again. Blocks; raises a ControlError."""
        self._do(self._operations.reconnect_mcp_server(name))

    def toggle_mcp_server(self, name: str, enabled: bool) -> None:
        """Switch an MCP server on or off. Blocks; raises a ControlError."""
        self._do(self._operations.toggle_mcp_server(name, enabled))

    def set_mcp_servers(self, servers: Mapping[str, Any]) -> McpServersSet:
        """Have these MCP servers instead of the present ones, the external ones of the start excepted, which stay.

        In-process servers come and go too. Blocks. Raises InvalidOptions for what is no server, or a ControlError.
        """
        steps = self._operations.set_mcp_servers(servers, self.options.mcp_servers)
        return join_servers_set([self._do(step) for step in steps])

    def control(self, subtype: str, *, timeout: float | None = None, **fields: Any) -> dict[str, Any]:
        """Send any control request and return its payload; for what has no method. Blocks; raises a ControlError."""
        return self._do(self._operations.control(subtype, fields, timeout))

    # --- its life ---

    def wait_running(self, timeout: float | None = None) -> None:
        """Block until the session runs; raises what kept it from running, or StartTimeout."""
        if not self._record.running.wait(timeout):
            raise StartTimeout(after=timeout or 0.0)
        self._record.running.value()

    def finish(self) -> None:
        """Let the session complete as soon as no turn, callback or background task needs it. Never blocks."""
        self._tell(inputs.FinishRequested())

    def wait(self, timeout: float | None = None) -> FinalEvent | None:
        """Block until the session is over and return its final event; None if it was not over in time."""
        self._record.over.wait(timeout)
        return self._record.final

    def stop(self, timeout: float | None = None, reason: str = "stop requested") -> FinalEvent:
        """End the session and everything it started; idempotent, in every state.

        Blocks until nothing is left of it, by default as long as its own deadlines allow, and raises StopTimeout past
        that; the end goes on by itself then.
        """
        self.stop_soon(reason)
        limit = self._stop_limit() if timeout is None else timeout
        final = self.wait(limit)
        if final is None:
            raise StopTimeout(after=limit)
        return final

    def stop_soon(self, reason: str = "stop requested") -> None:
        """Begin to end the session. Never blocks."""
        self._record.unwanted = reason
        self._tell(inputs.StopRequested(reason))

    def add_done_callback(self, function: Callable[[FinalEvent], object]) -> None:
        """Have `function(final_event)` called once when the session is over, in a thread of the task pool.

        If it is over already, it is called at once, in this thread. What it raises is logged.
        """
        self._record.call_when_over(function)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        try:
            await self.aio.wait_running()
        except BaseException:
            # Cancelled while it started: nobody would stop it.
            self.stop_soon()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aio.stop()

    # --- within ---

    def _do(self, wanted: Wanted[T]) -> T:
        return self._request(wanted).result()

    def _request(self, wanted: Wanted[T]) -> Operation[T]:
        """Send an operation. Never blocks; raises EncodingFailed and WriteFailed here, in the caller's thread."""
        record, request = self._record, frozen_request(wanted.request)
        record.check_size(sum(len(memoryview(value)) for value in request.fields.values()))
        number, answer = record.new_operation(wanted.changes)
        operation = inputs.OperationRequested(number, request, wanted.timeout)
        self._tell(operation if wanted.servers is None else ServersRequested(wanted.servers, operation))
        if record.final is not None:
            record.fail_operation(number, record.ended_error())
        return Operation(answer, wanted.read)

    def _stop_limit(self) -> float:
        options = self.options
        return options.eof_grace + options.term_grace + options.kill_grace + _STOP_MARGIN

    def _tell(self, message: Command) -> None:
        keeper = self._record.keeper
        try:
            if keeper is not None:
                keeper.tell(message)
        except ActorDeadError:
            return  # It is over; who waits finds the reason in the record.
