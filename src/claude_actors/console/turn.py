"""One turn from its prompt to its exit code: what `claude-actors run` does, whoever looks on.

It follows a session, hands messages and questions to a view, and says in a report how it ended. It prints nothing.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, Final, Protocol

import msgspec

from claude_actors import (
    CanUseToolShadowedWarning,
    ClaudeActorsError,
    Mailbox,
    Message,
    Options,
    PendingApproval,
    ResultMessage,
    Session,
    StartError,
    Turn,
    TurnTimeout,
    select,
    start_session,
)
from claude_actors.console.exits import Exit, exit_for
from claude_actors.console.presses import Presses
from claude_actors.protocol.results import result_error

#: So many messages are shown before a waiting question gets its turn.
_MESSAGES_AT_A_TIME: Final = 64


class View(Protocol):
    """Who looks on: a person at a terminal, or a machine. Called in the main thread, except `note`."""

    def message(self, message: Message) -> None:
        """Show one message of the conversation."""

    def ask(self, question: PendingApproval) -> None:
        """Have a permission request answered; returns when it is, or when it is withdrawn."""

    def note(self, text: str) -> None:
        """Say something about the run itself; any thread."""


class Report(msgspec.Struct, kw_only=True):
    """How a run ended."""

    exit: Exit
    session_id: str | None = None
    result: ResultMessage | None = None
    error: BaseException | None = None
    seconds: float = 0.0

    @property
    def complaint(self) -> str:
        """What went wrong, in words; empty if nothing did."""
        if isinstance(self.error, TurnTimeout):
            return f"the turn had no result within {self.error.after:g} s; the session was ended"
        return "" if self.error is None else str(self.error)

    def summary(self) -> dict[str, Any]:
        """Return the report as a plain object, as `--json` ends with."""
        result, error = self.result, self.error
        return {
            "type": "claude_actors_summary",
            "outcome": self.exit.name.lower(),
            "exit_code": int(self.exit),
            "session_id": self.session_id,
            "result": result.result if result else None,
            "structured_output": result.structured_output if result else None,
            "error": None if error is None else {"kind": type(error).__name__, "message": self.complaint},
            "num_turns": result.num_turns if result else 0,
            "cost_usd": result.total_cost_usd if result else None,
            "seconds": round(self.seconds, 3),
        }


def run_turn(prompt: str, options: Options, view: View, *, timeout: float | None = None) -> Report:
    """Run one turn and return how it ended; never raises a ClaudeActorsError. Main thread; blocks until all is over."""
    began = time.monotonic()
    report = Report(exit=Exit.OK)
    presses: Presses | None = None
    try:
        with warnings.catch_warnings():
            # Who chose the mode at the prompt knows that nobody will be asked.
            warnings.simplefilter("ignore", CanUseToolShadowedWarning)
            session = start_session(None, options, wait=False)
        with Presses(lambda: _interrupt(session, view), lambda: _end(session, view)) as presses, session:
            try:
                session.wait_running()
                report.result = _follow(session, prompt, view, timeout)
                report.error = result_error(report.result)
            finally:
                report.session_id = session.session_id
    except (ClaudeActorsError, KeyboardInterrupt) as error:
        report.error = error
    if isinstance(report.error, StartError):
        report.session_id = None  # the CLI names a conversation even if it has none to go on with
    if report.error is not None:
        report.exit = exit_for(report.error, interrupted=presses is not None and presses.count > 0)
    report.seconds = time.monotonic() - began
    return report


def _interrupt(session: Session, view: View) -> None:
    """Answer the first Ctrl-C."""
    if session.state != "running":
        return _end(session, view)
    view.note("interrupting the turn; press Ctrl-C again to end the session")
    try:
        session.interrupt()
    except ClaudeActorsError as error:
        if session.final_event is None:
            view.note(f"the turn could not be interrupted ({error}); press Ctrl-C again to end the session")


def _end(session: Session, view: View) -> None:
    """Answer the second Ctrl-C."""
    view.note("ending the session")
    session.stop_soon("interrupted")


def _follow(session: Session, prompt: str, view: View, timeout: float | None) -> ResultMessage:
    """Show the turn and what goes on behind it (background tasks) until the session is over."""
    turn = session.send(prompt)
    result = _until_result(session, turn, view, timeout)
    session.finish()
    try:
        for message in session.messages():
            view.message(message)
    except ClaudeActorsError as error:
        # The turn has its result; that the CLI could not even leave is worth a word, not a failure.
        view.note(f"after the result: {error}")
    return result


def _until_result(session: Session, turn: Turn, view: View, timeout: float | None) -> ResultMessage:
    messages, questions = session.messages(), session.permissions()
    deadline = None if timeout is None else time.monotonic() + timeout
    while not (turn.done or messages.closed) or len(messages):
        remaining = None if deadline is None else max(0.0, deadline - time.monotonic())
        if select([messages, questions, turn.outcome], remaining) is None:
            raise TurnTimeout(after=timeout or 0.0)
        # What was said before a question is shown before it, unless there is no end to it.
        if _show_some(messages, turn, view):
            break
        if len(questions) and not (question := questions.get()).done:
            view.ask(question)
    return turn.result(session.options.control_timeout)


def _show_some(messages: Mailbox[Message], turn: Turn, view: View) -> bool:
    """Show what waits, up to a bound; True if the turn's result was among it."""
    for _ in range(_MESSAGES_AT_A_TIME):
        if not len(messages):
            break
        message = messages.get()
        view.message(message)
        if turn.is_answered_by(message):
            return True
    return False
