"""Whether a function can be called as callbacks are, with two arguments: asked when it is given, not when it matters.

A hook with another signature would fail at every call, and failing open looks like working.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any


def signature_complaint(function: Callable[..., Any], first: str) -> str | None:
    """Return why `function` cannot be called as `function(first, ctx)`, or None if it can or cannot be looked into."""
    if _is_plain(function):
        return None
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(None, None)
    except TypeError:
        return f"is called with ({first}, ctx), but takes ({', '.join(signature.parameters)})"
    return None


def _is_plain(function: Callable[..., Any]) -> bool:
    """Tell at a glance that it takes two arguments, as most do: looking into a signature takes longer than all else."""
    if type(function) is not FunctionType or hasattr(function, "__wrapped__") or hasattr(function, "__signature__"):
        return False
    code = function.__code__
    return code.co_argcount == 2 and not code.co_kwonlyargcount
