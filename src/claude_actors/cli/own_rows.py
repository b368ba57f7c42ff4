"""The rows of the options that this library itself acts upon: nothing of them reaches the CLI.

They stand in the same table as the others, so that the documentation is whole.
"""

from __future__ import annotations

from typing import Final

from claude_actors.cli.routes import Ours, Refused, Route, Row

_HERE: Final[Route] = Ours()
_REFUSED: Final[Route] = Refused()

OWN_ROWS: Final[tuple[Row, ...]] = (
    Row("port_factory", _HERE, "What carries the session instead of a local process."),
    Row("skip_version_check", _HERE, "Start without asking the CLI for its version."),
    Row("stderr", _HERE, "Called with each line of the CLI's stderr."),
    Row("stderr_lines", _HERE, "How many last lines of stderr are kept for errors."),
    Row("stderr_events", _HERE, "Deliver stderr lines on `events()` too.", query=_REFUSED),
    Row("stall_after", _HERE, "Seconds of silence in an open turn after which an event says so.", query=_REFUSED),
    # Mailboxes.
    Row("messages_overflow", _HERE, "What a full `messages()` does: spill, drop_oldest or fail."),
    Row("events_overflow", _HERE, "What a full `events()` does: drop_oldest or fail."),
    Row("mailbox_max_items", _HERE, "Items that a mailbox holds in memory."),
    Row("mailbox_max_bytes", _HERE, "Bytes that a mailbox holds in memory."),
    Row("mailbox_max_spill_bytes", _HERE, "Bytes that a mailbox may spill; None is no bound."),
    Row("spill_directory", _HERE, "Where mailboxes spill to; the temporary directory if unset."),
    # Timeouts.
    Row(
        "initialize_timeout", _HERE, "Seconds for the handshake; `CLAUDE_CODE_STREAM_CLOSE_TIMEOUT` (ms) overrules it."
    ),
    Row("control_timeout", _HERE, "Seconds for interrupt, set_model and the other control requests."),
    Row("rewind_timeout", _HERE, "Seconds for rewind_files."),
    Row("permission_timeout", _HERE, "Seconds that `can_use_tool` has before the tool is denied; None waits for ever."),
    Row("mcp_timeout", _HERE, "Seconds that a server of this process has for one message."),
    Row("elicitation_timeout", _HERE, "Seconds that `on_elicitation` and `on_user_dialog` have."),
    Row("callback_grace", _HERE, "Seconds by which a hook's timeout on the wire is above ours."),
    Row("eof_grace", _HERE, "Seconds that the CLI has to end after its input is closed."),
    Row("term_grace", _HERE, "Seconds that it then has after SIGTERM."),
    Row("kill_grace", _HERE, "Seconds to wait for it after SIGKILL."),
    Row("write_timeout", _HERE, "Seconds that the CLI may leave its input unread."),
    # Limits.
    Row("max_queued_operations", _HERE, "Operations that wait for the handshake; beyond it `InitQueueOverflow`."),
    Row("max_pending_requests", _HERE, "Unanswered requests; beyond it `TooManyPendingRequests`."),
    Row("max_pending_callbacks", _HERE, "Callbacks at once; beyond it the fallback answer."),
    Row("max_abandoned_callbacks", _HERE, "Callbacks that hang past their deadline; beyond it the fallback answer."),
    Row("max_buffer_size", _HERE, "Bytes of the longest line; a longer one is discarded, an event says so."),
    Row("buffer_warning_size", _HERE, "Bytes of an unfinished line at which an event warns."),
    Row("write_limit_bytes", _HERE, "Bytes that may wait to be written to the CLI; beyond it `WriteFailed`."),
)
