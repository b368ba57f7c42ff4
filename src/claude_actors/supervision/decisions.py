"""What follows when a child ends: pure functions, one branch a case, the meaning is OTP's.

No child, thread or clock is known here: kinds of restart, strategies and orders of ids go in, verdicts come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, assert_never

from claude_actors.supervision.specs import Restart, Strategy

AfterEnd: TypeAlias = Literal["restart", "keep", "forget"]


def after_end(restart: Restart, *, failed: bool) -> AfterEnd:
    """Say what follows when a child ends unasked: start it again, keep its spec for later, or forget it."""
    match restart:
        case "permanent":
            return "restart"
        case "transient":
            return "restart" if failed else "keep"
        case "temporary":
            return "forget"
        case _:
            assert_never(restart)


def after_stop(restart: Restart) -> Literal["keep", "forget"]:
    """Say what follows when a child was stopped on request: a temporary one leaves no spec behind."""
    return "forget" if restart == "temporary" else "keep"


def affected(strategy: Strategy, ids: Sequence[str], failed: str) -> tuple[str, ...]:
    """Say which children are started anew when `failed` is, in the order of their start; it is one of them."""
    match strategy:
        case "one_for_one":
            return (failed,)
        case "one_for_all":
            return tuple(ids)
        case "rest_for_one":
            return tuple(ids[ids.index(failed) :])
        case _:
            assert_never(strategy)


def in_group_restart(restart: Restart) -> AfterEnd:
    """Say what a restart of the group means for a child that did not fail itself.

    A temporary child is stopped with the others and not started again. One that was stopped before is started too.
    """
    return "forget" if restart == "temporary" else "restart"
