"""What consumers and owners of mailboxes meet."""

from __future__ import annotations

from collections.abc import Mapping

from claude_actors.errors.base import ClaudeActorsError


class MailboxClosed(ClaudeActorsError):
    """The mailbox has given its last item; `error` is what ended its source, if that was a failure. Stop reading."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        super().__init__("the mailbox is closed" + (f": {error}" if error is not None else ""))


class MailboxTimeout(ClaudeActorsError, TimeoutError):
    """Nothing arrived in time. The mailbox is still usable; get again."""

    def __init__(self, *, after: float) -> None:
        self.after = after
        super().__init__(f"nothing arrived within {after:g} s")


class MailboxOverflow(ClaudeActorsError):
    """A mailbox with `overflow="fail"` was full; its session has failed. Read faster, or choose another policy."""

    def __init__(self, *, mailbox: str, limits: Mapping[str, int]) -> None:
        self.mailbox, self.limits = mailbox, dict(limits)
        super().__init__(f"mailbox {mailbox!r} overflowed its limits {self.limits}; read faster, or have it spill")


class SpillFailed(ClaudeActorsError):
    """A mailbox's overflow could not be written to or read from disk. What it held before is still delivered."""

    def __init__(self, *, reason: str) -> None:
        self.reason = reason
        super().__init__(f"a mailbox could not use its spill file: {reason}; read faster, or make room on the disk")
