"""The ways in which an option can reach the CLI, each of which can act (`apply`) and say what it does (`becomes`).

The table in `claude_actors.cli.rows` is written in these words, so that argv and its documentation cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from claude_actors.cli.draft import Draft
from claude_actors.options import option_default

Encode: TypeAlias = Callable[[Any], Any]


class Route(Protocol):
    """One way from an option's value to the CLI."""

    @property
    def becomes(self) -> str: ...

    def apply(self, value: Any, draft: Draft) -> None: ...


class Flag(Struct, frozen=True):
    """`--flag=value`."""

    flag: str

    @property
    def becomes(self) -> str:
        return f"`{self.flag}=…`"

    def apply(self, value: Any, draft: Draft) -> None:
        draft.value(self.flag, value)


class Switch(Struct, frozen=True):
    """`--flag`, when the option differs from its default."""

    flag: str

    @property
    def becomes(self) -> str:
        return f"`{self.flag}`"

    def apply(self, value: Any, draft: Draft) -> None:
        draft.switch(self.flag)


class Joined(Struct, frozen=True):
    """`--flag=a,b,c`."""

    flag: str

    @property
    def becomes(self) -> str:
        return f"`{self.flag}=a,b`"

    def apply(self, value: Any, draft: Draft) -> None:
        draft.value(self.flag, ",".join(value))


class Repeated(Struct, frozen=True):
    """`--flag=a --flag=b`."""

    flag: str

    @property
    def becomes(self) -> str:
        return f"`{self.flag}=…`, once for each"

    def apply(self, value: Any, draft: Draft) -> None:
        for item in value:
            draft.value(self.flag, item)


class Variable(Struct, frozen=True):
    """A variable in the child's environment; `text` replaces the value where the value is only a switch."""

    name: str
    text: str | None = None

    @property
    def becomes(self) -> str:
        return f"environment `{self.name}={self.text or '…'}`"

    def apply(self, value: Any, draft: Draft) -> None:
        draft.env[self.name] = self.text or str(value)


class Field(Struct, frozen=True):
    """A field of the initialize request, so that it is neither on argv nor bounded by it."""

    name: str
    encode: Encode = lambda value: value

    @property
    def becomes(self) -> str:
        return f"initialize `{self.name}`"

    def apply(self, value: Any, draft: Draft) -> None:
        draft.initialize[self.name] = self.encode(value)


class Custom(Struct, frozen=True):
    """A translation of its own; `becomes` tells it in words."""

    becomes: str
    translate: Callable[[Any, Draft], None]

    def apply(self, value: Any, draft: Draft) -> None:
        self.translate(value, draft)


class Ours(Struct, frozen=True):
    """An option that this library itself acts upon; nothing of it reaches the CLI."""

    becomes: str = "—"

    def apply(self, value: Any, draft: Draft) -> None:
        pass


class Refused(Struct, frozen=True):
    """Nothing: this form cannot honour the option."""

    becomes: str = "not honoured"

    def apply(self, value: Any, draft: Draft) -> None:
        pass


class Row(Struct, frozen=True):
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
        default = option_default(self.name)
        return value is not default and bool(value != default)
