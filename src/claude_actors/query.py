"""`query()`: one prompt to a CLI that only prints: no callbacks, no operations, messages until it has ended."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, Self

import pykka
from pykka import ActorDeadError

from claude_actors.actors.deliveries import mailbox_limits
from claude_actors.actors.one_shot import OneShotActor
from claude_actors.actors.uninterrupted import run_uninterrupted
from claude_actors.cli.table import unsupported_in_query
from claude_actors.errors import InvalidOptions, SpawnFailed
from claude_actors.mailbox import Mailbox
from claude_actors.options import Options, given_options
from claude_actors.protocol.inputs import StopRequested
from claude_actors.subscriptions import message_mailbox
from claude_actors.wire.messages import Message


class OptionsIgnored(UserWarning):
    """Options were set that the one-directional form cannot honour; use `run()` or `start_session()`."""


def query(prompt: str, options: Options | None = None) -> Query:
    """Ask once and iterate over the messages, with `for` or `async for`; the process starts with the iteration.

    It has ended when the iteration has: at its end, on an error, or when it is abandoned half way. Hooks, permissions
    and in-process servers need a session: options that cannot be honoured are warned of (`OptionsIgnored`). Iterating
    raises a StartError if the CLI cannot be started and SessionCrashed if it died before its result.
    """
    if not isinstance(prompt, str):
        raise InvalidOptions("query() takes a text; content blocks need run() or start_session()")
    options = given_options(options)
    ignored = unsupported_in_query(options)
    if ignored:
        names = ", ".join(ignored)
        warnings.warn(
            f"query() cannot honour {names}: use run() or start_session()", category=OptionsIgnored, stacklevel=2
        )
    return Query(prompt, options)


class Query:
    """The messages of one prompt; iterate over it once, in any thread (`for`, which blocks) or on a loop (`async for`).

    `close()` or the end of a `with` ends its process early. What iterating raises stands at `query()`.
    """

    def __init__(self, prompt: str, options: Options) -> None:
        self._prompt, self._options = prompt, options
        limits = mailbox_limits(options)
        self._mailbox = message_mailbox(limits=limits, overflow=options.messages_overflow, name="query")
        self._actor: pykka.ActorRef[OneShotActor] | None = None
        self._given_up = False

    def __iter__(self) -> Iterator[Message]:
        mailbox = self._start()
        try:
            yield from mailbox
        finally:
            self.close()

    async def __aiter__(self) -> AsyncIterator[Message]:
        mailbox = self._start()
        try:
            async for message in mailbox:
                yield message
        finally:
            self.close()

    def close(self) -> None:
        """End the process, if it runs, and drop what nobody has read. Never blocks; idempotent."""
        if self._actor is not None:
            _stop(self._actor)
            self._mailbox.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> Mailbox[Message]:
        if self._actor is not None or self._given_up:
            raise RuntimeError("a query can be iterated over only once; call query() again")
        try:
            actor = run_uninterrupted(self._start_actor)
        except (OSError, RuntimeError) as error:
            # The reactor could not be started: no more files, or no more threads.
            raise SpawnFailed(program="the CLI", reason=str(error)) from error
        except BaseException:
            self._given_up = True
            self.close()
            raise
        # For a consumer that lets go of everything: nobody could read what the process still says.
        weakref.finalize(self, _stop, actor).atexit = False
        return self._mailbox

    def _start_actor(self) -> pykka.ActorRef[OneShotActor]:
        self._actor = OneShotActor.start(self._options, self._prompt, self._mailbox)
        # Whoever gives up looks for the actor after saying so, and we the other way round: one sees the other.
        if self._given_up:
            self.close()
        return self._actor


def _stop(actor: pykka.ActorRef[Any]) -> None:
    try:
        actor.tell(StopRequested("the query was closed"))
    except ActorDeadError:
        return
