"""The ways in which an option can reach the CLI, each of which can act (`apply`) and say what it does (`becomes`).

The table in `claude_actors.cli.rows` is written in these words, so that argv and its documentation cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from claude_actors.cli.draft import Draft
from claude_actors.options import option_default

Encode: TypeAlias = Callable[[Any], Any]


class Route(Protocol):
    """One way from an option's value to the CLI."""

    @property
    def becomes(self) -> str: ...

    def apply(self, value: Any, draft: Draft) -> None: ...


@dataclass(frozen=True, slots=True)
class Flag:
    """`--flag=value`."""

    flag: str

    @property
    def becomes(self) -> str:
        return f"`{self.flag}=…`"

    def apply(self, value: Any, draft: Draft) -> None:
        draft.value(self.flag, value)


@dataclass(frozen=True, slots=True)
class Switch:
    """`--flag`, when the option differs from its default."""

    flag: str

    @property
    def becomes(self) -> str:
        return f"`{self.flag}`"

    def apply(self, value: Any, draft: Draft) -> None:
        draft.switch(self.flag)


@dataclass(frozen=True, slots=True)
class Joined:
    """`--flag=a,b,c`."""

    flag: str

    @property
    def becomes(self) -> str:
        return f"`{self.flag}=a,b`"

    def apply(self, value: Any, draft: Draft) -> None:
        draft.value(self.flag, ",".join(value))


@dataclass(frozen=True, slots=True)
class Repeated:
    """`--flag=a --flag=b`."""

    flag: str

    @property
    def becomes(self) -> str:
        return f"`{self.flag}=…`, once for each"

    def apply(self, value: Any, draft: Draft) -> None:
        for item in value:
            draft.value(self.flag, item)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in the child's environment; `text` replaces the value where the value is only a switch."""

    name: str
    text: str | None = None

    @property
    def becomes(self) -> str:
        return f"environment `{self.name}={self.text or '…'}`"

    def apply(self, value: Any, draft: Draft) -> None:
        draft.env[self.name] = self.text or str(value)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the initialize request, so that it is neither on argv nor bounded by it."""

    name: str
    encode: Encode = lambda value: value

    @property
    def becomes(self) -> str:
        return f"initialize `{self.name}`"

    def apply(self, value: Any, draft: Draft) -> None:
        draft.initialize[self.name] = self.encode(value)


@dataclass(frozen=True, slots=True)
class Custom:
    """A translation of its own; `becomes` tells it in words."""

    becomes: str
    translate: Callable[[Any, Draft], None]

    def apply(self, value: Any, draft: Draft) -> None:
        self.translate(value, draft)


@dataclass(frozen=True, slots=True)
class Ours:
    """An option that this library itself acts upon; nothing of it reaches the CLI."""

    becomes: str = "—"

    def apply(self, value: Any, draft: Draft) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing: this form cannot honour the option."""

    becomes: str = "not honoured"

    def apply(self, value: Any, draft: Draft) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Row:
    """One option: what it becomes in a session, in a one-shot query (the same, unless said), and what it is for.

    A row acts only when its option differs from the default, unless `always` is set.
    """

    name: str
    session: Route
    doc: str
    query: Route | None = None
    always: bool = False

    @property
    def in_query(self) -> Route:
        return self.query or self.session

    def apply(self, draft: Draft) -> None:
        """Put this option into the draft."""
        value = getattr(draft.options, self.name)
        if self.always or self.differs(value):
            draft.current_option = self.name
            (self.in_query if draft.one_shot else self.session).apply(value, draft)

    def differs(self, value: object) -> bool:
        """Tell whether `value` is other than the option's default."""
        return bool(value != option_default(self.name))
