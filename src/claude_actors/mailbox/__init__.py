"""Bounded mailboxes: how messages wait for whoever takes them."""

from __future__ import annotations

from claude_actors.mailbox.limits import MailboxCounts, MailboxLimits, Overflow, OverflowReport
from claude_actors.mailbox.mailbox import Mailbox

__all__ = ["Mailbox", "MailboxCounts", "MailboxLimits", "Overflow", "OverflowReport"]
