"""What the machine of a session must know of the session's options."""

from __future__ import annotations

import os

from claude_actors.options import Options
from claude_actors.protocol.callbacks import CallbackRules
from claude_actors.protocol.machine import MachineConfig


def machine_config(options: Options, rules: CallbackRules, resume: str | None) -> MachineConfig:
    """Configure the machine of one process, which continues the conversation `resume` or what the options say."""
    return MachineConfig(
        salt=os.urandom(4).hex(),
        rules=rules,
        max_queued_operations=options.max_queued_operations,
        max_pending_requests=options.max_pending_requests,
        max_pending_callbacks=options.max_pending_callbacks,
        max_line_bytes=options.max_buffer_size,
        stderr_events=options.stderr_events,
        stall_after=options.stall_after,
        resumed_session_id=resume or (None if options.fork_session else options.resume),
    )
