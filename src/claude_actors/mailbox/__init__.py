"""Bounded mailboxes: how messages wait for whoever takes them."""

from __future__ import annotations

from claude_actors.mailbox.limits import MailboxCounts, MailboxLimits, Overflow, OverflowReport
from claude_actors.mailbox.mailbox import Mailbox
from claude_actors.mailbox.select import aselect, select
from claude_actors.mailbox.sinks import ActorSink, Delivered, DeliveryEnded, DeliverySkipped, Sink

__all__ = [
    "ActorSink",
    "Delivered",
    "DeliveryEnded",
    "DeliverySkipped",
    "Mailbox",
    "MailboxCounts",
    "MailboxLimits",
    "Overflow",
    "OverflowReport",
    "Sink",
    "aselect",
    "select",
]
