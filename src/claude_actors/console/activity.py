"""What a task was last seen doing, in a few words, from the messages of its job."""

from __future__ import annotations

from claude_actors import (
    ApiRetryMessage,
    AssistantMessage,
    ClaudeActorsError,
    Message,
    TaskStartedMessage,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
)
from claude_actors.console.clean import one_line
from claude_actors.console.describing import describe_call
from claude_actors.fleet import Job


class Activities:
    """Remembers the last activity of each job; takes the jobs' messages, so nobody else should."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def look(self, job: Job) -> str:
        """Take in what the job has said since the last look and return its last activity. Never blocks."""
        messages = job.messages()
        try:
            for _ in range(len(messages)):
                words = describe_activity(messages.get(timeout=0))
                if words:
                    self._last[job.id] = words
        except ClaudeActorsError:
            pass  # It is empty, or at its end.
        return self._last.get(job.id, "")


def describe_activity(message: Message) -> str:
    """Describe what the model does with this message; empty if that is nothing to tell."""
    match message:
        case ApiRetryMessage():
            return f"the API refused; trying again ({message.attempt} of {message.max_retries})"
        case TaskStartedMessage():
            return one_line(f"task: {message.description}")
        case AssistantMessage():
            return next(filter(None, map(_describe_block, reversed(message.content))), "")
        case _:
            return ""


def _describe_block(block: object) -> str:
    match block:
        case ToolUseBlock():
            return describe_call(block.name, block.input)
        case TextBlock():
            return one_line(block.text)
        case ThinkingBlock():
            return "thinking"
        case _:
            return ""
