"""What bounds a mailbox, and what it says about itself: limits, overflow reports, counts.

Plain values without behaviour; nothing here knows how a mailbox works.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Overflow: TypeAlias = Literal["spill", "drop_oldest", "fail"]
OverflowKind: TypeAlias = Literal["spilling", "drained", "spill_failed", "dropping", "refusing"]

MIB = 1024 * 1024


class MailboxLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Say how much a mailbox holds in memory, by count and by bytes, whichever comes first.

    One item larger than `max_bytes` is still taken in when memory is empty. `max_spill_bytes` bounds what may wait on
    disk (None: until the disk is full), `spill_directory` says where (None: TMPDIR, /var/tmp or what `tempfile` finds).
    Nobody waits for the disk: what it has not taken yet may fill 64 MiB of memory besides; when a disk that hangs or is
    slower than what comes lets it pass that, the spill has failed.
    """

    max_items: int = 10_000
    max_bytes: int = 64 * MIB
    max_spill_bytes: int | None = None
    spill_directory: str | None = None

    def __post_init__(self) -> None:
        if self.max_items < 1 or self.max_bytes < 1:
            raise ValueError("a mailbox must hold at least one item and one byte")


class OverflowReport(msgspec.Struct, frozen=True, kw_only=True):
    """Tell the owner what a full mailbox does now.

    `spilling` and `drained` come in turn; `dropping` at the first loss and each time that the count has doubled;
    `refusing` and `spill_failed` once, with `error`: nothing put from then on is kept, so the owner should fail loudly.
    """

    mailbox: str
    kind: OverflowKind
    policy: Overflow
    waiting: int
    dropped: int
    refused: int
    error: BaseException | None = None


class MailboxCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Count what passed through a mailbox: `put == waiting + taken + dropped`; `refused` was never put."""

    waiting: int
    memory_bytes: int
    spilled_items: int
    spilled_bytes: int
    put: int
    taken: int
    dropped: int
    refused: int
    closed: bool
