"""`Task`: what a fleet is asked to do, as one immutable value.

Knows its own soundness and nothing of fleets. A task whose `options` are a mapping, or None, can be written to a
journal; one with ready-made `Options` cannot, because those hold callbacks and secrets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from claude_actors.errors import InvalidOptions
from claude_actors.fleet.spending import Budget
from claude_actors.options import Options
from claude_actors.wire.encode import encode_user

KeptMessages: TypeAlias = Literal["recent", "all", "none"]
Prompt: TypeAlias = str | Sequence[Any]


@dataclass(frozen=True, slots=True, repr=False)
class Task:
    """One prompt to be brought to its result, and what it may cost.

    `options`: None takes the fleet's, a mapping changes some of them (`{"cwd": …, "model": …}`), `Options` replaces
    them all. `id`: unique in the fleet; one is made when it is None. `priority`: higher first. `timeout`: seconds of
    work over all attempts; waiting does not count. `retries`: how often a crash or an overload is tried again (None: as
    the fleet's policy says); a retry resumes the conversation if there is one, unless `resume` is False, and sends
    `continue_prompt`, or else the prompt again. `conversation`: tasks with the same key form one conversation, one
    after another. `max_turns`, `max_tokens` and `max_budget_usd` hold over all attempts. `messages`: how much of the
    stream is kept for `job.messages()`. `data` is yours: plain JSON that comes back with the job, also from a journal.
    Raises InvalidOptions or EncodingFailed.
    """

    prompt: Prompt
    options: Options | Mapping[str, Any] | None = None
    id: str | None = field(default=None, kw_only=True)
    priority: int = field(default=0, kw_only=True)
    timeout: float | None = field(default=None, kw_only=True)
    retries: int | None = field(default=None, kw_only=True)
    resume: bool = field(default=True, kw_only=True)
    continue_prompt: Prompt | None = field(default=None, kw_only=True)
    conversation: str | None = field(default=None, kw_only=True)
    max_turns: int | None = field(default=None, kw_only=True)
    max_tokens: int | None = field(default=None, kw_only=True)
    max_budget_usd: float | None = field(default=None, kw_only=True)
    messages: KeptMessages | None = field(default=None, kw_only=True)
    data: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.options, Mapping):
            object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        _check(self)

    @property
    def budget(self) -> Budget:
        """The three budgets as one."""
        return Budget(self.max_turns, self.max_tokens, self.max_budget_usd)

    def options_for(self, defaults: Options) -> Options:
        """Return the options that it runs with, given the fleet's; raises InvalidOptions."""
        if isinstance(self.options, Options):
            return self.options
        if not self.options:
            return defaults
        try:
            return defaults.replace(**self.options)
        except TypeError as error:
            raise InvalidOptions(f"Task(options=…) of {self.id!r}: {error}") from None

    def __repr__(self) -> str:
        return f"<Task {self.id}>"  # never the prompt: reprs end up in logs


def _check(task: Task) -> None:
    encode_user(task.prompt, "")
    if task.continue_prompt is not None:
        encode_user(task.continue_prompt, "")
    if task.id is not None and (not isinstance(task.id, str) or not task.id):
        raise InvalidOptions("Task: id must be a string that is not empty")
    for name in ("timeout", "max_turns", "max_tokens", "max_budget_usd"):
        value = getattr(task, name)
        if value is not None and not value > 0:
            raise InvalidOptions(f"Task: {name} must be positive, or None for no limit")
    if task.retries is not None and task.retries < 0:
        raise InvalidOptions("Task: retries must not be negative")
    if task.messages not in (None, "recent", "all", "none"):
        raise InvalidOptions("Task: messages is 'recent', 'all', 'none', or None for the fleet's choice")
