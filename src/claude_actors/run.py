"""`run()`: one prompt, one result, with hooks, permissions and tools; the shortest way to use the whole library."""

from __future__ import annotations

from claude_actors.errors import TurnTimeout
from claude_actors.options import Options
from claude_actors.protocol.restarts import RestartPolicy
from claude_actors.protocol.results import result_error
from claude_actors.session import Prompt, Session, start_session
from claude_actors.wire.messages import ResultMessage


def run(
    prompt: Prompt,
    options: Options | None = None,
    *,
    timeout: float | None = None,
    restart: RestartPolicy | None = None,
) -> ResultMessage:
    """Run one turn in a session of its own and return its result; blocks until the session is over.

    The session ends when the result is there and no hook, tool or background task needs it any more. Raises a
    StartError, TurnFailed (one of its kinds) for an error result, SessionCrashed, or TurnTimeout; nothing is left then.
    """
    with start_session(None, options, restart=restart) as session:
        result = session.send(prompt).result(timeout)
        session.finish()
        session.wait(timeout)
    return _checked(result)


async def arun(
    prompt: Prompt,
    options: Options | None = None,
    *,
    timeout: float | None = None,
    restart: RestartPolicy | None = None,
) -> ResultMessage:
    """Run one turn as `run()` does, without blocking the event loop; cancelling it ends the session."""
    import asyncio

    async with start_session(None, options, restart=restart, wait=False) as session:
        try:
            result = await asyncio.wait_for(_turn(session, prompt), timeout)
        except TimeoutError as error:
            raise error if timeout is None else TurnTimeout(after=timeout) from None
    return _checked(result)


async def _turn(session: Session, prompt: Prompt) -> ResultMessage:
    result = await session.send(prompt)
    session.finish()
    await session.aio.wait()
    return result


def _checked(result: ResultMessage) -> ResultMessage:
    error = result_error(result)
    if error is not None:
        raise error
    return result
