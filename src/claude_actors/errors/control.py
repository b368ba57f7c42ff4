"""What keeps an operation from being carried out. Most leave the session running."""

from __future__ import annotations

from claude_actors.errors.base import ClaudeActorsError


class ControlError(ClaudeActorsError):
    """An operation was not carried out, or not confirmed.

    The session goes on, unless this is a `SessionEnded`, or a `WriteFailed` for a CLI that does not read.
    """


class RequestFailed(ControlError):
    """The CLI refused the request; `reason` is its own word for it. The session goes on; ask for something else."""

    def __init__(self, *, subtype: str, reason: str, code: str | None = None) -> None:
        self.subtype, self.reason, self.code = subtype, reason, code
        super().__init__(f"{subtype} was refused by the CLI: {reason}" + (f" [{code}]" if code else ""))


class RequestTimeout(ControlError, TimeoutError):
    """The CLI did not answer in time, and may still act on it. The session goes on; try again, or raise the timeout."""

    def __init__(self, *, subtype: str, after: float) -> None:
        self.subtype, self.after = subtype, after
        super().__init__(f"{subtype} was not answered within {after:g} s; the session is still usable: try again")


class TooManyPendingRequests(ControlError):
    """The limit of unanswered requests is reached; wait for some of them and try again."""

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        super().__init__(f"{limit} requests are pending already; wait for answers, then try again")


class InitQueueOverflow(ControlError):
    """Too much was sent before the session was running; wait for the start (`session.wait_running()`) first."""

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        super().__init__(f"{limit} operations are queued already while the session starts; wait until it runs")


class CheckpointingNotEnabled(ControlError):
    """`rewind_files` needs `Options(enable_file_checkpointing=True)`. Nothing was sent."""

    def __init__(self) -> None:
        super().__init__("file checkpointing is off: start the session with Options(enable_file_checkpointing=True)")


class WriteFailed(ControlError):
    """What was sent was not written.

    It is larger than `Options.write_limit_bytes`: the session goes on, send less. Or the CLI does not read its input,
    or has closed it: the session fails with this.
    """
