"""Prompts and the turn that runs: plain state, shared by the parts of the agent loop."""

from __future__ import annotations

import time

from claude_actors.testing.fake_cli.channel import new_uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Interrupted(Exception):
    """The running turn was interrupted."""


class TurnEnded(Exception):
    """The turn ends here, with this kind of result."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Prompt:
    """One user message that waits for its turn."""

    def __init__(self, content: Any, uuid: str | None, *, verbatim: bool = False) -> None:
        self.content, self.uuid = content, uuid
        self.text = text_of(content)
        self.verbatim = verbatim


class Agent:
    """The subagent on whose behalf tools run."""

    def __init__(self, agent_id: str, kind: str, description: str, *, background: bool) -> None:
        self.id, self.kind, self.description, self.background = agent_id, kind, description, background

    def mark(self) -> dict[str, Any]:
        """Give what the subagent's frames carry."""
        return {"agent_id": self.id, "subagent_type": self.kind, "task_description": self.description}


class Turn:
    """What is known of a turn, or of a subagent's part of one (then it has a `parent`)."""

    def __init__(self, prompts: list[Prompt], *, parent: str | None = None, agent: Agent | None = None) -> None:
        self.prompts = prompts
        # Prompts that were taken into the turn while it ran. They are completed before its result, not after.
        self.absorbed: list[Prompt] = []
        self.prompt_text = "\n".join(prompt.text for prompt in prompts)
        self.command = self.prompt_text if not any(prompt.verbatim for prompt in prompts) else ""
        self.prompt_id = new_uuid()
        self.parent, self.agent = parent, agent
        self.interrupted = False
        self.in_tools = False
        self.user_frames = 0
        self.rounds = 0
        self.input_tokens = self.output_tokens = 0
        self.denials: list[dict[str, Any]] = []
        self.started = time.monotonic()
        self.structured: Any = None
        self.origin: dict[str, Any] | None = None
        self._marked: set[str] = set()

    def uuids(self) -> dict[str, Any]:
        """Give the ids of the prompts of this turn, if they came with any."""
        found = [prompt.uuid for prompt in self.prompts + self.absorbed if prompt.uuid is not None]
        return {"user_message_uuids": found} if found else {}

    def marks(self) -> dict[str, Any]:
        """Give the ids of the prompts, with the one that stands for all: the last of those that began the turn."""
        found = self.uuids()
        return {"user_message_uuid": self.prompts[-1].uuid, **found} if found and self.prompts else found

    def first_mark(self, kind: str) -> dict[str, Any]:
        """Give the prompts' ids for the first frame of a kind, and nothing for later ones."""
        if kind in self._marked:
            return {}
        self._marked.add(kind)
        return self.marks()


def text_of(content: Any) -> str:
    """Give the text in a message's content."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    found = [text_of(block.get("text", block.get("content"))) for block in blocks if isinstance(block, dict)]
    return "\n".join(text for text in found if text)
